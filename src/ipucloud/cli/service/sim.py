"""`ipucloud sim`: failures of the simulated site, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ipucloud.cli import output
from ipucloud.cli.examples import with_examples
from ipucloud.cli.service import sim_hardware
from ipucloud.cli.service.sim_hardware import Host, Machine, opened
from ipucloud.cli.service.simulated_site import CALLS, CLOCK, SimulatedSite
from ipucloud.cli.session import Json
from ipucloud.wire.faults import FaultAction, FaultRule, LinkFault, ServersConfinement
from ipucloud.wire.inventory import LinkKind

app = typer.Typer(no_args_is_help=True, help="Break and repair the simulated site of `ipucloud up`.")
app.add_typer(sim_hardware.app)


@dataclass(frozen=True, slots=True)
class Kind:
    """A fault of calls: its command, the action of its rules, and what it does."""

    command: str
    action: FaultAction
    meaning: str
    example: str
    call: str | None = None
    """The only call that it applies to."""


CREATE_PARTITION = "vipu.CreatePartition"
OF_CALLS = (
    Kind("slow", FaultAction.LATENCY, "Delay the answers to calls.", "'hosts.*' --seconds 5"),
    Kind("refuse", FaultAction.STATUS, "Refuse calls before they take effect.", "networks.put --times 3"),
    Kind(
        "fail-after", FaultAction.STATUS_AFTER, "Answer calls with an error after they took effect.", "hosts.put_server"
    ),
    Kind("drop", FaultAction.DROP_ANSWER, "Break the connection after calls took effect.", "'vipu.*' --times 1"),
    Kind("stall", FaultAction.STALL, "Neither act on calls nor answer them.", "redfish.reset --for 60"),
    Kind("repeat", FaultAction.DUPLICATE, "Repeat the effect of calls later.", "networks.put --seconds 3"),
    Kind("stale", FaultAction.STALE, "Answer reads with earlier answers.", "hosts.get --for 30"),
    Kind(
        "fail-partition",
        FaultAction.FAIL_PARTITION,
        "Make the creation of partitions fail.",
        "--times 1",
        CREATE_PARTITION,
    ),
    Kind(
        "hang-partition",
        FaultAction.HANG_PARTITION,
        "Make the creation of partitions never finish.",
        "",
        CREATE_PARTITION,
    ),
)
OF_HARDWARE = (
    ("fail-machine", FaultAction.FAIL_MACHINE, "Break an IPU machine; partitions on it fail."),
    ("set-sensor", None, "Let a sensor of a machine show a reading."),
    ("fail-host", None, "Break a host: its server is not reachable."),
    ("fail-link", FaultAction.FAIL_LINK, "Break or degrade a machine's link."),
    ("forget-controller", None, "Make a V-IPU controller lose its state."),
    ("exchange", None, "Let a machine or host show another serial number."),
    ("show-as", None, "Let a machine or host show another model or firmware."),
    ("swap-machines", None, "Let two machines be cabled in each other's places."),
    ("hide", None, "Let a machine or host not be there any more."),
    ("add-machine", None, "Add a machine that nobody ordered."),
)

Call = Annotated[
    str, typer.Argument(help="Name of the calls, such as hosts.get or 'vipu.*'; see `ipucloud sim faults`.")
]
Target = Annotated[str, typer.Option("--object", help="Only calls about objects of this name; * and ? are patterns.")]
Seconds = Annotated[float, typer.Option(min=0.0, help="Delay of the answer, or of the repetition.")]
Times = Annotated[int | None, typer.Option(min=1, help="How often; default: until `ipucloud sim clear`.")]
Every = Annotated[int, typer.Option(min=1, help="Affect only one call in this many.")]
Probability = Annotated[float, typer.Option(min=0.0, max=1.0, help="Probability that a call is affected.")]
After = Annotated[float, typer.Option(min=0.0, help="Begin after this many seconds of simulated time.")]
Lasting = Annotated[
    float | None, typer.Option("--for", min=0.001, help="End after this many seconds of simulated time.")
]
Link = Annotated[LinkKind, typer.Argument(help="Which of its links.")]


@app.callback()
def sim() -> None:
    pass


@app.command("faults", cls=with_examples())
def faults(as_json: Json = False) -> None:
    """List the kinds of faults, and the calls that they apply to."""
    kinds = [(kind.command, kind.meaning) for kind in OF_CALLS] + [(name, what) for name, _, what in OF_HARDWARE]
    if as_json:
        output.write_json({"faults": [{"name": name, "meaning": what} for name, what in kinds], "calls": CALLS})
        return
    output.write_table(("FAULT", "MEANING"), kinds)
    typer.echo("\nCalls: " + ", ".join(CALLS))


@app.command("show", cls=with_examples())
def show(as_json: Json = False) -> None:
    """Show active faults, broken hardware, and what confines the programs of servers."""
    with opened() as site:
        rules, broken, changed, confinement = site.rules(), site.broken(), site.shown(), site.confinement()
    if as_json:
        output.write_json({"faults": rules, **dict(broken), "changed": changed, "confinement": confinement})
        return
    output.write_table(
        ("ID", "FAULT", "CALL", "OBJECT", "HITS"),
        [(rule.id, _named(rule), rule.call, rule.machine or rule.target, rule.hits) for rule in rules],
    )
    links = ", ".join(f"{each.machine}/{each.kind} ({each.state})" for each in broken.links)
    output.write_facts(
        (
            ("broken machines", ", ".join(broken.machines)),
            ("broken hosts", ", ".join(broken.hosts)),
            ("broken links", links),
        )
    )
    output.write_facts([("changed", f"{each.name}: {sim_hardware.described(each)}") for each in changed])
    output.write_facts(_wall(confinement))


def _wall(confinement: ServersConfinement) -> list[tuple[str, str]]:
    wall = confinement.problem or confinement.wall or ""
    return [("wall around programs", wall), *(("weaker than namespaces", each) for each in confinement.weaknesses)]


@app.command("clear", cls=with_examples("", "fault-3", "--repair"))
def clear(
    rule: Annotated[str | None, typer.Argument(help="Id of one fault; default: all.")] = None,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Also repair all machines, hosts and links, and let hardware show what it was built with."
        ),
    ] = False,
) -> None:
    """End faults of calls. Hardware stays broken unless --repair is given."""
    with opened() as site:
        site.lift(rule)
        if repair:
            _repair_all(site)


def _repair_all(site: SimulatedSite) -> None:
    for each in site.shown():
        site.show_as_built(each.name)
    broken = site.broken()
    for name in broken.machines:
        site.change("machines", name, "repair")
    for name in broken.hosts:
        site.change("hosts", name, "repair")
    for link in broken.links:
        site.change_link(link.machine, link.kind, "repair")


@app.command("fail-machine", cls=with_examples("lux2-p001-m07", "lux2-p001-m07 --after 600 --for 1800"))
def fail_machine(machine: Machine, after: After = 0.0, lasting: Lasting = None) -> None:
    """Break an IPU machine; partitions on it fail. With --for, it recovers by itself."""
    with opened() as site:
        name = site.machine(machine)
        if after or lasting is not None:
            site.add(FaultRule(call=CLOCK, action=FaultAction.FAIL_MACHINE, machine=name, after=after, lasting=lasting))
        else:
            site.change("machines", name, "fail")
    _done(f"{name} fails." if after else f"{name} is broken.", f"ipucloud sim repair-machine {name}")


@app.command("repair-machine", cls=with_examples("lux2-p001-m07"))
def repair_machine(machine: Machine) -> None:
    """Repair an IPU machine; its sensors show usual values again."""
    with opened() as site:
        site.change("machines", site.machine(machine), "repair")


@app.command("set-sensor", cls=with_examples("lux2-p001-m07 die_temperature 97.5"))
def set_sensor(
    machine: Machine,
    sensor: Annotated[str, typer.Argument(help="inlet_temperature or die_temperature.")],
    reading: Annotated[float, typer.Argument(help="In degrees Celsius.")],
) -> None:
    """Let a sensor of an IPU machine show a reading. The machine works as before."""
    with opened() as site:
        name = site.machine(machine)
        site.set_sensor(name, sensor, reading)
    _done(f"{sensor} of {name} shows {reading}.", f"ipucloud sim repair-machine {name}")


@app.command("fail-host", cls=with_examples("lux2-h003"))
def fail_host(host: Host) -> None:
    """Break a host: its server is not reachable."""
    with opened() as site:
        name = site.host(host)
        site.change("hosts", name, "fail")
    _done(f"{name} is broken.", f"ipucloud sim repair-host {name}")


@app.command("repair-host", cls=with_examples("lux2-h003"))
def repair_host(host: Host) -> None:
    """Repair a host."""
    with opened() as site:
        site.change("hosts", site.host(host), "repair")


@app.command("fail-link", cls=with_examples("lux2-p001-m07 next", "lux2-p001-m07 internal --degraded"))
def fail_link(
    machine: Machine,
    link: Link,
    degraded: Annotated[bool, typer.Option("--degraded", help="It carries traffic with errors.")] = False,
) -> None:
    """Break or degrade a machine's link."""
    with opened() as site:
        name = site.machine(machine)
        site.change_link(name, link, "fail", LinkFault(state="degraded" if degraded else "down"))
    _done(f"{name}/{link} is {'degraded' if degraded else 'down'}.", f"ipucloud sim repair-link {name} {link}")


@app.command("repair-link", cls=with_examples("lux2-p001-m07 next"))
def repair_link(machine: Machine, link: Link) -> None:
    """Repair a link of a machine."""
    with opened() as site:
        site.change_link(site.machine(machine), link, "repair")


@app.command("forget-controller", cls=with_examples("luxembourg-2"))
def forget_controller(
    controller: Annotated[str, typer.Argument(help="Its name: that of its region, if it is the only one there.")],
) -> None:
    """Make a V-IPU controller lose its state. This cannot be undone."""
    with opened() as site:
        site.change("controllers", site.controller(controller), "forget")


def _add_command(kind: Kind) -> None:
    """A command that adds a rule of this kind."""

    def of_call(
        call: Call,
        *,
        target: Target = "*",
        seconds: Seconds = 0.0,
        times: Times = None,
        every: Every = 1,
        probability: Probability = 1.0,
        after: After = 0.0,
        lasting: Lasting = None,
    ) -> None:
        fault = FaultRule(
            call=call,
            target=target,
            action=kind.action,
            seconds=seconds,
            times=times,
            every=every,
            probability=probability,
            after=after,
            lasting=lasting,
        )
        with opened() as site:
            added = site.add(fault)
        _done(f"{added.id} is in force.", f"ipucloud sim clear {added.id}")

    def of_partitions(
        *, times: Times = None, probability: Probability = 1.0, after: After = 0.0, lasting: Lasting = None
    ) -> None:
        of_call(kind.call or "*", times=times, probability=probability, after=after, lasting=lasting)

    function: Callable[..., Any] = of_call if kind.call is None else of_partitions
    app.command(kind.command, cls=with_examples(kind.example), help=kind.meaning)(function)


for _kind in OF_CALLS:
    _add_command(_kind)


def _named(rule: FaultRule) -> str:
    """The command that made a rule."""
    by_action = {kind.action: kind.command for kind in OF_CALLS} | {
        action: name for name, action, _ in OF_HARDWARE if action
    }
    return by_action[rule.action]


def _done(sentence: str, undo: str) -> None:
    typer.echo(f"{sentence} To end it: {undo}")
