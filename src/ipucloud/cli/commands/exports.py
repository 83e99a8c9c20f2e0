"""`ipucloud exports`."""

from __future__ import annotations

import codecs
import hashlib
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

import typer

from ipucloud.cli.cluster_options import Patience, Wait
from ipucloud.cli.commands.billing import Bom
from ipucloud.cli.completion import Account, its_connections, its_exports, its_schedules, names
from ipucloud.cli.finding import connection_kind, export_kind, id_of, schedule_kind
from ipucloud.cli.following import carry_out
from ipucloud.cli.lazy import Listing
from ipucloud.cli.output import writable, write
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.settling import until
from ipucloud.cli.targets import period
from ipucloud.client import export_schedules, exports
from ipucloud.client.errors import ApiError, UsageError
from ipucloud.client.models import Export, ExportLimit, OperationState

app = typer.Typer(no_args_is_help=True)
schedules = typer.Typer(cls=Listing, help="Manage scheduled deliveries.")
app.add_typer(schedules, name="schedules")

Dataset = Annotated[str | None, typer.Option(help="cost-and-usage, billing-period or invoice-detail.")]
Version = Annotated[str | None, typer.Option("--focus-version", help="1.2 or 1.4.")]
Format = Annotated[str | None, typer.Option("--format", help="csv or parquet.")]

Provisional = Annotated[
    bool | None, typer.Option("--provisional", help="Also usage that is not posted yet, marked as x_Provisional.")
]


@customer_command(
    app,
    "create",
    "2026-05 --output may.csv",
    "--since 2026-05-04 --until 2026-05-11 --format parquet",
    "2026-05 --account research --output may.csv",
)
def create(
    session: Session,
    month: Annotated[str | None, typer.Argument(help="Month, such as 2026-05; or use --since and --until.")] = None,
    *,
    since: Annotated[str | None, typer.Option(help="Start date in UTC, such as 2026-05-04.")] = None,
    until: Annotated[str | None, typer.Option(help="End date in UTC, exclusive.")] = None,
    dataset: Dataset = None,
    version: Version = None,
    file_format: Format = None,
    provisional: Provisional = None,
    scope: Annotated[str | None, typer.Option(help="project, or account: everything the account pays for.")] = None,
    connection: Annotated[str | None, typer.Option(help="Also deliver it to this S3 connection (name or id).")] = None,
    output: Annotated[Path | None, typer.Option(callback=writable, help="Save the file here once it is built.")] = None,
    bom: Bom = False,
    account: Account = None,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Export a billing month or a range of days, and wait until the file is built."""
    if output is not None and not wait:
        raise UsageError("--output needs the file: leave out --no-wait, or use `ipucloud exports download` later.")
    if (month is None) == (since is None) or (since is None) != (until is None):
        raise UsageError("Give either a month, such as 2026-05, or both --since and --until.")
    if account is not None and scope is not None:
        raise UsageError("An export of a billing account has everything that it pays for: leave out --scope.")
    choice: dict[str, Any] = {
        "since": since,
        "until": until,
        "dataset": dataset,
        "version": version,
        "format": file_format,
        "provisional": provisional,
        "connection": connection and id_of(session.client, connection_kind(account), connection),
    }
    if account is None:
        operation = carry_out(session, exports.create(month, scope=scope, **choice), wait=wait, patience=patience)
        export = session.run(exports.get(operation.target.id))
    else:
        export = session.run(exports.create_for_account(account, month, **choice))
        export = _ended(session, export, account, patience) if wait else export
    if output is not None:
        _save(session, export.id, output, account, bom=bom)
    session.show(export, _facts(export))


@customer_command(app, "list", "", "--account research", "--state failed")
def list_(
    session: Session,
    *,
    state: Annotated[OperationState | None, typer.Option(help="Only those in this state.")] = None,
    dataset: Dataset = None,
    account: Account = None,
) -> None:
    """List the exports of the project, or of a billing account."""
    session.list(
        exports.list(state=() if state is None else (state,), dataset=dataset, account=account),
        ("ID", "PERIOD", "DATASET", "VERSION", "FORMAT", "STATE", "CREATED", "LAST ERROR"),
        lambda each: (
            each.id,
            period(each),
            each.dataset,
            each.version,
            each.format,
            each.state,
            each.created_at,
            each.last_error,
        ),
        drop=("VERSION", "FORMAT", "CREATED", "LAST ERROR", "DATASET"),
        wrap="LAST ERROR",
    )


@customer_command(app, "wait", "2026-05 --timeout 600")
def wait_(
    session: Session,
    export: Annotated[str, typer.Argument(help="Month or id of the export.", autocompletion=names(its_exports))],
    account: Account = None,
    patience: Patience = None,
) -> None:
    """Wait until an export's file is built, and delivered if that was asked for; exit status 1 if that failed."""
    record = session.run(exports.get(id_of(session.client, export_kind(account), export), account=account))
    record = _ended(session, record, account, patience)
    session.show(record, _facts(record))


@customer_command(app, "download", "2026-05 may.csv")
def download(
    session: Session,
    export: Annotated[str, typer.Argument(help="Month or id of the export.", autocompletion=names(its_exports))],
    output: Annotated[Path, typer.Argument(callback=writable, help="Where to save the file.")],
    bom: Bom = False,
    account: Account = None,
) -> None:
    """Save an export's file."""
    _save(session, id_of(session.client, export_kind(account), export), output, account, bom=bom)
    session.done("written", output)


@customer_command(app, "limit")
def limit(session: Session, account: Account = None) -> None:
    """Show how many exports the project, or a billing account, may request within 24 hours."""
    _show_limit(session, session.run(exports.limit(account=account)))


@customer_command(app, "set-limit", "50 --project research")
def set_limit(
    session: Session,
    per_day: Annotated[int, typer.Argument(min=0, help="Most exports within 24 hours; 0: only those of schedules.")],
    account: Account = None,
) -> None:
    """Set how many exports the project, or an account, may request within 24 hours. Needs a platform token."""
    _show_limit(session, session.run(exports.set_limit(per_day, account=account)))


@customer_command(schedules, "create", "finance --every day")
def create_schedule(
    session: Session,
    connection: Annotated[
        str, typer.Argument(help="Name or id of the S3 connection.", autocompletion=names(its_connections))
    ],
    *,
    every: Annotated[str, typer.Option(help="hour, day or month.")] = "day",
    dataset: Dataset = None,
    version: Version = None,
    file_format: Format = None,
    provisional: Provisional = None,
    account: Account = None,
) -> None:
    """Deliver a file every hour, day or month."""
    destination = id_of(session.client, connection_kind(account), connection)
    schedule = session.run(
        export_schedules.create(
            destination,
            every=every,
            dataset=dataset,
            version=version,
            format=file_format,
            provisional=provisional,
            account=account,
        )
    )
    session.show(
        schedule, [("id", schedule.id), ("name", schedule.name), ("every", schedule.every), ("next", schedule.next_at)]
    )


@customer_command(schedules, "list", "", "--every day")
def list_schedules(
    session: Session,
    *,
    every: Annotated[str | None, typer.Option(help="Only those that deliver each hour, day or month.")] = None,
    dataset: Dataset = None,
    account: Account = None,
) -> None:
    """List the schedules with the result of the last delivery."""
    session.list(
        export_schedules.list(every=every, dataset=dataset, account=account),
        ("NAME", "VERSION", "FORMAT", "NEXT", "DELIVERED", "LAST ERROR", "ID"),
        attrgetter("name", "version", "format", "next_at", "last_delivered_at", "last_error", "id"),
        drop=("ID", "VERSION", "FORMAT", "DELIVERED", "NEXT"),
        wrap="LAST ERROR",
    )


@customer_command(schedules, "delete", "finance.day.cost-and-usage")
def delete_schedule(
    session: Session,
    schedule: Annotated[str, typer.Argument(help="Name or id of the schedule.", autocompletion=names(its_schedules))],
    account: Account = None,
) -> None:
    """Delete a schedule."""
    schedule_id = id_of(session.client, schedule_kind(account), schedule)
    session.run(export_schedules.delete(schedule_id, account=account))
    session.done("deleted", schedule_id)


def _ended(session: Session, export: Export, account: str | None, patience: float | None) -> Export:
    """The export once its file is built, and delivered if that was asked for.

    Raises ApiError if it failed, StateTimeoutError.
    """
    export = until(
        session,
        exports.get(export.id, account=account),
        lambda now: now.state in {"succeeded", "failed"},
        lambda now: (f"Export of {period(now)} {now.state}", None),
        patience=patience,
        resume=f"ipucloud exports wait {export.id}" + (f" --account {account}" if account else ""),
    )
    if export.state == "failed":
        raise ApiError(
            409, "export_failed", export.last_error or "The file could not be built. Create the export again."
        )
    return export


def _save(session: Session, export: str, output: Path, account: str | None, *, bom: bool) -> None:
    """Writes the file only if its digest matches the manifest's, which knows no byte order mark."""
    record = session.run(exports.get(export, account=account))
    content = session.run(exports.download(export, account=account, bom=bom))
    digests = [file.sha256 for file in record.manifest.files] if record.manifest else []
    if hashlib.sha256(content.removeprefix(codecs.BOM_UTF8) if bom else content).hexdigest() not in digests:
        raise UsageError("The file's digest does not match the manifest. Download it again.")
    write(output, content)


def _show_limit(session: Session, limit: ExportLimit) -> None:
    session.show(limit, [("per day", limit.per_day), ("used", limit.used), ("next at", limit.next_at)])


def _facts(export: Export) -> list[tuple[str, object]]:
    rows = export.manifest.rows if export.manifest else None
    return [("id", export.id), ("period", period(export)), ("rows", rows), ("available until", export.expires_at)]
