"""What a reading says is wrong, given what the hardware is used for. Pure."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from ipucloud.inventory.health.codes import CODES, Code, Kind, Source
from ipucloud.inventory.health.judge import Asked, Fact, LiveReport
from ipucloud.kernel.clock import Clock
from ipucloud.observation.expected import Expected, Host, Machine
from ipucloud.observation.reading import ControllerReading, Reading
from ipucloud.site.vipu_ports import Agent, Link
from ipucloud.wire.inventory import LinkState
from ipucloud.wire.redfish import RedfishSystem
from ipucloud.wire.site import Host as SeenHost
from ipucloud.wire.site import HostState

CRITICAL = "Critical"
PLAUSIBLE = {"Cel": (-40.0, 150.0), "RPM": (0.0, 60_000.0), "V": (0.0, 100.0), "W": (0.0, 10_000.0)}
"""Lowest and highest reading that a working sensor can have, by UCUM unit; our choice."""


@dataclass
class Findings:
    """The facts of a reading, and who answered for which object: what answered without a fact is good."""

    facts: list[Fact] = field(default_factory=list)
    answered: set[Asked] = field(default_factory=set)

    def add(self, kind: Kind, object_id: UUID, source: Source, code: Code, detail: str) -> None:
        self.facts.append(Fact(kind, object_id, source, code, detail))


def find(expected: Expected, reading: Reading, stuck: Collection[UUID] = ()) -> Findings:
    """The findings of everything that was read; a source that was not read finds nothing, bad or good.

    `stuck`: the machines whose power has been changing for too long.
    """
    findings = Findings()
    if reading.machines is not None:
        _machines(findings, expected, reading.machines, stuck)
    for controller in reading.controllers.values():
        if controller.error is None:
            _controller(findings, expected, reading.machines, controller)
    if reading.machines is not None:
        _partitions(findings, expected, reading.answering)
    if reading.hosts is not None:
        for host in expected.hosts:
            _host(findings, host, reading.hosts.get(host.name), reading.keys)
    return findings


def _machines(
    findings: Findings, expected: Expected, systems: Mapping[str, RedfishSystem], stuck: Collection[UUID]
) -> None:
    usual = _usual_firmware(expected, systems)
    for machine in expected.machines:
        system = systems.get(machine.name)
        if system is None:
            findings.add("machine", machine.id, Source.BMC, Code.NOT_OBSERVED, "its BMC does not answer")
            continue
        findings.answered.add((machine.id, Source.BMC))
        for code, detail in _machine(machine, system, usual.get(machine.pod_id)):
            findings.add("machine", machine.id, Source.BMC, code, detail)
        if machine.id in stuck:
            findings.add("machine", machine.id, Source.BMC, Code.POWER_STUCK, f"power state {system.PowerState}")


def _machine(machine: Machine, system: RedfishSystem, firmware: str | None) -> Iterator[tuple[Code, str]]:
    if system.Status.Health == CRITICAL:
        yield Code.BMC_CRITICAL, f"Redfish health {system.Status.Health}, state {system.Status.State}"
    # A server with IPUs of its own can be switched off by its customer: its host says so.
    elif machine.in_use and not machine.is_server and system.PowerState == "Off":
        yield Code.POWERED_OFF, f"power state {system.PowerState}"
    yield from _sensors(system)
    if firmware is not None and system.BiosVersion != firmware:
        yield Code.FIRMWARE_DIFFERS, f"firmware {system.BiosVersion}, others of its pod {firmware}"


def _sensors(system: RedfishSystem) -> Iterator[tuple[Code, str]]:
    """What sensors say. One that shows what cannot be is no evidence of heat, but of a sensor that needs attention."""
    critical, warning = [], []
    for sensor in system.Sensors:
        lowest, highest = PLAUSIBLE.get(sensor.ReadingUnits, (-math.inf, math.inf))
        plausible = sensor.Reading is not None and lowest <= sensor.Reading <= highest
        shown = f"{sensor.Name} {sensor.Reading} {sensor.ReadingUnits}"
        if plausible and sensor.Health == CRITICAL:
            critical.append(shown)
        else:
            warning.append(shown if plausible else f"{shown}, which is not plausible")
    if system.Status.Health == "Warning" and not system.Sensors:
        warning.append("Redfish health Warning")
    if critical:
        yield Code.SENSOR_CRITICAL, ", ".join(critical)
    if warning:
        yield Code.SENSOR_WARNING, ", ".join(warning)


def _usual_firmware(expected: Expected, systems: Mapping[str, RedfishSystem]) -> dict[UUID, str]:
    """The firmware of most machines of each pod; none where no version is that of more than half."""
    pods: defaultdict[UUID, Counter[str]] = defaultdict(Counter)
    for machine in expected.machines:
        if (system := systems.get(machine.name)) is not None:
            pods[machine.pod_id][system.BiosVersion] += 1
    usual = {pod: versions.most_common(1)[0] for pod, versions in pods.items()}
    return {pod: version for pod, (version, count) in usual.items() if 2 * count > pods[pod].total()}


def _controller(
    findings: Findings, expected: Expected, systems: Mapping[str, RedfishSystem] | None, reading: ControllerReading
) -> None:
    """Links and allocations are judged by what the controller alone shows; nothing is found good without the BMCs."""
    machines = [each for each in expected.machines if each.controller == reading.name]
    if systems is not None:
        _agents(findings, machines, systems, reading.agents)
    _links(findings, machines, reading.links)
    _allocations(findings, machines, reading.allocations, reading.users)


def _agents(
    findings: Findings, machines: Iterable[Machine], systems: Mapping[str, RedfishSystem], agents: Mapping[str, Agent]
) -> None:
    """Agents are expected to answer while a customer works with their machine, and it is on and not failed itself."""
    for machine in machines:
        system, agent = systems.get(machine.name), agents.get(machine.name)
        if system is None:
            continue
        findings.answered.add((machine.id, Source.VIPU))
        on = system.PowerState == "On" and system.Status.Health != CRITICAL
        if machine.in_use and on and (agent is None or not agent.reachable):
            findings.add("machine", machine.id, Source.VIPU, Code.AGENT_UNREACHABLE, "its V-IPU agent does not answer")


def _links(findings: Findings, machines: Iterable[Machine], links: Iterable[Link]) -> None:
    """A link is reported with the machine where it begins, unless a cluster is just being built or removed there."""
    by_name = {machine.name: machine for machine in machines}
    impaired: defaultdict[tuple[UUID, Code], list[str]] = defaultdict(list)
    for link in links:
        first = by_name.get(link.ends[0])
        if first is not None and (first.holder is None or first.in_use):
            code = Code.LINK_DOWN if link.state is LinkState.DOWN else Code.LINK_DEGRADED
            impaired[first.id, code].append(f"{link.kind} to {link.ends[1]}")
    for (machine_id, code), ends in impaired.items():
        findings.add("machine", machine_id, Source.VIPU, code, f"links {', '.join(sorted(ends))}")


def _allocations(
    findings: Findings, machines: Iterable[Machine], allocations: Collection[str], users: Collection[str] | None
) -> None:
    """A cluster in use has its allocation and user: they were there before it was in use, and nobody removes them.

    An allocation without its user, as a controller has it that was restored from an older state, is of no use either.
    """
    for machine in machines:
        if machine.holder is None or not machine.holder.in_use:
            continue
        name = machine.holder.external_name
        if name not in allocations:
            detail = f"the controller has no allocation {name}"
        elif users is not None and name not in users:
            detail = f"the controller has no user {name} who sees the allocation"
        else:
            continue
        findings.add("machine", machine.id, Source.VIPU, Code.ALLOCATION_LOST, detail)


def _partitions(findings: Findings, expected: Expected, answering: Collection[str]) -> None:
    """A partition can stay in error after its hardware works again: this is reported of the machine that had failed.

    When none is known to have failed, it is reported of all machines of the partition, but for those that have a fault
    of their own.
    """
    in_use = {each.id for each in expected.machines if each.in_use and each.controller in answering}
    failing = {fact.object_id for fact in findings.facts if CODES[fact.kind][fact.code].credited}
    partitions: defaultdict[UUID, list[str]] = defaultdict(list)
    for broken in expected.broken:
        machines = set(broken.machines)
        concerned = set(broken.reported)
        if not broken.resetting:
            concerned = (concerned | set(broken.blamed) | (failing & machines)) or machines
        for machine_id in (concerned & in_use) - failing:
            partitions[machine_id].append(broken.name)
    for machine_id, names in partitions.items():
        detail = f"partitions {', '.join(sorted(names))}"
        findings.add("machine", machine_id, Source.VIPU, Code.PARTITION_ERROR, detail)


def _host(findings: Findings, host: Host, shown: SeenHost | None, keys: Mapping[str, str | None]) -> None:
    if shown is None:
        findings.add("host", host.id, Source.HOST, Code.NOT_OBSERVED, "the site does not list it")
        return
    findings.answered.add((host.id, Source.HOST))
    server = host.running_server
    if shown.state is HostState.FAILED:
        findings.add("host", host.id, Source.HOST, Code.HOST_FAILED, shown.detail or "the site reports it as failed")
    elif server is not None and shown.state is HostState.OFF:
        findings.add("host", host.id, Source.HOST, Code.SERVER_OFF, "the server is off")
    elif server is not None and shown.server is None:
        findings.add("host", host.id, Source.HOST, Code.HOST_FAILED, f"the host has lost its server {server.name}")
    if server is None or shown.state is not HostState.RUNNING:
        findings.answered.add((host.id, Source.SSH))  # nobody is expected to answer there
    elif host.name in keys:
        findings.answered.add((host.id, Source.SSH))
        key = keys[host.name]
        if key is None:
            findings.add("host", host.id, Source.SSH, Code.SSH_UNREACHABLE, f"{server.ssh_host}:{server.ssh_port}")
        elif key.split()[:2] != (server.host_key or "").split()[:2]:
            findings.add("host", host.id, Source.SSH, Code.HOST_KEY_CHANGED, f"presents {key[:100]}")


_SETTLED = frozenset({"On", "Off"})


class PowerWatch:
    """Remembers, in this process, since when each machine's power has been changing.

    Another process begins to count anew, but what is reported stays so until the power has settled.
    """

    def __init__(self, clock: Clock, limit: float) -> None:
        self._clock = clock
        self._limit = limit
        self._since: dict[UUID, float] = {}

    def stuck(
        self, machines: Collection[Machine], systems: Mapping[str, RedfishSystem] | None, live: Collection[LiveReport]
    ) -> frozenset[UUID]:
        """The machines that have been switching on or off for longer than the limit, in seconds.

        `systems`: what was read of them by name, None when nothing was.
        """
        now = self._clock.monotonic()
        if systems is not None:
            changing = [each.id for each in machines if _changing(systems.get(each.name))]
            self._since = {machine: self._since.get(machine, now) for machine in changing}
        reported = {each.object_id for each in live if each.code is Code.POWER_STUCK}
        return frozenset(
            machine for machine, since in self._since.items() if machine in reported or now - since > self._limit
        )


def _changing(system: RedfishSystem | None) -> bool:
    return system is not None and system.PowerState not in _SETTLED
