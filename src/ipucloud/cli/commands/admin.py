"""`ipucloud admin`: the group of the commands for operators.

`audit`, `audit-log` and `bmc-log` need more than a platform token.
"""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from ipucloud.cli.commands import (
    admin_capacity,
    admin_faults,
    admin_hardware,
    admin_inventory,
    admin_quotas,
    admin_safety,
    admin_simulated_faults,
    admin_validation,
    admin_work,
)
from ipucloud.cli.lazy import Entry, LazyCommand

_DIRECT = (
    Entry(
        "audit",
        ".service.admin",
        "Check every rule; repair violations.",
        extra="service",
        group="admin ",
    ),
    Entry(
        "audit-log",
        ".service.audit_log",
        "Verify and export the audit log.",
        extra="service",
        group="admin ",
    ),
    Entry("bmc-log", ".service.bmc_log", "Read a machine's BMC log.", extra="service", group="admin "),
)


class _Group(TyperGroup):
    """The group with commands that connect to database or site: a customer's installation lacks what they need."""

    def __init__(self, *args: Any, **extra: Any) -> None:  # Any: as Typer has them
        super().__init__(*args, **extra)
        for entry in _DIRECT:
            self.add_command(LazyCommand(entry))


app = typer.Typer(no_args_is_help=True, cls=_Group, help="Operate the service, with a platform token.")
for part in (
    admin_hardware.app,
    admin_inventory.app,
    admin_work.app,
    admin_capacity.app,
    admin_safety.app,
    admin_validation.app,
    admin_faults.app,
    admin_quotas.app,
    admin_work.events_app,
    admin_simulated_faults.app,
):
    app.add_typer(part)
