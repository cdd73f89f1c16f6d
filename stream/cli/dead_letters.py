"""`espalier dead-letters`: why records were refused, and what to do about it."""

# ruff: noqa: D301 - the backspace that keeps click from filling a paragraph must be one

import textwrap
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from stream.cli.options import agent_of, config_option
from stream.cli.refusals import Meter, reason_option
from stream.config import Agent, load
from stream.kafka.topic_reader import TopicReader
from stream.printable import printable
from stream.records.dead_letters import OTHER
from stream.records.letter_summary import Example, Summary
from stream.records.remedies import NEW_NAME, remedy

WIDTH = 100


@click.command("dead-letters")
@click.argument("agent", required=False)
@config_option
@reason_option
@click.option(
    "-n",
    "--examples",
    type=click.IntRange(0, 100),
    default=3,
    show_default=True,
    help="How many of each reason and field to show.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def dead_letters(agent: str | None, file: Path, reason: str | None, examples: int, as_json: bool) -> None:
    """List the records that an agent refused: how many, why, some examples, and what to do.

    The whole dead-letter topic is read; memory does not depend on its length. "espalier redrive" sends the
    records to the input again when the cause is mended.

    \b
    Examples:
      espalier dead-letters
      espalier dead-letters loans --reason wrong_type -n 10
      espalier dead-letters loans --json
    """
    config = load(file)
    chosen = agent_of(config, agent)
    summary = Summary(chosen.name, reason, examples)
    topic = chosen.topics.dead_letters
    reader, meter = TopicReader(config.kafka), Meter()
    extents = reader.extents(topic)
    most = sum(extent.end - extent.begin for extent in extents.values())
    for seen, record in enumerate(reader.read(topic, extents), 1):
        meter.tell(topic, seen, most)
        summary.take(record)
    meter.clear()
    click.echo(_as_json(chosen, summary) if as_json else "\n".join(_as_text(chosen, summary, reason)))


def _as_json(agent: Agent, summary: Summary) -> str:
    told = {
        "agent": agent.name,
        "topic": agent.topics.dead_letters,
        "dead_letters": summary.tally.total,
        "redriven": dict(summary.redriven),
        "of_other_agents": summary.of_others,
        "unreadable": summary.unreadable,
        "reasons": [
            {
                "reason": reason,
                "field": field,
                "records": count,
                "remedy": remedy(reason, "" if field == OTHER else field),
                "examples": [_plain(example) for example in summary.examples.get((reason, field), [])],
            }
            for reason, field, count in summary.tally.rows()
        ],
    }
    return msgspec.json.format(msgspec.json.encode(told)).decode()


def _plain(example: Example) -> dict[str, object]:
    return {
        "topic": example.source.topic,
        "partition": example.source.number,
        "offset": example.offset,
        "message": example.message,
        "value": example.value,
        "redriven": example.redriven,
    }


def _as_text(agent: Agent, summary: Summary, reason: str | None) -> Iterator[str]:
    total = summary.tally.total
    which = f" with the reason {reason}" if reason else ""
    yield f'agent "{agent.name}": {total:,} dead letters{which} in {agent.topics.dead_letters}'
    for why, field, count in summary.tally.rows():
        yield ""
        yield f"{count:,}  {printable(why)}" + (f'  field "{printable(field)}"' if field else "")
        for example in summary.examples.get((why, field), []):
            yield from _shown(example)
        yield from _filled("what to do: ", printable(remedy(why, "" if field == OTHER else field)))
    yield ""
    if summary.redriven:
        parts = ", ".join(f"{printable(why)} {count:,}" for why, count in summary.redriven.most_common())
        yield f"sent to the input again so far: {parts}"
    if summary.of_others:
        yield f"not counted: {summary.of_others:,} of other agents that write to the same topic"
    if summary.unreadable:
        yield f"not counted: {summary.unreadable:,} records that are not dead letters of Espalier"
    if total:
        yield f'When the cause is mended, "espalier redrive {agent.name}" sends them to {agent.input} again.'
        yield from _filled("", f"{NEW_NAME}.", indent="")


def _shown(example: Example) -> Iterator[str]:
    again = f" (redriven {example.redriven} times)" if example.redriven else ""
    message = printable(example.message)
    yield from _filled(f"{example.source}@{example.offset}{again}: ", message)
    yield f"      {'(no value)' if example.value is None else example.value}"


def _filled(begin: str, text: str, indent: str = "    ") -> list[str]:
    """Return a paragraph of lines that are not too wide."""
    return textwrap.wrap(
        begin + text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + ("  " if indent else ""),
        break_long_words=False,
        break_on_hyphens=False,
    )
