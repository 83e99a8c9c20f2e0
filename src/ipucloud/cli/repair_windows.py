"""Repair windows as people write them: `sat,sun 02:00 180 Europe/Luxembourg`."""

from __future__ import annotations

from typing import Annotated

import typer
from pydantic import ValidationError

from ipucloud.client.models import RepairWindow

_FORM = "sat,sun 02:00 180 Europe/Luxembourg"


def window(text: str) -> RepairWindow:
    """Days, time of day, minutes and time zone. Raises typer.BadParameter; the service checks the time zone."""
    try:
        days, starts_at, minutes, time_zone = text.split()
        return RepairWindow.model_validate(
            {"days": days.split(","), "starts_at": starts_at, "minutes": int(minutes), "time_zone": time_zone}
        )
    except (ValueError, ValidationError):
        raise typer.BadParameter(
            f"{text!r} is not a window such as {_FORM!r}: days, time of day, minutes, time zone."
        ) from None


def written(given: RepairWindow) -> str:
    """The window as it is written."""
    return f"{','.join(given.days)} {given.starts_at} {given.minutes} {given.time_zone}"


Window = Annotated[
    RepairWindow | None,
    typer.Option(
        "--repair-window",
        parser=window,
        metavar="WINDOW",
        help=f"When repairs may begin without a request, like '{_FORM}'.",
    ),
]
AutoRepair = Annotated[
    bool, typer.Option("--auto-repair/--no-auto-repair", help="Replace faulty hardware without a request.")
]
AutoRepairChange = Annotated[
    bool | None, typer.Option("--auto-repair/--no-auto-repair", help="Replace faulty hardware without a request.")
]
