"""One pass over a controller: read what exists, request what is missing, read back. Uses no database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum

import structlog

from ipucloud.contract.partitions import PartitionState as State
from ipucloud.partitions.inputs import PartitionInputs, Record
from ipucloud.partitions.plan import Action, Make, Remove, Reset, plan
from ipucloud.partitions.room import Room, room
from ipucloud.site.errors import SiteBusy, SiteError, SiteRefused
from ipucloud.site.ports import IpuofGcd, Link, PartitionRequest, PartitionState, SeenPartition, Site

log = structlog.get_logger(__name__)

MAX_CONFIGS = 16
"""IPUoF configurations that one pass reads; the next pass continues."""


class Answer(StrEnum):
    """The result of an action.

    `announce`: a reset must be recorded before it is sent. `waits`: a reset that may still be in flight must have
    expired before another is sent.
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

    `links` None: they were not requested, or the controller does not report them.
    """

    seen: Mapping[str, SeenPartition]
    room: Room
    answers: Mapping[str, Answer] = field(default_factory=dict)
    configs: Mapping[str, Sequence[IpuofGcd]] = field(default_factory=dict)
    links: Sequence[Link] | None = None


@dataclass(frozen=True, slots=True)
class NotObserved:
    """Nothing is known. `outage`: the controller did not answer; otherwise this worker had no free slot for it."""

    detail: str
    outage: bool = True
    recheck: float | None = None


async def observe(site: Site, inputs: PartitionInputs, fence: int, request_life: float) -> Observation:
    """Raises SiteError when the controller cannot be read; the outcome of earlier requests is then unknown."""
    seen = await _read(site, inputs)
    actions = plan((record.desired for record in inputs.records), seen)
    answers = {}
    for action in actions:
        answers[action.name] = await _carry_out(site, inputs, action, fence, request_life)
    if any(answer not in {Answer.ANNOUNCE, Answer.WAITS} for answer in answers.values()):
        seen = await _read(site, inputs)
    taken = (ipu.place for each in seen.values() for ipu in each.ipus)
    links = None if inputs.operation is not None else await _links(site, inputs)
    return Observation(seen, room(inputs.places, taken), answers, await _configs(site, inputs, seen), links)


async def _read(site: Site, inputs: PartitionInputs) -> dict[str, SeenPartition]:
    return {each.id: each for each in await site.vipu.partitions_of(inputs.external_name)}


async def _links(site: Site, inputs: PartitionInputs) -> Sequence[Link] | None:
    """The current links. A pass that an operation waits for does not read them."""
    try:
        return await site.vipu.links(inputs.external_name)
    except SiteError as error:
        log.info("links_not_told", error=str(error))
        return None


async def _carry_out(site: Site, inputs: PartitionInputs, action: Action, fence: int, request_life: float) -> Answer:
    record = inputs.by_name[action.name]
    if isinstance(action, Reset) and record.fence != fence:
        # A reset still in flight could arrive at a partition in use: none is sent again within `request_life`.
        surely_dead = record.sent_for is None or record.sent_for > request_life
        return Answer.ANNOUNCE if surely_dead else Answer.WAITS
    try:
        return await _ask(site, inputs, action, record)
    except SiteRefused as error:
        log.warning("partition_refused", partition=action.name, error=str(error))
        return Answer.REFUSED
    except SiteBusy as error:
        log.warning("partition_busy", partition=action.name, error=str(error))
        return Answer.BUSY
    except SiteError as error:
        log.warning("partition_unknown", partition=action.name, error=str(error))
        return Answer.UNKNOWN


async def _ask(site: Site, inputs: PartitionInputs, action: Action, record: Record) -> Answer:
    match action:
        case Make(name=name, shape=shape):
            await site.vipu.create_partition(PartitionRequest(name, inputs.external_name, **asdict(shape)))
        case Reset(name=name):
            if not await site.vipu.reset_partition(name, relocatable=record.relocatable):
                return Answer.REFUSED
        case Remove(name=name):
            await site.vipu.remove_partition(name)
    return Answer.DONE


async def _configs(
    site: Site, inputs: PartitionInputs, seen: Mapping[str, SeenPartition]
) -> dict[str, Sequence[IpuofGcd]]:
    """The configurations of partitions that came up or moved since the last reading."""
    wanted = [each for each in seen.values() if _needs_config(inputs, each)][:MAX_CONFIGS]
    found = {}
    for each in wanted:
        try:
            config = await site.vipu.ipuof_config(each.id, each.shape)
        except SiteError as error:
            log.warning("ipuof_config_unknown", partition=each.id, error=str(error))
        else:
            if config is not None:
                found[each.id] = config
    return found


def _needs_config(inputs: PartitionInputs, seen: SeenPartition) -> bool:
    record = inputs.by_name.get(seen.id)
    if seen.state is not PartitionState.ACTIVE or (record is not None and record.removed):
        return False
    if record is None or not record.has_config or record.state is not State.ACTIVE:
        return True
    return record.observed != as_stored(seen, inputs)


def as_stored(seen: SeenPartition, inputs: PartitionInputs) -> dict[str, object]:
    """The stored part of an observation: the shape, and the IPUs with the names of their machines."""
    shape = {name: value for name, value in asdict(seen.shape).items() if name not in {"auto_reset", "relocatable"}}
    return shape | {
        "ipus": [
            {
                "machine": inputs.machines.get((ipu.place.domain, ipu.place.ipu // 4)),
                "ipu": ipu.place.ipu % 4,
                "domain": ipu.place.domain,
                "segment": ipu.segment,
                "number": ipu.number,
            }
            for ipu in seen.ipus
        ]
    }
