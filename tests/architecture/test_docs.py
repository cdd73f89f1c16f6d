"""The documents say what the program does: names, numbers, links and commands are compared with it."""

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
import pytest

from learners.change import ChangeKind
from learners.codes import FIELD_FLAGS
from learners.learner import FLAG_MISSING, FLAG_NO_ANSWER, FLAG_UNSEEN
from stream.cli.main import espalier
from stream.config import parse
from stream.observe.metrics.catalog import METRICS
from stream.records.dead_letter import STUB_LIMIT, Rejected, dead_letter
from stream.records.fields import OUT_OF_RANGE
from stream.records.json_decoder import MAX_NUMBER
from stream.records.published import Prediction, TreeChange
from stream.records.record import Partition, Record
from tests.architecture.documents import blocks, in_code, table
from tests.architecture.program import PROGRAM, command_at, options_of
from tests.architecture.reasons import reasons_in_code
from tests.paths import REPOSITORY

DOCUMENTS = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
RECORDS = (REPOSITORY / "docs" / "records.md").read_text()


# ---- dead letters


def test_every_reason_of_a_dead_letter_is_documented_and_no_other() -> None:
    told = [name for row in table(RECORDS, "reason", "when") for name in in_code(row[0])]
    assert len(told) == len(set(told))
    assert set(told) == reasons_in_code()
    assert len(told) > 20


def test_every_header_of_a_dead_letter_is_documented_and_no_other() -> None:
    documented = set()
    for part in re.findall(r"\| header \| meaning \|\n.*?(?=\n\n)", RECORDS, re.DOTALL):
        for row in table(part, "header", "meaning"):
            first, *others = in_code(row[0])
            prefix = first.rpartition(".")[0]
            documented |= {first, *(prefix + other for other in others)}
    letters = [
        dead_letter(Rejected(Record(Partition("t", 0), 0, b"x" * size), "r", "decode", "m"), "letters", "a")
        for size in (1, STUB_LIMIT + 1)
    ]
    assert documented == {name for letter in letters for name, _ in letter.headers}
    assert f"{STUB_LIMIT:,} bytes" in RECORDS
    assert f"{MAX_NUMBER:,} characters" in RECORDS


# ---- predictions, tree changes, metrics


def test_every_kind_of_change_is_documented_and_no_other() -> None:
    sentence = re.search(r"Kinds: ([^.]+)\.", RECORDS)
    assert sentence
    assert in_code(sentence[1]) == [kind.value for kind in ChangeKind]


def test_every_flag_is_documented() -> None:
    sentence = re.search(r"`flags`: (.+?)\. `prediction` and", RECORDS, re.DOTALL)
    assert sentence
    answers = {FLAG_MISSING, FLAG_NO_ANSWER, FLAG_UNSEEN}
    of_fields = {*FIELD_FLAGS, OUT_OF_RANGE}
    assert set(in_code(sentence[1])) - {"answered_by", "leaf-bayes"} == answers | of_fields


@pytest.mark.parametrize("struct", [Prediction, TreeChange], ids=lambda s: s.__name__)
def test_the_example_of_a_record_has_all_of_its_fields(struct: type[msgspec.Struct]) -> None:
    names = {field.encode_name for field in msgspec.structs.fields(struct)}
    examples = [text for text in blocks(RECORDS, "json") if set(json.loads(text)) == names]
    assert len(examples) == 1
    told = msgspec.json.decode(examples[0], type=struct, strict=True)
    # Nothing in the example is unknown to the program, however deep.
    assert shape(json.loads(msgspec.json.encode(told))) == shape(json.loads(examples[0]))


def shape(value: object) -> object:
    if isinstance(value, dict):
        return {name: shape(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [shape(part) for part in value]
    return None


def test_every_metric_is_documented_with_its_type_and_labels() -> None:
    text = (REPOSITORY / "docs" / "metrics.md").read_text()
    documented = {
        in_code(name)[0]: (kind, sorted(in_code(labels)))
        for name, kind, labels, _ in table(text, "metric", "type", "labels", "what it says")
    }
    assert documented == {metric.shown: (metric.kind, sorted(metric.labels)) for metric in METRICS}


# ---- dependencies


def test_every_dependency_has_a_line_that_says_why() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    text = (REPOSITORY / "docs" / "dependencies.md").read_text()

    def names(requirements: list[str]) -> set[str]:
        return {re.split(r"[^\w-]", requirement)[0] for requirement in requirements}

    optional = project["project"]["optional-dependencies"]
    wanted = names(project["project"]["dependencies"])
    wanted |= {f"{name} (extra `{extra}`)" for extra, some in optional.items() for name in names(some)}
    told = {row[0]: row[1] for row in table(text, "package", "why")}
    assert set(told) == wanted
    assert all(len(why) > 10 for why in told.values())
    _, _, development = text.partition("For development only:")
    for name in names(project["dependency-groups"]["dev"]):
        assert re.search(rf"\b{name}\b", development), name


# ---- links, paths and commands


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_relative_link_leads_somewhere(document: Path) -> None:
    text = re.sub(r"^```.*?^```", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, heading = target.partition("#")
        path = (document.parent / name).resolve() if name else document
        # An empty directory is not in a clone.
        there = any(path.iterdir()) if path.is_dir() else path.is_file()
        assert there, f"{document.name} links to {target}"
        if heading:
            assert heading in headings(path), f"{document.name} links to {target}"


def headings(path: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def commands_in_blocks(text: str) -> Iterator[str]:
    """Yield every command line in blocks of shell: whole, to be copied."""
    for block in blocks(text, "sh"):
        block = re.sub(r"<<'(\w+)'.*?^\1$", "", block, flags=re.MULTILINE | re.DOTALL)
        for line in block.splitlines():
            yield from _commands(line)


def commands_in_sentences(text: str) -> Iterator[str]:
    """Yield every command in a sentence, which may leave arguments out."""
    for code in in_code(re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)):
        yield from _commands(code)


def _commands(line: str) -> Iterator[str]:
    for part in re.split(r"[|;&>]|\s#\s", line):
        if re.match(r"(\w+=\S+ )*espalier \S", part.strip()):
            yield re.sub(r"^(\w+=\S+ )*", "", part.strip())


def check_command(line: str, *, whole: bool = True) -> None:
    """Fail unless there is such a command with such options, and with its arguments if it is whole."""
    words = [word for word in shlex.split(line)[1:] if word != "..."]
    path: list[str] = []
    command: click.Command = PROGRAM
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        path.append(words.pop(0))
        found = command_at(" ".join(path))
        assert found is not None, f"{line}: there is no espalier {' '.join(path)}"
        command = found
    known = options_of(command) | {"-h", "--help"}
    for word in words:
        if word.startswith("-"):
            assert word.partition("=")[0] in known, f"{line}: espalier {' '.join(path)} has no {word}"
    if isinstance(command, click.Group):
        return
    try:
        command.make_context("espalier", words)
    except click.exceptions.Exit as ended:
        # An option such as --help or --list has done its work.
        assert ended.exit_code == 0, line
    except (click.MissingParameter, click.BadOptionUsage) as error:
        assert not whole, f"{line}: {error.format_message()}"
    except click.BadParameter as error:
        # A file that the reader of the document has, and this checkout has not.
        is_file = isinstance(error.param, click.Parameter) and isinstance(error.param.type, click.Path)
        assert is_file and "does not exist" in error.message, f"{line}: {error.format_message()}"
    except click.UsageError as error:
        pytest.fail(f"{line}: {error.format_message()}")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_that_is_shown_exists_with_its_options(document: Path) -> None:
    text = document.read_text()
    for line in commands_in_blocks(text):
        check_command(line)
    for line in commands_in_sentences(text):
        check_command(line, whole=False)


def test_the_commands_of_the_readme_are_found() -> None:
    text = (REPOSITORY / "README.md").read_text()
    told = list(commands_in_blocks(text))
    assert "espalier broker start --port 9092" in told
    assert "espalier worker" in told
    assert "espalier tree loans --format dot" in told
    assert "espalier config check" in commands_in_sentences(text)


def test_the_examples_in_the_help_of_every_command_are_right() -> None:
    seen = set()
    stack: list[tuple[str, click.Command]] = [("espalier", espalier)]
    while stack:
        path, command = stack.pop()
        for line in f"{command.help}\n{command.epilog}".splitlines():
            # Behind many blanks stands what a command is for.
            for part in _commands(re.split(r" {3,}", line.strip())[0]):
                check_command(part)
                seen.add(path)
        if isinstance(command, click.Group):
            stack.extend((f"{path} {name}", part) for name, part in command.commands.items())
    assert {"espalier", "espalier worker", "espalier topics create", "espalier broker start"} <= seen


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_configuration_that_is_shown_is_one(document: Path) -> None:
    text = document.read_text()
    shown = blocks(text, "toml")
    shown += re.findall(r"<<'TOML'\n(.*?)^TOML$", text, re.MULTILINE | re.DOTALL)
    for number, block in enumerate(shown):
        whole = block if "[[agent]]" in block else f'[[agent]]\nname = "a"\ninput = "b"\n{block}'
        parse(whole, f"{document.name}:{number}")


def test_the_variables_and_targets_of_the_readme_exist() -> None:
    text = (REPOSITORY / "README.md").read_text()
    reference = (REPOSITORY / "docs" / "configuration.md").read_text()
    for name in set(re.findall(r"ESPALIER_\w+", text)):
        assert f"`{name}`" in reference, name
    makefile = (REPOSITORY / "Makefile").read_text()
    shown = [*in_code(text), *"\n".join(blocks(text, "sh")).splitlines()]
    targets = {found[1] for code in shown if (found := re.match(r"make (\w+)", code))}
    assert {"demo", "test"} <= targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_path_of_the_architecture_exists() -> None:
    text = (REPOSITORY / "docs" / "architecture.md").read_text()
    shown = [
        (REPOSITORY / name) for name in re.findall(r"`((?:stream|learners|tests|deploy)/[\w/.]*)`", text)
    ]
    for where, _ in table(text, "where", "what"):
        first, *others = in_code(where)
        shown += [REPOSITORY / Path(first).parts[0] / other for other in others]
    assert len(shown) > 15
    assert not [path for path in shown if not path.exists()]


def test_no_document_has_a_merge_left_in_it() -> None:
    marks = re.compile(r"^(<{7} |={7}$|>{7} )", re.MULTILINE)
    assert [d.name for d in (*DOCUMENTS, REPOSITORY / "CHANGELOG.md") if marks.search(d.read_text())] == []
