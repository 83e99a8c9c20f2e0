"""`ipucloud admin audit`."""

from __future__ import annotations

import asyncio
import getpass
import socket
from typing import Annotated

import typer

from ipucloud.cli import output
from ipucloud.cli.examples import with_examples
from ipucloud.cli.service import auditing
from ipucloud.cli.service.connections import settings_at_hand
from ipucloud.cli.service.failures import stop
from ipucloud.cli.session import Json
from ipucloud.invariants.registry import INVARIANTS
from ipucloud.invariants.repairing import REPAIR_LIMIT
from ipucloud.invariants.rules import Decision

app = typer.Typer()


@app.command("audit", cls=with_examples("", "--repair", "--repair --apply"))
def audit(  # noqa: PLR0917  # options, which Typer gives by name
    repair: Annotated[bool, typer.Option("--repair", help="Show what would be repaired, or why not.")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="With --repair: make the repairs.")] = False,
    database_only: Annotated[bool, typer.Option("--database-only", help="Do not check sites.")] = False,
    repair_limit: Annotated[int, typer.Option("--limit", min=0, help="Maximum repairs at sites.")] = REPAIR_LIMIT,
    decide: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE:OBJECT", help="With --apply: repair this too, which a person has to decide."),
    ] = None,
    reason: Annotated[
        str | None, typer.Option(help="With --decide: why, where the repair posts an adjusting entry to the ledger.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check the database against every rule, and the site against the database.

    Without IPUCLOUD_DATABASE_URL, the `ipucloud up` running from IPUCLOUD_DATA_DIR is audited; with it, but without
    IPUCLOUD_SITE_URL, no site is checked. A site of your own that `up` was given is checked too, with the secrets
    (IPUCLOUD_SITE_TOKEN, IPUCLOUD_VIPU_ACCESS_KEY) that `up` was given, which it does not write down. Before the audit
    removes anything at a site it observes the site again, IPUCLOUD_REQUEST_LIFE seconds later. Every repair is logged
    in the table `repairs`.

    Exit status:
    0  no violation was found, or all were repaired
    1  the audit failed
    2  the command or a setting is invalid
    3  violations remain
    """
    if apply and not repair:
        stop("--apply needs --repair; give both.")
    if decide and not apply:
        stop("--decide needs --repair --apply; give all three.")
    if reason is not None and not (decide and reason.strip()):
        stop("--reason needs --decide, and a text.")
    settings = settings_at_hand("database_url", with_site=not database_only)
    order = auditing.Order(
        repair=repair,
        apply=apply,
        with_site=settings.site_url is not None and not database_only,
        repair_limit=repair_limit,
        decided=frozenset(map(_decided, decide or ())),
        reason=reason,
        requested_by=f"{getpass.getuser()}@{socket.gethostname()}",
    )
    with auditing.exit_on_error():
        report = asyncio.run(auditing.run(settings, order))
    if as_json:
        output.write_json(auditing.document(report))
    else:
        auditing.show(report)
    raise typer.Exit(report.status)


def _decided(argument: str) -> tuple[str, str]:
    rule, _, key = argument.partition(":")
    if not isinstance(next((each.repair for each in INVARIANTS if each.name == rule), None), Decision):
        stop(f"{rule} is no rule whose repair a person has to decide.")
    if not key:
        stop(f"Name the object too: --decide {rule}:OBJECT.")
    return rule, key
