"""`ipucloud admin inventory`, `hardware-events`, and the histories of machines and hosts."""

from __future__ import annotations

from enum import StrEnum
from operator import attrgetter
from pathlib import Path
from typing import Annotated

import typer

from ipucloud.cli.cluster_options import Yes
from ipucloud.cli.commands.admin_hardware import Hosts, Machines, Reason, hosts, machines
from ipucloud.cli.completion import names
from ipucloud.cli.finding import REGION
from ipucloud.cli.inventory_files import COLUMNS, InventoryFile
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.times import Since
from ipucloud.client import inventory
from ipucloud.client.call import Call
from ipucloud.client.errors import ApiError, UsageError
from ipucloud.client.models import ExpectedInventory, HardwareHistory, Page

app = typer.Typer()
group = typer.Typer(no_args_is_help=True, help="Compare the hardware that sites show with what is expected.")
app.add_typer(group, name="inventory")


class Finding(StrEnum):
    MISSING = "missing"
    SURPLUS = "surplus"
    WRONG_SERIAL = "wrong_serial"
    WRONG_MODEL = "wrong_model"
    FIRMWARE_DIFFERS = "firmware_differs"
    CABLING = "cabling"


class HardwareKind(StrEnum):
    MACHINE = "machine"
    HOST = "host"


Region = Annotated[str, typer.Argument(help="Region: slug or number.", autocompletion=names(REGION))]
Type = Annotated[str | None, typer.Option("--type", help="Only those of this type, such as serial_changed.")]
Name = Annotated[str, typer.Argument(help="Name of the machine or host.")]


@customer_command(group, "import", "luxembourg-2 inventory.csv --dry-run", "luxembourg-2 inventory.json --yes")
def import_file(
    session: Session,
    region: Region,
    file: Annotated[Path, typer.Argument(help=f"CSV with a header, or .json. Columns: {', '.join(COLUMNS)}.")],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change and differ.")] = False,
    yes: Yes = False,
) -> None:
    """Expect exactly the machines and hosts of a file. Hardware that is not in it is surplus.

    It asks first if registered hardware would get no new clusters because of that.
    """
    read = InventoryFile(file)
    try:
        planned = session.run(inventory.replace(region, read.items, dry_run=True))
        if planned.withheld and not (dry_run or yes):
            session.confirm(
                f"{planned.withheld} machines and hosts will get no new clusters ({_counts(planned)}). Import?",
                "import it all the same",
            )
        _changed(session, planned if dry_run else session.run(inventory.replace(region, read.items)))
    except ApiError as error:
        raise read.explained(error) from None


@customer_command(group, "show", "luxembourg-2", "luxembourg-2 --json > inventory.json", lists=True)
def show_expected(session: Session, region: Region) -> None:
    """List what is expected of a region's machines and hosts."""
    session.list(
        inventory.expected(region, limit=1000),
        ("KIND", "NAME", "SERIAL", "MODEL", "FIRMWARE", "RACK", "POD", "SLOT"),
        lambda each: (each.kind, each.name, each.serial, each.model, each.firmware, each.rack, each.pod, each.slot),
        drop=("RACK", "FIRMWARE", "MODEL"),
    )


@customer_command(group, "diff", "", "--region luxembourg-2 --code wrong_serial", lists=True)
def diff(
    session: Session,
    *,
    region: Annotated[str | None, typer.Option(help="Only those in this region.", autocompletion=names(REGION))] = None,
    kind: Annotated[HardwareKind | None, typer.Option("--kind", help="Only machines or only hosts.")] = None,
    code: Annotated[Finding | None, typer.Option("--code", help="Only those with this code.")] = None,
) -> None:
    """List where hardware differs from what is expected. WITHHELD: new clusters do not get it."""
    session.list(
        inventory.findings(region=region, kind=None if kind is None else kind.value, code=code, limit=1000),
        ("KIND", "NAME", "FINDING", "EXPECTED", "SHOWN", "WITHHELD", "SINCE", "REGION"),
        attrgetter("kind", "name", "code", "expected", "shown", "prevents", "since", "region"),
        drop=("REGION", "SINCE"),
    )


@customer_command(
    group,
    "accept",
    'luxembourg-2 --machine lux2-p001-m07 --reason "main board exchanged"',
    'luxembourg-2 --everything --reason "first inventory"',
)
def accept(
    session: Session,
    region: Region,
    *,
    reason: Reason,
    machine: Machines = None,
    host: Hosts = None,
    everything: Annotated[bool, typer.Option("--everything", help="Accept all findings of the region.")] = False,
) -> None:
    """Expect what machines and hosts show now. What is missing is not expected any more.

    With --everything, a region without an expected inventory gets one with all that its site shows.
    """
    if everything == bool(machine or host):
        raise UsageError("Name the hardware, such as --machine lux2-p001-m07, or give --everything.")
    _changed(
        session,
        session.run(
            inventory.accept(region, reason=reason, machines=machine or (), hosts=host or (), everything=everything)
        ),
    )


@customer_command(group, "delete", "luxembourg-2")
def delete(session: Session, region: Region, *, yes: Yes = False) -> None:
    """Expect nothing of a region any more: its hardware is not compared."""
    if not yes:
        session.confirm(f"Delete the expected inventory of {region}?", "delete the expected inventory")
    session.run(inventory.delete(region))
    session.done("deleted", region)


@customer_command(app, "hardware-events", "--since 7d", "--region luxembourg-2 --type removed", lists=True)
def hardware_events(
    session: Session,
    *,
    region: Annotated[str | None, typer.Option(help="Only those in this region.", autocompletion=names(REGION))] = None,
    type: Type = None,  # noqa: A002  # the option's name
    since: Since = None,
) -> None:
    """List capacity that was added or removed, and exchanged, changed and accepted hardware."""
    session.list(
        inventory.events(region=region, type=type, since=since, limit=1000),
        ("AT", "KIND", "NAME", "TYPE", "DETAIL", "REGION"),
        lambda each: (each.at, each.kind, each.name, each.type, each.detail, each.region),
        drop=("REGION",),
        wrap="DETAIL",
    )


@customer_command(machines, "history", "lux2-p001-m07", "lux2-p001-m07 --since 30d --type allocated", lists=True)
def machine_history(session: Session, name: Name, *, type: Type = None, since: Since = None) -> None:  # noqa: A002  # the option's name
    """List everything that happened to a machine: clusters, health reports, maintenance, exchanges."""
    _history(session, inventory.history("machine", name, since=since, type=type, limit=1000))


@customer_command(hosts, "history", "lux2-h004", lists=True)
def host_history(session: Session, name: Name, *, type: Type = None, since: Since = None) -> None:  # noqa: A002  # the option's name
    """List everything that happened to a host, as for a machine."""
    _history(session, inventory.history("host", name, since=since, type=type, limit=1000))


def _history(session: Session, call: Call[Page[HardwareHistory]]) -> None:
    session.list(
        call,
        ("AT", "TYPE", "CODE", "SOURCE", "PROJECT", "DETAIL", "CLUSTER", "ACTOR"),
        attrgetter("at", "type", "code", "source", "project", "detail", "cluster", "actor"),
        drop=("ACTOR", "CLUSTER", "SOURCE"),
        wrap="DETAIL",
    )


def _changed(session: Session, changed: ExpectedInventory) -> None:
    session.show(
        changed,
        [
            ("region", changed.region),
            ("changed", "nothing; this was a dry run" if changed.dry_run else None),
            ("items", f"{changed.added} added, {changed.changed} changed, {changed.removed} removed"),
            ("findings", _counts(changed)),
            ("withheld", f"{changed.withheld} machines and hosts get no new clusters"),
        ],
    )


def _counts(changed: ExpectedInventory) -> str:
    return ", ".join(f"{number} {code}" for code, number in changed.findings.items()) or "none"
