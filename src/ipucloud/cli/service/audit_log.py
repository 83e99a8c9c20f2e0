"""`ipucloud admin audit-log`: the whole log, read in the database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated

import typer

from ipucloud.cli import output
from ipucloud.cli.examples import with_examples
from ipucloud.cli.service.audit_formats import WRITTEN, Format
from ipucloud.cli.service.connections import database_of, settings_at_hand
from ipucloud.cli.service.failures import exit_on_error
from ipucloud.cli.session import Json
from ipucloud.config import Settings
from ipucloud.identity import audit_log
from ipucloud.identity.audit_log import Verified

app = typer.Typer(no_args_is_help=True, help="Verify and export the audit log, at the database.")

FAULTS = 3
"""Exit status if the chain is broken."""


@app.command("verify", cls=with_examples("", "--head 4c81…"))
def verify(
    head: Annotated[
        str | None, typer.Option(help="A hash that an earlier run showed: the log must contain it still.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute the chain of hashes again, and name every entry that was changed or removed.

    Keep the hash that is shown elsewhere: with --head the next run also finds that the newest entries were removed.

    Exit status:
    0  the log is as it was sealed
    1  the database could not be read
    3  entries were changed or removed
    """
    with exit_on_error():
        report = asyncio.run(_verify(settings_at_hand("database_url", with_site=False), head))
    if as_json:
        output.write_json(report._asdict())
    else:
        output.write_facts(
            [
                *(("entries", report.entries), ("removed", report.removed or None), ("head", report.head)),
                *(("fault", each) for each in report.faults),
            ]
        )
    if report.faults:
        raise typer.Exit(FAULTS)


@app.command(
    "export",
    cls=with_examples("> audit-log.jsonl", "--after 4711 > more.jsonl", "--format syslog > audit-log.txt"),
)
def export(
    after: Annotated[int, typer.Option(min=0, help="Only entries after this place in the chain.")] = 0,
    form: Annotated[
        Format, typer.Option("--format", help="Of a line: json, cloudevents (1.0) or syslog (RFC 5424).")
    ] = Format.JSON,
) -> None:
    """Write every sealed entry as a line, in the chain's order."""
    with exit_on_error():
        asyncio.run(_export(settings_at_hand("database_url", with_site=False), after, WRITTEN[form]))


async def _verify(settings: Settings, head: str | None) -> Verified:
    async with database_of(settings) as database, database.read() as connection:
        return await audit_log.verify(connection, head=head)


async def _export(settings: Settings, after: int, written: Callable[[str], str]) -> None:
    async with database_of(settings) as database, database.read() as connection:
        async for each in audit_log.chain(connection, after=after):
            typer.echo(written(each.document))
