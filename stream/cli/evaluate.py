"""`espalier evaluate`: test-then-train over a file, without Kafka."""

# ruff: noqa: D301 - the backspace that keeps click from filling a paragraph must be one

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO, get_args, get_origin

import click
import msgspec

from learners.learner import Options, make_options
from learners.outline import to_json
from learners.registry import LEARNERS, make_learner, option_types
from stream.cli.evaluation_source import Reading
from stream.cli.evaluation_view import Remarks, progress, show
from stream.config.messages import alternatives, choice, did_you_mean, quoted, type_in_words
from stream.config.settings import DEFAULT_LEARNER
from stream.evaluation import Judged, evaluate_records
from stream.files.records import is_json_lines, shuffled
from stream.records.fields import Fields, Nested

_OPTION = re.compile(r".* - at `\$\.(\w+)", re.DOTALL)


def checked_learner(context: click.Context, parameter: click.Parameter, name: str) -> str:
    """Return the name of a learner that there is; for `click.option(callback=...)`."""
    if name not in LEARNERS:
        raise click.BadParameter(f"unknown learner {choice(name, sorted(LEARNERS))}")
    return name


@click.command()
@click.argument("path", metavar="FILE.csv|FILE.jsonl[.gz]", type=click.Path(path_type=Path))
@click.option(
    "--learner",
    default=DEFAULT_LEARNER,
    show_default=True,
    callback=checked_learner,
    help=f"One of {', '.join(LEARNERS)}.",
)
@click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the learner, as in [agent.options]; lists with commas. May be repeated.",
)
@click.option(
    "--label", metavar="COL", help='The column or field with the class. [default: the last; "class" in JSON]'
)
@click.option(
    "--id",
    "id_column",
    metavar="COL",
    help='The column or field that names a record; not an attribute. [default: "id" if there is one]',
)
@click.option(
    "--text",
    multiple=True,
    metavar="COL",
    help="A column of a CSV file that is text although its cells are numbers. May be repeated.",
)
@click.option(
    "--schema",
    metavar="SCHEMA.json",
    type=click.Path(path_type=Path),
    help="Declared columns, values and classes, as `espalier schema` writes them: the entry named like the "
    "file without .csv. [default: a column is numeric if all of its cells are]",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="FIELD",
    help="A column or field that is not learned from, as in [[agent]]; * stands for any characters. "
    "May be repeated.",
)
@click.option(
    "--attributes", metavar="A,B,...", help="The only columns or fields that are learned from. [default: all]"
)
@click.option(
    "--nested",
    type=click.Choice([one.value for one in Nested]),
    default=Nested.IGNORE.value,
    show_default=True,
    help="What becomes of a JSON field that holds an object or an array.",
)
@click.option("--shuffle", metavar="SEED", type=int, help="Put the records into another order first.")
@click.option(
    "--limit", metavar="N", type=click.IntRange(min=1), help="Only the first N records, after any shuffling."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.option(
    "--tree", "tree_file", metavar="OUT.json", type=click.Path(path_type=Path), help="Write the tree."
)
@click.option(
    "--trace",
    "trace_file",
    metavar="OUT.jsonl",
    type=click.Path(path_type=Path),
    help="Write a line for each record: n, prediction, label, and the digest of the tree after it.",
)
def evaluate(
    path: Path,
    learner: str,
    pairs: tuple[str, ...],
    label: str | None,
    id_column: str | None,
    text: tuple[str, ...],
    schema: Path | None,
    ignore: tuple[str, ...],
    attributes: str | None,
    nested: str,
    shuffle: int | None,
    limit: int | None,
    as_json: bool,
    tree_file: Path | None,
    trace_file: Path | None,
) -> None:
    """Predict each record of a file, then learn from it; print accuracy, tree and operation counts.

    A CSV file has a header row; an empty cell is a missing value. A column is read as numbers when every cell
    that is not empty is one: a line on standard error says which. A JSON Lines file (.jsonl, .ndjson) has a
    record on each line, as in a topic; "class" and "id" are the fields of the label and the id.

    Records are read exactly as an agent reads them from a topic, so that the result is the agent's. What
    would become a dead letter is left out and reported, by reason. --json prints records, correct, accuracy,
    nodes, leaves, depth, digest, operations, changes, retained, seconds (CPU time), and where there are any,
    unlabelled and dead_letters.

    Exit status: 0 done, 2 the command line is wrong, 65 the file is.

    \b
    Examples:
      espalier evaluate weather.csv
      espalier evaluate loans.csv --label approved --text postcode --set significance=0.01
      espalier evaluate vote.csv.gz --learner id4 --schema SCHEMA.json --shuffle 1 --json
      espalier evaluate applications.jsonl.gz --label approved --ignore user_id --nested flatten
      espalier evaluate loans.csv --set tie_order=income,history --set window=1000
      espalier evaluate loans.csv --tree tree.json --trace trace.jsonl
    """
    options = options_from(learner, pairs)
    only = tuple(name.strip() for name in (attributes or "").split(",") if name.strip())
    fields = Fields(ignore, only, Nested(nested))
    reading = Reading(path, label, id_column, text, schema, fields, limit if shuffle is None else None)
    source = reading.json_lines() if is_json_lines(path) else reading.csv(learner)
    records, total = source.records, source.total
    if shuffle is not None:
        records = shuffled(records, shuffle)[:limit]
        total = len(records)
    trainee = make_learner(learner, source.schema, options, source.limits)
    remarks = Remarks()
    with (
        _writing(trace_file, "--trace") as trace,
        _writing(tree_file, "--tree") as tree,
        progress(total, "predicting and learning") as advance,
    ):
        result = evaluate_records(
            records,
            trainee,
            source.decoder,
            each=_tracer(trace),
            refused=remarks.refused,
            noted=remarks.noted,
            retired=remarks.retired,
            advance=advance,
        )
        if tree is not None:
            tree.write(to_json(trainee.outline()) + "\n")
    remarks.report(result, source.unit)
    if as_json:
        click.echo(msgspec.json.encode(result))
    else:
        show(result, f"{learner} on {path.name}", trainee.outline())


# ---- settings


def options_from(learner: str, pairs: Sequence[str]) -> Options:
    """Return a learner's options from texts of the form KEY=VALUE.

    Raises:
        click.BadParameter: One is not of that form, is unknown, or has a wrong value; all are listed.
    """
    kinds = option_types(learner)
    settings: dict[str, object] = {}
    wrong: list[str] = []
    for pair in pairs:
        name, equals, text = (part.strip() for part in pair.partition("="))
        if not equals or not name:
            wrong.append(f"{quoted(pair)} is not of the form KEY=VALUE")
        elif name not in kinds:
            wrong.append(f"the learner {quoted(learner)} has no option {choice(name, kinds)}")
        elif get_origin(kinds[name]) is tuple:
            settings[name] = [one.strip() for one in text.split(",") if one.strip()]
        else:
            settings[name] = text
    while True:
        try:
            options = make_options(LEARNERS[learner].options_type, settings)
            break
        except msgspec.ValidationError as error:
            found = _OPTION.match(str(error))
            if found is None or found[1] not in settings:
                wrong.append(f"{str(error)[:1].lower()}{str(error)[1:]}")
                break
            # Without it there may be a next one to complain about.
            wrong.append(_wrong_value(found[1], kinds[found[1]], str(settings.pop(found[1]))))
    if wrong:
        raise click.BadParameter("\n  ".join(wrong), param_hint="--set")
    return options


def _wrong_value(name: str, kind: object, text: str) -> str:
    none = ' or "none"' if type(None) in get_args(kind) else ""
    hint = did_you_mean(text, alternatives(kind))
    return f'"{name}" must be {type_in_words(kind)}{none}, not {quoted(text)}.{hint}'.removesuffix(".")


# ---- files


@contextlib.contextmanager
def _writing(path: Path | None, option: str) -> Iterator[TextIO | None]:
    """Open a file before the work begins: a name that cannot be written is refused at once."""
    if path is None:
        yield None
        return
    try:
        file = path.open("w", encoding="utf-8")
    except OSError as error:
        raise click.BadParameter(
            f'"{path}" cannot be written: {error.strerror}. Name another', param_hint=option
        ) from error
    with file:
        yield file


def _tracer(file: TextIO | None) -> Callable[[Judged], object] | None:
    if file is None:
        return None
    encode = msgspec.json.Encoder().encode
    return lambda judged: file.write(encode(judged).decode() + "\n")
