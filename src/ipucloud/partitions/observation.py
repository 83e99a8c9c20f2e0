"""One pass over a controller: read what exists, request what is missing, read back. Uses no database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from enum import StrEnum

import structlog

from ipucloud.contract.partitions import PartitionState as State
from ipucloud.partitions.inputs import HeldIpu, PartitionInputs, Record
from ipucloud.partitions.plan import Action, Make, Remove, Reset, plan
from ipucloud.partitions.room import Room, room
from ipucloud.partitions.states import DesiredState
from ipucloud.site.ports import Site, SiteBusy, SiteError, SiteRefused
from ipucloud.site.vipu_ports import (
    IpuofGcd,
    Link,
    PartitionIpu,
    PartitionRequest,
    PartitionState,
    PartitionStatus,
    SeenPartition,
)

log = structlog.get_logger(__name__)

MAX_CONFIGS = 16
"""IPUoF configurations that one pass reads; the next pass continues."""
MAX_STATUSES = 32
"""Partitions that are not active and of which one pass reads why."""


class Answer(StrEnum):
    """The result of an action.

    `announce`: a reset must be recorded before it is sent. `waits`: a reset
    that may still be in flight must have expired before another is sent.
    """

    DONE = "done"
    REFUSED = "refused"
    BUSY = "busy"
    UNKNOWN = "unknown"
    ANNOUNCE = "announce"
    WAITS = "waits"


@dataclass(frozen=True)
class Observation:
    """What the controller finally showed, and its answer to each action, by name.

    `statuses` has what it says of those that are not active, `refusals` why it did not do what it was asked. `links`
    None: they were not requested, or the controller does not report them. `lost`: it has no allocation of the cluster,
    and was asked for nothing. `leaving`: the names of partitions that are being removed; `room_without` them.
    """

    partitions: Mapping[str, SeenPartition]
    room: Room
    answers: Mapping[str, Answer] = field(default_factory=dict)
    configs: Mapping[str, Sequence[IpuofGcd]] = field(default_factory=dict)
    links: Sequence[Link] | None = None
    statuses: Mapping[str, PartitionStatus] = field(default_factory=dict)
    refusals: Mapping[str, str] = field(default_factory=dict)
    lost: bool = False
    leaving: Sequence[str] = ()
    room_without: Room = field(default_factory=lambda: Room(()))


@dataclass(frozen=True, slots=True)
class NotObserved:
    """Nothing is known. `outage`: the controller did not answer; otherwise this worker had no free slot for it."""

    detail: str
    outage: bool = True
    recheck: float | None = None


async def observe(site: Site, inputs: PartitionInputs, fence: int, request_life: float) -> Observation:
    """Raises SiteError when the controller cannot be read; the outcome of earlier requests is then unknown."""
    partitions = await _read(site, inputs)
    if not partitions and await site.vipu.allocation(inputs.external_name) is None:
        return Observation(partitions, room(inputs.places, ()), lost=True)
    resting = {each.partition.id for each in inputs.operated if each.rests}
    actions = plan((record.desired for record in inputs.records if record.id not in resting), partitions)
    answers: dict[str, Answer] = {}
    refusals: dict[str, str] = {}
    for action in actions:
        with _operation_bound(inputs, action):
            answers[action.name] = await _carry_out(
                site, inputs, action, refusals, fence=fence, request_life=request_life
            )
    if any(answer not in {Answer.ANNOUNCE, Answer.WAITS} for answer in answers.values()):
        partitions = await _read(site, inputs)
    leaving = {
        record.external_name: record.name
        for record in inputs.records
        if record.desired_state is DesiredState.ABSENT and record.external_name in partitions
    }
    return Observation(
        partitions,
        _room_beside(inputs, partitions.values()),
        answers,
        configs=await _configs(site, inputs, partitions),
        links=None if inputs.operated else await _links(site, inputs),
        statuses=await _statuses(site, inputs, partitions),
        refusals=refusals,
        leaving=sorted(leaving.values()),
        room_without=_room_beside(inputs, (each for name, each in partitions.items() if name not in leaving)),
    )


def _room_beside(inputs: PartitionInputs, partitions: Iterable[SeenPartition]) -> Room:
    held = (inputs.held.get(ipu.physical) for each in partitions for ipu in each.ipus)
    return room(inputs.places, (ipu.place for ipu in held if ipu is not None))


def _operation_bound(inputs: PartitionInputs, action: Action) -> AbstractContextManager[object]:
    """What is logged meanwhile names the operation that the action belongs to."""
    operation = inputs.operation_of.get(inputs.by_name[action.name].id)
    if operation is None:
        return nullcontext()
    return structlog.contextvars.bound_contextvars(operation_id=str(operation.id), request_id=operation.request_id)


async def _statuses(
    site: Site, inputs: PartitionInputs, partitions: Mapping[str, SeenPartition]
) -> dict[str, PartitionStatus]:
    """What the controller says of partitions that are not active; of those that are it has nothing to say."""
    troubled = sorted(name for name, each in partitions.items() if each.state is not PartitionState.ACTIVE)
    statuses = {}
    for name in troubled[:MAX_STATUSES]:
        try:
            status = await site.vipu.partition_status(inputs.external_name, name)
        except SiteError as error:
            log.warning("partition_status_unknown", partition=name, error=str(error))
        else:
            if status is not None and status.state is partitions[name].state:
                statuses[name] = status
    return statuses


async def _read(site: Site, inputs: PartitionInputs) -> dict[str, SeenPartition]:
    return {each.id: each for each in await site.vipu.partitions_of(inputs.external_name)}


async def _links(site: Site, inputs: PartitionInputs) -> Sequence[Link] | None:
    """The current links. A pass that an operation waits for does not read them."""
    try:
        return await site.vipu.links(inputs.external_name)
    except SiteError as error:
        log.info("links_not_told", error=str(error))
        return None


async def _carry_out(
    site: Site, inputs: PartitionInputs, action: Action, refusals: dict[str, str], *, fence: int, request_life: float
) -> Answer:
    """The answer; why the controller refused is added to `refusals`."""
    record = inputs.by_name[action.name]
    if isinstance(action, Reset) and record.fence != fence:
        # A reset still in flight could arrive at a partition in use: none is sent again within `request_life`.
        surely_dead = record.sent_for is None or record.sent_for > request_life
        return Answer.ANNOUNCE if surely_dead else Answer.WAITS
    try:
        return await _ask(site, inputs, action, record)
    except SiteRefused as error:
        log.warning("partition_refused", partition=action.name, error=str(error))
        refusals[action.name] = str(error)
        return Answer.REFUSED
    except SiteBusy as error:
        log.warning("partition_busy", partition=action.name, error=str(error))
        refusals[action.name] = str(error)
        return Answer.BUSY
    except SiteError as error:
        log.warning("partition_unknown", partition=action.name, error=str(error))
        return Answer.UNKNOWN


async def _ask(site: Site, inputs: PartitionInputs, action: Action, record: Record) -> Answer:
    match action:
        case Make(name=name, shape=shape):
            request = PartitionRequest(name, inputs.external_name, **asdict(shape))
            await site.vipu.create_partition(request)  # one that exists already is read back
        case Reset(name=name):
            if not await site.vipu.reset_partition(inputs.external_name, name, relocatable=record.relocatable):
                return Answer.REFUSED
        case Remove(name=name):
            await site.vipu.remove_partition(inputs.external_name, name)
    return Answer.DONE


async def _configs(
    site: Site, inputs: PartitionInputs, partitions: Mapping[str, SeenPartition]
) -> dict[str, Sequence[IpuofGcd]]:
    """The configurations of partitions that came up or moved since the last reading."""
    lacking = [each for each in partitions.values() if _needs_config(inputs, each)][:MAX_CONFIGS]
    configs = {}
    for partition in lacking:
        try:
            config = await site.vipu.ipuof_config(inputs.external_name, partition.id, partition.shape)
        except SiteError as error:
            log.warning("ipuof_config_unknown", partition=partition.id, error=str(error))
        else:
            if config is not None:
                configs[partition.id] = config
    return configs


def _needs_config(inputs: PartitionInputs, partition: SeenPartition) -> bool:
    record = inputs.by_name.get(partition.id)
    if partition.state is not PartitionState.ACTIVE or (record is not None and record.removed):
        return False
    if record is None or not record.has_config or record.state is not State.ACTIVE:
        return True
    return record.observed != as_stored(partition, inputs)


def as_stored(partition: SeenPartition, inputs: PartitionInputs) -> dict[str, object]:
    """The stored part of an observation: the shape, and the IPUs with the names of their machines."""
    shape = {
        name: value for name, value in asdict(partition.shape).items() if name not in {"auto_reset", "relocatable"}
    }
    return shape | {"ipus": [_ipu_as_stored(ipu, inputs.held.get(ipu.physical)) for ipu in partition.ipus]}


def _ipu_as_stored(ipu: PartitionIpu, held: HeldIpu | None) -> dict[str, object]:
    """An IPU that is none of the cluster's has no machine, and the number that the controller gives it."""
    return {
        "machine": None if held is None else held.machine,
        "ipu": ipu.physical.topology_id if held is None else held.ipu,
        "domain": ipu.physical.domain,
        "segment": ipu.segment,
        "number": ipu.number,
    }
