"""`ipucloud sim exchange`, `show-as`, `swap-machines`, `hide`, `add-machine`: hardware that is not what it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from secrets import token_hex
from typing import Annotated

import typer

from ipucloud.cli.examples import with_examples
from ipucloud.cli.service.failures import CommandError, exit_on_error, settings_from_environment
from ipucloud.cli.service.simulated_site import SimulatedSite, site_at_hand
from ipucloud.wire.faults import HardwareShown

app = typer.Typer()

Machine = Annotated[
    str, typer.Argument(help="Name of the machine, or the end of one name only, such as lux2-p001-m07.")
]
Host = Annotated[str, typer.Argument(help="Name of the host, or the end of one name only.")]
Hardware = Annotated[str, typer.Argument(help="Name of a machine or host, or the end of one name only.")]
Serial = Annotated[str | None, typer.Option(help="The new serial number; default: a random one.")]


@contextmanager
def opened() -> Iterator[SimulatedSite]:
    """The site at hand; what it refuses ends the command with a sentence."""
    with exit_on_error(), closing(site_at_hand(settings_from_environment())) as site:
        yield site


@app.command("exchange", cls=with_examples("lux2-p001-m07", "lux2-p001-m07 --part ipu-2", "lux2-h003 --serial 7KQ2X93"))
def exchange(
    hardware: Hardware,
    part: Annotated[str | None, typer.Option(help="Only this part of a machine: board, ipu-0 to ipu-3.")] = None,
    serial: Serial = None,
) -> None:
    """Exchange a machine or host, or a part of a machine: it shows another serial number."""
    with opened() as site:
        name, number = site.hardware(hardware), serial or f"GC{token_hex(5).upper()}"
        if part is None:
            site.show(name, serial_number=number)
        else:
            site.exchange_part(name, part, number)
    _done(f"{name if part is None else f'{part} of {name}'} has the serial number {number}.", name)


@app.command("show-as", cls=with_examples("lux2-p001-m07 --model Bow-2000", "lux2-p001-m07 --firmware 2.7.1"))
def show_as(
    hardware: Hardware,
    model: Annotated[str | None, typer.Option(help="The model that it shows.")] = None,
    firmware: Annotated[str | None, typer.Option(help="The firmware that it shows.")] = None,
) -> None:
    """Let a machine or host show another model or firmware."""
    with opened() as site:
        if model is None and firmware is None:
            raise CommandError("Give --model or --firmware.")
        name = site.hardware(hardware)
        changes = {"model": model, "firmware": firmware}
        site.show(name, **{field: value for field, value in changes.items() if value is not None})
    _done(f"{name} shows {model or firmware}.", name)


@app.command("swap-machines", cls=with_examples("lux2-p001-m03 lux2-p001-m07"))
def swap_machines(one: Machine, other: Machine) -> None:
    """Let two machines be cabled in each other's places, as their V-IPU controller shows them."""
    with opened() as site:
        first, second = site.machine(one), site.machine(other)
        (pod, slot), (other_pod, other_slot) = site.place(first), site.place(second)
        site.show(first, pod=other_pod, slot=other_slot)
        site.show(second, pod=pod, slot=slot)
    _done(f"{first} and {second} have changed places.", first, second)


@app.command("hide", cls=with_examples("lux2-p001-m07"))
def hide(hardware: Hardware) -> None:
    """Let a machine or host not be there any more: nothing of the site answers for it."""
    with opened() as site:
        name = site.hardware(hardware)
        site.show(name, hidden=True)
    _done(f"{name} does not answer.", name)


@app.command("add-machine", cls=with_examples("luxembourg-2 lux2-x001"))
def add_machine(
    region: Annotated[str, typer.Argument(help="Region of the machine.")],
    name: Annotated[str, typer.Argument(help="A name that no hardware of the site has.")],
) -> None:
    """Add a machine that nobody ordered: its BMC answers, and the site's inventory does not list it."""
    with opened() as site:
        if name in site.machines():
            raise CommandError(f"The site has a machine {name}. Choose another name.")
        site.show(name, region=site.region(region))
    _done(f"The BMC of {name} answers.", name)


@app.command("as-built", cls=with_examples("lux2-p001-m07"))
def as_built(
    hardware: Annotated[list[str], typer.Argument(help="Names of machines and hosts that were changed.")],
) -> None:
    """Let hardware show what it was built with; an added machine goes."""
    with opened() as site:
        for name in hardware:
            site.show_as_built(name)


def described(shown: HardwareShown) -> str:
    """What hardware shows in place of what it was built with."""
    return ", ".join(f"{field} {value}" for field, value in shown.model_dump(exclude={"name"}).items() if value)


def _done(sentence: str, *names: str) -> None:
    typer.echo(f"{sentence} To end it: ipucloud sim as-built {' '.join(names)}")
