"""The life of a partition in the controller's own time: what is stored decides, whenever somebody asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ipucloud.laboratory.simulator.durations import Durations
from ipucloud.laboratory.simulator.hardware import build_regions
from ipucloud.laboratory.simulator.refusal import Reason, Refusal
from ipucloud.laboratory.simulator.settings import Settings
from ipucloud.laboratory.simulator.vipu.controller import Controller
from ipucloud.laboratory.simulator.vipu.model import Operation, Partition, Ready
from ipucloud.laboratory.simulator.vipu.partitions import MAX_AUTO_RESETS
from ipucloud.wire import vipu_pb2 as pb

LONG = 3600.0


@dataclass
class ManualClock:
    """A clock that stands still until it is moved, and machines that break on demand."""

    time: float = 1_800_000_000.0
    silent: set[str] = field(default_factory=set)

    def now(self) -> float:
        return self.time

    def reachable(self, agent: str) -> bool:
        return agent not in self.silent


@dataclass
class World:
    clock: ManualClock
    controller: Controller
    agents: list[str]

    def create(self, name: str, size: int, **request: bool) -> Partition:
        requirements = pb.PartitionRequirements(id=name, size=size, allocation_id="a")
        return self.controller.partitions.create(pb.CreatePartitionRequest(requirements=requirements, **request))

    def later(self, seconds: float = LONG) -> None:
        self.clock.time += seconds
        self.controller.advance()

    def break_machine(self, agent: str) -> None:
        self.clock.silent.add(agent)
        self.controller.hardware_changed([agent])

    def state(self, name: str) -> tuple[Ready, Operation]:
        partition = self.controller.partitions.get(name)
        return partition.ready, partition.operation


@pytest.fixture
def world(tmp_path: Path) -> World:
    clock = ManualClock()
    region = build_regions(Settings(data=tmp_path, token="t", machines=16))["luxembourg-2"]
    controller = Controller(
        region, tmp_path / "vipu.json", clock=clock, durations=Durations(1), reachable=clock.reachable, fsync=False
    )
    agents = [agent.name for agent in controller.agents()[:4]]
    controller.allocations.create("a", controller.clusters.all()[0].id, agents, 0)
    return World(clock, controller, agents)


def test_creation_and_reset_take_their_time(world: World) -> None:
    world.create("p", 16)
    world.later(1)
    assert world.state("p") == (Ready.PENDING, Operation.CREATING)
    with pytest.raises(Refusal) as caught:
        world.controller.partitions.reset("p", relocatable=False)
    assert caught.value.reason is Reason.PRECONDITION
    world.later()
    assert world.state("p") == (Ready.ACTIVE, Operation.IDLE)
    world.controller.partitions.reset("p", relocatable=False)
    assert world.state("p") == (Ready.PENDING, Operation.RESETTING)
    world.later()
    assert world.state("p") == (Ready.ACTIVE, Operation.IDLE)


def test_removal_takes_its_time_and_holds_the_ipus_meanwhile(world: World) -> None:
    world.create("p", 16)
    world.later()
    world.controller.partitions.remove("p", force=False)
    assert world.state("p") == (Ready.PENDING, Operation.REMOVING)
    with pytest.raises(Refusal):
        world.create("q", 16)
    world.later()
    world.create("q", 16)
    world.controller.partitions.remove("q", force=True)
    world.later()
    assert world.controller.partitions.all() == [], "it was removed while it was created"


def test_a_machine_that_breaks_fails_its_partitions_and_names_itself(world: World) -> None:
    world.create("p", 4)
    world.create("q", 4)
    world.later()
    world.break_machine(world.agents[0])
    broken = [name for name in ("p", "q") if world.state(name) == (Ready.ERROR, Operation.FAILED)]
    assert len(broken) == 1
    assert world.agents[0] in world.controller.partitions.get(broken[0]).errors[0]


def test_a_machine_that_breaks_while_a_partition_is_created_fails_it_in_the_end(world: World) -> None:
    world.create("p", 16)
    world.break_machine(world.agents[2])
    assert world.state("p") == (Ready.PENDING, Operation.CREATING)
    world.later(300)
    assert world.controller.partitions.get("p").ready is Ready.ERROR


def test_a_failed_partition_resets_itself_once_its_machine_is_back(world: World) -> None:
    world.create("p", 16)
    world.later()
    world.break_machine(world.agents[0])
    world.clock.silent.clear()
    world.later(120)
    assert world.state("p")[1] is Operation.RESETTING
    world.later()
    status = world.controller.status(world.controller.partitions.get("p"))
    assert status.ready_state == pb.PS_ACTIVE
    assert status.auto_reset_retry_count == 1
    assert status.HasField("last_auto_reset_time")


def test_a_failed_partition_gives_up_after_the_last_retry(world: World) -> None:
    world.create("p", 16)
    world.later()
    world.break_machine(world.agents[0])
    for _ in range(2 * MAX_AUTO_RESETS + 2):
        world.later()
    status = world.controller.status(world.controller.partitions.get("p"))
    assert (status.ready_state, status.operation_state) == (pb.PS_ERROR, pb.POS_FAILED)
    assert status.auto_reset_retry_count == status.max_auto_reset_retries == MAX_AUTO_RESETS


def test_auto_reset_can_be_disabled(world: World) -> None:
    world.create("p", 16, disable_auto_reset=True)
    world.later()
    world.break_machine(world.agents[0])
    world.clock.silent.clear()
    world.later()
    assert world.state("p") == (Ready.ERROR, Operation.FAILED)


def test_a_relocatable_partition_moves_to_machines_that_answer(world: World) -> None:
    world.create("p", 4, relocatable=True)
    world.later()
    before = list(world.controller.partitions.get("p").blocks)
    world.break_machine(world.agents[before[0].start // 4])
    for _ in range(3):
        world.later()
    moved = world.controller.partitions.get("p")
    assert moved.ready is Ready.ACTIVE
    assert moved.blocks != before


def test_removal_without_force_fails_on_a_silent_machine_and_with_force_succeeds(world: World) -> None:
    world.create("p", 16, disable_auto_reset=True)
    world.later()
    world.break_machine(world.agents[3])
    world.controller.partitions.remove("p", force=False)
    world.later()
    assert world.state("p") == (Ready.ERROR, Operation.FAILED)
    world.controller.partitions.remove("p", force=True)
    world.later()
    assert world.controller.partitions.all() == []
