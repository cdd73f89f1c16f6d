"""`espalier redrive`: send dead letters to the input again."""

# ruff: noqa: D301 - the backspace that keeps click from filling a paragraph must be one

import sys
from pathlib import Path

import click

from stream.cli.options import agent_of, config_option
from stream.cli.refusals import Meter, reason_option, refusals
from stream.config import Agent, load
from stream.kafka.redrive import MAX_REDRIVES, Redrive, RedrivePlan


@click.command()
@click.argument("agent", required=False)
@config_option
@reason_option
@click.option("--dry-run", is_flag=True, help="Say what would be sent and send nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--force", is_flag=True, help=f"Send also what was sent {MAX_REDRIVES} times already and failed again."
)
@click.option(
    "--batch",
    type=click.IntRange(1, 100_000),
    default=1_000,
    show_default=True,
    help="How many records make a transaction.",
)
def redrive(
    agent: str | None, file: Path, reason: str | None, dry_run: bool, yes: bool, force: bool, batch: int
) -> None:
    """Send the dead letters of an agent to its input again, when their cause is mended.

    Key, value, headers and partition are those of the record; the timestamp is new, and the header
    espalier.redriven counts how often it was sent. Each dead letter is sent at most once, however often this
    is run, with whichever --reason, and wherever it was interrupted: a transaction holds the records and a
    mark in the dead-letter topic that says how far they were sent. A record that fails again is a new dead
    letter; after three times it is sent with --force alone.

    \b
    Examples:
      espalier redrive loans --dry-run
      espalier redrive loans --reason wrong_type
      espalier redrive loans --yes
    """
    config = load(file)
    chosen = agent_of(config, agent)
    if not (dry_run or yes or sys.stdin.isatty()):
        raise click.UsageError(
            "nobody can be asked. Give --yes to send, or --dry-run to see what would be sent"
        )
    meter = Meter()
    run = Redrive(config.kafka, chosen, reason=reason, force=force, batch=batch, tell=meter.tell)
    try:
        if not dry_run:
            run.open()
        run.read_marks()
        if not yes:
            plan = run.plan()
            meter.clear()
            _show(chosen, plan, "to be sent" if dry_run else "to send")
            if dry_run or not plan.chosen.total:
                return
            if not click.confirm(f"Send {plan.chosen.total:,} records to {chosen.input} again?"):
                click.echo("nothing was sent")
                return
        plan = run.run()
        meter.clear()
        if yes:
            _show(chosen, plan, "sent")
        else:
            click.echo(f"{plan.chosen.total:,} records were sent to {chosen.input} again")
    finally:
        run.close()


def _show(agent: Agent, plan: RedrivePlan, word: str) -> None:
    click.echo(f'agent "{agent.name}": {plan.chosen.total:,} dead letters {word} to {agent.input} again')
    for line in refusals(plan.chosen):
        click.echo(line)
    if plan.done:
        click.echo(f"sent by an earlier run: {plan.done:,}")
    for why, count in plan.left.most_common():
        click.echo(f"not sent: {count:,}: {why.value}")
