"""`espalier audit`: the promises checked from the topics alone."""

# ruff: noqa: D301 - the backspace that keeps click from filling a paragraph must be one

import itertools
import time
from pathlib import Path

import click
import msgspec

from stream.audit import AuditProgress, Inspection, Report
from stream.cli.options import agent_of, config_option
from stream.cli.refusals import percent, refusals
from stream.config import Agent, load

SHOWN = 20
REFUSED = 65
"""The exit status where too many records were refused; EX_DATAERR of sysexits.h."""


@click.command()
@click.argument("agent", required=False)
@config_option
@click.option(
    "--engine",
    type=click.Choice(["confluent", "faust"]),
    help="What ran the agent. Faust may say the same thing twice: repeats are dropped before counting.",
)
@click.option("--replay", is_flag=True, help="Learn the journal again and follow the changes: the same tree?")
@click.option(
    "--max-refused",
    type=click.FloatRange(min=0, max=100),
    default=1.0,
    show_default=True,
    metavar="PERCENT",
    help="End with status 65 where more of a hundred records are dead letters.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def audit(
    context: click.Context,
    agent: str | None,
    file: Path,
    engine: str | None,
    replay: bool,
    max_refused: float,
    as_json: bool,
) -> None:
    """Check what an agent has promised, from its topics alone.

    Every offset of the input that it has passed must have exactly one prediction or dead letter, in order;
    the tree changes must be one unbroken chain; the journal must have no gap; and all must agree about which
    tree was there when. An agent may be at work meanwhile. Dead letters are listed by reason and field.

    Exit status: 0 nothing is wrong, 1 something is, 65 more records were refused than --max-refused allows.

    \b
    Examples:
      espalier audit
      espalier audit loans --replay
      espalier audit loans --json
      espalier audit loans --max-refused 0.1
    """
    config = load(file)
    chosen = agent_of(config, agent)
    started = time.monotonic()
    repeats = (engine or str(config.engine)) == "faust"
    tell = (lambda progress: None) if as_json else _tell
    inspection = Inspection(config.kafka, chosen, config.limits, repeats=repeats, tell=tell)
    report = inspection.run(replay=replay)
    is_refused = report.refused_percent > max_refused
    if as_json:
        click.echo(_as_json(chosen, report, inspection.instances, is_refused=is_refused))
    else:
        click.echo(_as_text(chosen, report, inspection.instances))
        verdict = _verdict(chosen, report, max_refused if is_refused else None)
        click.echo(f"{verdict} ({time.monotonic() - started:.1f} s)")
    context.exit(1 if report.findings.counts else REFUSED if is_refused else 0)


def _tell(progress: AuditProgress) -> None:
    told = f"{progress.topic}: {progress.what} {progress.records:,}"
    if progress.is_done:
        click.echo(f"\r{told}".ljust(80), err=True)
    else:
        click.echo(f"\r{told} of at most {progress.most:,} ", nl=False, err=True)


def _as_json(agent: Agent, report: Report, instances: int | None, *, is_refused: bool) -> str:
    told = {
        "agent": agent.name,
        "ok": not report.findings.counts and not is_refused,
        "records": report.counts,
        "dispositions": report.dispositions,
        "refused_percent": report.refused_percent,
        "refused": [
            {"reason": reason, "field": field, "records": count}
            for reason, field, count in report.refused.rows()
        ],
        "trees": {
            model: {"version": version, "digest": digest} for model, (version, digest) in report.trees.items()
        },
        "learned_again": instances,
        "counts": {str(kind): count for kind, count in report.findings.counts.items()},
        "findings": list(report.findings),
    }
    return msgspec.json.format(msgspec.json.encode(told)).decode()


def _as_text(agent: Agent, report: Report, instances: int | None) -> str:
    counts = report.dispositions
    passed = counts["predicted"] + counts["dead_letters"] + counts["other"]
    lines = [
        f'agent "{agent.name}": {passed:,} offsets of {agent.input}: {counts["predicted"]:,} predicted '
        f"({counts['learned']:,} of them learned from), {counts['dead_letters']:,} dead letters"
        + (f", {counts['other']:,} passed over" if counts["other"] else "")
    ]
    lines += [
        f"model {model}: version {version:,}, digest {digest[:16]}"
        for model, (version, digest) in report.trees.items()
    ]
    if instances is not None:
        lines.append(f"learned again from the journal: {instances:,} instances")
    by_kind = itertools.groupby(sorted(report.findings, key=lambda f: f.kind), key=lambda f: f.kind)
    for kind, group in by_kind:
        found = list(group)
        lines += [f"  {finding}" for finding in found[:SHOWN]]
        if len(found) > SHOWN:
            lines.append(f"  {kind}: and more; {report.findings.counts[kind]:,} in all")
    lines += refusals(report.refused)
    return "\n".join(lines)


def _verdict(agent: Agent, report: Report, allowed: float | None) -> str:
    """Return the last line; `allowed` is how many percent may be refused, where more were."""
    parts = []
    total = sum(report.findings.counts.values())
    if total:
        parts.append(f"{total:,} things are wrong")
    dead = report.dispositions["dead_letters"]
    records = dead + report.dispositions["predicted"]
    refused = f"{dead:,} of {records:,} records were refused ({percent(report.refused_percent)})"
    if allowed is not None:
        advice = f'"espalier dead-letters {agent.name}" says what to do'
        parts.append(f"{refused}, more than {percent(allowed)}: {advice}")
    elif not total:
        parts.append("nothing is wrong" + (f"; {refused}" if dead else ""))
    return "; ".join(parts)
