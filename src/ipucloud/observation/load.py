"""How busy clusters in use are, of what a reading of their hardware shows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar
from uuid import UUID

from ipucloud.db.rows import Query
from ipucloud.observation.expected import Expected, Holder, Host, Machine
from ipucloud.observation.reading import Reading
from ipucloud.programs.samples.store import Sample
from ipucloud.wire.redfish import RedfishMetrics
from ipucloud.wire.site import Host as SeenHost
from ipucloud.wire.site import HostState

Number = TypeVar("Number", int, float)


class PartitionCount(NamedTuple):
    """The partitions of a cluster in use, and how many of them were active when their controller was last asked."""

    cluster_id: UUID
    partitions: int
    active: int


PARTITIONS = Query(
    """
    SELECT p.cluster_id, count(*)::integer AS partitions,
           (count(*) FILTER (WHERE p.state = 'active'))::integer AS active
      FROM clusters c JOIN partitions p ON p.project_id = c.project_id AND p.cluster_id = c.id AND p.removed_at IS NULL
     WHERE c.region = :region AND c.state IN ('active', 'degraded')
     GROUP BY p.cluster_id
    """,
    PartitionCount,
)


def samples_of(expected: Expected, reading: Reading, partitions: Iterable[PartitionCount]) -> list[Sample]:
    """A sample of each cluster in use of which any hardware answered, in the order of their ids."""
    machines: defaultdict[Holder, list[Machine]] = defaultdict(list)
    hosts: defaultdict[Holder, list[Host]] = defaultdict(list)
    for machine in expected.machines:
        if machine.holder is not None and machine.in_use:
            machines[machine.holder].append(machine)
    for host in expected.hosts:
        if host.holder is not None and host.running_server is not None:
            hosts[host.holder].append(host)
    counted = {each.cluster_id: each for each in partitions}
    samples = (_sample(each, machines[each], hosts[each], reading, counted) for each in {*machines, *hosts})
    return sorted((each for each in samples if each is not None), key=lambda each: each.cluster_id)


def _sample(
    holder: Holder,
    machines: Sequence[Machine],
    hosts: Sequence[Host],
    reading: Reading,
    counted: Mapping[UUID, PartitionCount],
) -> Sample | None:
    systems = reading.machines or {}
    answered = [system.Metrics for each in machines if (system := systems.get(each.name)) is not None]
    measured = [each for each in answered if each is not None]
    servers = _running(hosts, reading.hosts or {})
    if not measured and not servers:
        return None
    count = counted.get(holder.cluster_id, PartitionCount(holder.cluster_id, 0, 0))
    used = _known(measured, "BandwidthPercent")
    hottest = _known(measured, "TemperatureCelsius")
    processors = [each.cpu_percent for each in servers if each.cpu_percent is not None]
    return Sample(
        holder.project_id,
        holder.cluster_id,
        len(machines),
        len(measured),
        sum(used) / len(used) if used else None,
        _total(_known(measured, "ConsumedPowerWatt")),
        max(hottest, default=None),
        _errors(measured),
        _of_all([each.attached_ipus for each in servers], len(hosts)),
        count.partitions,
        count.active,
        sum(processors) / len(processors) if processors else None,
        _of_all([each.memory_used_bytes for each in servers], len(hosts)),
        _of_all([each.memory_bytes for each in servers], len(hosts)),
    )


def _running(hosts: Sequence[Host], shown: Mapping[str, SeenHost]) -> list[SeenHost]:
    """The hosts that were seen to run the server that is expected on them."""
    running = []
    for expected in hosts:
        host = shown.get(expected.name)
        if host is None or host.state is not HostState.RUNNING or host.server is None or expected.server is None:
            continue
        if host.server.name == expected.server.name:
            running.append(host)
    return running


def _known(measured: Sequence[RedfishMetrics], name: str) -> list[float]:
    return [value for each in measured if (value := getattr(each, name)) is not None]


def _errors(measured: Sequence[RedfishMetrics]) -> int | None:
    return _total([each.CorrectableErrorCount for each in measured if each.CorrectableErrorCount is not None])


def _total(values: Sequence[Number]) -> Number | None:
    return sum(values) if values else None


def _of_all(values: Sequence[int | None], servers: int) -> int | None:
    """The sum over so many servers; None unless all of them show it: part of it would pass for the whole."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == servers else None
