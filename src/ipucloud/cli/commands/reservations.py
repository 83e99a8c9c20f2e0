"""`ipucloud reservations`."""

from __future__ import annotations

from datetime import datetime
from operator import attrgetter
from typing import Annotated

import typer

from ipucloud.cli.cluster_options import Patience
from ipucloud.cli.completion import names
from ipucloud.cli.finding import FLAVOR, REGION, RESERVATION
from ipucloud.cli.lazy import Listing
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.settling import For, Noun
from ipucloud.cli.times import moment
from ipucloud.cli.values import fields
from ipucloud.client import reservations
from ipucloud.client.models import Reservation, ReservationState

app = typer.Typer(cls=Listing)
Id = Annotated[str, typer.Argument(metavar="RESERVATION", help="Id of the reservation.")]
_ID = "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b81"


@app.callback()
def group() -> None:
    pass


@customer_command(
    app,
    "create",
    "may --region luxembourg-2 --flavor m2000-pod64 --starts-at 2026-05-11T08:00 --ends-at 2026-05-13T08:00",
    "may --region luxembourg-2 --flavor m2000-pod64 --starts-at 2d --ends-at 4d --estimate",
)
def create(
    session: Session,
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and hyphens; starts with a letter.")],
    *,
    region: Annotated[str, typer.Option(help="Region.", autocompletion=names(REGION))],
    flavor: Annotated[str, typer.Option(help="Flavor of the clusters.", autocompletion=names(FLAVOR))],
    starts_at: Annotated[
        datetime, typer.Option("--starts-at", parser=moment, metavar="WHEN", help="A duration, or a time in UTC.")
    ],
    ends_at: Annotated[
        datetime,
        typer.Option("--ends-at", parser=moment, metavar="WHEN", help="A duration from now, or a time in UTC."),
    ],
    count: Annotated[int, typer.Option(min=1, max=64, help="How many clusters it has room for.")] = 1,
    estimate: Annotated[bool, typer.Option("--estimate", help="Show what it would cost; reserve nothing.")] = False,
) -> None:
    """Reserve room for clusters of a flavor between two times. All of its minutes are billed."""
    starts, ends = (each.replace(second=0, microsecond=0) for each in (starts_at, ends_at))
    new = reservations.NewReservation(name, region=region, flavor=flavor, count=count, starts_at=starts, ends_at=ends)
    if estimate:
        estimated = session.run(reservations.estimate(new))
        session.show(
            estimated, fields(estimated, "sku", "machines", "minutes", "price_per_minute", "cost", "cancel_until")
        )
        return
    _show(session, session.run(reservations.create(new)))


@customer_command(app, "list", "", "--state active")
def list_reservations(
    session: Session,
    state: Annotated[ReservationState | None, typer.Option(help="Only those in this state.")] = None,
) -> None:
    """List the project's reservations, newest first."""
    session.list(
        reservations.list(state=() if state is None else (state,)),
        ("NAME", "STATE", "REGION", "FLAVOR", "COUNT", "LEFT", "STARTS", "ENDS", "ID"),
        attrgetter("name", "state", "region", "flavor", "count", "left", "starts_at", "ends_at", "id"),
        drop=("REGION",),
    )


@customer_command(app, "show", _ID)
def show(session: Session, reservation: Id) -> None:
    """Show a reservation and the clusters that use it."""
    _show(session, session.run(reservations.get(reservation)))


@customer_command(app, "cancel", _ID)
def cancel(session: Session, reservation: Id) -> None:
    """Cancel a reservation, at the latest 24 hours before it begins. Nothing is billed."""
    _show(session, session.run(reservations.cancel(reservation)))


@customer_command(app, "wait", _ID, f"{_ID} --for ended")
def wait(session: Session, reservation: Id, state: For = None, patience: Patience = None) -> None:
    """Wait until a reservation is active, or in another state; exit status 1 if that cannot be any more."""
    _NOUN.wait(session, reservation, state, patience)


def _show(session: Session, reservation: Reservation) -> None:
    first = ("id", "name", "state", "region", "flavor", "count", "left", "machines", "starts_at", "ends_at")
    session.show(reservation, fields(reservation, *first, "cancel_until", "sku", "clusters", "created_at"))


_NOUN: Noun[Reservation] = Noun(
    RESERVATION,
    "reservations",
    reservations.get,
    _show,
    ReservationState,
    passing=("scheduled",),
    goals=("active",),
    ends=("ended", "cancelled"),
)
