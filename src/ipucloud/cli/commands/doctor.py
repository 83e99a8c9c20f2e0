"""`ipucloud doctor`."""

from __future__ import annotations

import typer

from ipucloud.cli import output
from ipucloud.cli.checkup import FAILED, checkup
from ipucloud.cli.exits import Exit
from ipucloud.cli.session import Session, customer_command

app = typer.Typer()


@customer_command(app, "doctor")
def doctor(session: Session) -> None:
    """Check the settings, the service and this machine, and say what to do next.

    Exit status 1 if a check fails; warnings do not count.
    """
    findings, next_step = checkup(session)
    failed = any(each.result == FAILED for each in findings)
    if session.as_json:
        output.write_json({"ok": not failed, "checks": [vars(each) for each in findings], "next": next_step})
    else:
        for each in findings:
            remedy = f" Remedy: {each.remedy}" if each.remedy else ""
            typer.echo(output.harmless(f"{each.result:8}{each.check:9}{each.found}{remedy}"))
        typer.echo(f"\nNext: {next_step}")
    if failed:
        raise typer.Exit(Exit.FAILED)
