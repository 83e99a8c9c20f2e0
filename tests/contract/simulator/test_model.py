"""The rules as a model of a few lines, held against the simulated controller by random sequences of calls over TLS.

The model is written from the rules, not from the controller: free IPUs are a set, a partition is an aligned block.
Allocations are made at the administration endpoint, and their partitions at the user endpoint of each: `p0` of one is
not that of another.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

import grpc
import httpx
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ipucloud.wire import vipu_pb2 as pb
from tests.support.site import RunningSite, running_site
from tests.support.vipu import CALL_SECONDS, VipuDriver, code_of, sentence_of

Place = tuple[int, int]
"""A domain and an IPU in it."""
Named = tuple[str, str]
"""An allocation, and the name of a partition there."""

SIZES = [1, 2, 3, 4, 8, 16, 32, 64, 128]


@dataclass(frozen=True)
class Expected:
    """A partition as the rules have it."""

    ipus: frozenset[Place]
    gcds: int
    replicas: int
    segments: int
    reconfigurable: bool


@dataclass(frozen=True)
class DesiredState:
    """What a caller asks for; 0 leaves a field unset."""

    size: int
    gcds: int
    replicas: int
    segments: int
    reconfigurable: bool
    sync: int


DESIRED_STATES = st.builds(
    DesiredState,
    size=st.sampled_from(SIZES),
    gcds=st.sampled_from([0, 1, 2, 3, 4]),
    replicas=st.sampled_from([0, 0, 1, 2, 4, 6]),
    segments=st.sampled_from([0, 0, 0, 1, 2]),
    reconfigurable=st.booleans(),
    sync=st.sampled_from([pb.ST_UNDEFINED, pb.ST_UNDEFINED, pb.ST_GS2_DEFAULT, pb.ST_GS2_INDEPENDENT_RAILS]),
)


def is_valid(desired_state: DesiredState) -> bool:
    """Whether the rules allow a request at all."""
    gcds, needed = desired_state.gcds or 1, max(1, desired_state.size // 64)
    replicas, segments = desired_state.replicas or gcds, desired_state.segments or needed
    return (
        desired_state.size.bit_count() == 1
        and desired_state.size % gcds == 0 == replicas % gcds == desired_state.size % replicas
        and needed <= segments <= min(desired_state.size, gcds)
        and not (desired_state.reconfigurable and segments > 1)
        and desired_state.sync != pb.ST_GS2_INDEPENDENT_RAILS
    )


def fits(free: set[Place], size: int, segments: int) -> bool:
    """Whether aligned blocks of neighbouring domains are free."""
    each = size // segments
    holds = {
        domain
        for domain in range(2)
        if any(
            all((domain, start + number) in free for number in range(each)) for start in range(0, 64 - each + 1, each)
        )
    }
    return any(all(first + step in holds for step in range(segments)) for first in range(2))


class ControllerModel(RuleBasedStateMachine):
    """Allocations, partitions and machines of one cluster of two domains."""

    site: ClassVar[RunningSite]
    vipu: ClassVar[VipuDriver]
    http: ClassVar[httpx.Client]

    allocations = Bundle("allocations")
    partitions = Bundle("partitions")

    @initialize()
    def begin(self) -> None:
        self.vipu.clear()
        pods = self.site.region().pods
        self.cluster = pods[0].cluster_id or ""
        self.places = {machine.name: (pod.position, machine.slot) for pod in pods for machine in pod.machines}
        self.machines = list(self.places)
        self.held: dict[str, list[str]] = {}
        self.at: dict[str, VipuDriver] = {}
        self.living: dict[Named, Expected] = {}
        self.silent: set[str] = set()
        self.names = iter(range(10**6))

    def teardown(self) -> None:
        for machine in sorted(getattr(self, "silent", ())):
            self.trouble(machine, "repair")

    @rule(target=allocations, first=st.integers(0, 31), count=st.sampled_from([1, 2, 3, 4, 8, 16, 32]))
    def allocate(self, first: int, count: int) -> object:
        name, agents = f"a{next(self.names)}", self.machines[first : first + count]
        held_agents = {agent for held in self.held.values() for agent in held}
        if held_agents & set(agents):
            with self.refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "no free allocation"):
                self.vipu.allocate(name, self.cluster, agents)
            return multiple()
        assert self.vipu.allocate(name, self.cluster, agents) == agents
        self.held[name] = agents
        self.at[name] = VipuDriver(self.site.user_channel(name))
        return name

    @rule(name=allocations)
    def release(self, name: str) -> None:
        if name not in self.held:
            with self.refused(grpc.StatusCode.NOT_FOUND):
                self.vipu.release(name)
        elif any(allocation == name for allocation, _ in self.living):
            with self.refused(grpc.StatusCode.FAILED_PRECONDITION):
                self.vipu.release(name)
        else:
            self.vipu.release(name)
            del self.held[name], self.at[name]

    @rule(target=partitions, allocation=allocations, desired_state=DESIRED_STATES, named=st.booleans())
    def create(self, allocation: str, desired_state: DesiredState, named: bool) -> object:
        """The allocation may be left out where its endpoint is called: there is no other."""
        if allocation not in self.held:
            with self.refused(
                grpc.StatusCode.NOT_FOUND if is_valid(desired_state) else grpc.StatusCode.INVALID_ARGUMENT
            ):
                self.ask(self.vipu, "p", allocation, desired_state)
            return multiple()
        name = next(name for name in map("p{}".format, range(1000)) if (allocation, name) not in self.living)
        at, allocation_id = self.at[allocation], allocation if named else ""
        if not is_valid(desired_state):
            with self.refused(grpc.StatusCode.INVALID_ARGUMENT):
                self.ask(at, name, allocation_id, desired_state)
            return multiple()
        gcds = desired_state.gcds or 1
        segments = desired_state.segments or max(1, desired_state.size // 64)
        if not fits(self.free(allocation), desired_state.size, segments):
            with self.refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "no free allocation"):
                self.ask(at, name, allocation_id, desired_state)
            return multiple()
        free = self.free(allocation)
        self.ask(at, name, allocation_id, desired_state)
        partition = self.observed()[allocation, name]
        assert partition == Expected(
            partition.ipus, gcds, desired_state.replicas or gcds, segments, desired_state.reconfigurable
        )
        assert partition.ipus <= free
        assert len(partition.ipus) == desired_state.size
        self.check_blocks(partition.ipus, desired_state.size // segments, segments)
        self.living[allocation, name] = partition
        return allocation, name

    @rule(partition=partitions)
    def create_again(self, partition: Named) -> None:
        allocation, name = partition
        if partition in self.living:
            with self.refused(grpc.StatusCode.ALREADY_EXISTS):
                self.at[allocation].create(name, 1)

    @rule(partition=partitions, other=allocations)
    def look_for_it_elsewhere(self, partition: Named, other: str) -> None:
        """What another allocation has exists here only if this one has a partition of that name, too."""
        _, name = partition
        if other in self.held and (other, name) not in self.living:
            for call in (self.at[other].status, self.at[other].remove, self.at[other].reset, self.at[other].config):
                with self.refused(grpc.StatusCode.NOT_FOUND):
                    call(name)

    @rule(partition=consumes(partitions))
    def remove(self, partition: Named) -> None:
        allocation, name = partition
        if partition in self.living:
            self.at[allocation].remove(name)
            del self.living[partition]
        if allocation in self.at:
            with self.refused(grpc.StatusCode.NOT_FOUND):
                self.at[allocation].remove(name)

    @rule(partition=partitions)
    def read_the_configuration(self, partition: Named) -> None:
        allocation, name = partition
        expected, at = self.living.get(partition), self.at.get(allocation)
        if at is None:
            return
        if expected is None:
            with self.refused(grpc.StatusCode.NOT_FOUND):
                at.config(name)
            return
        if at.status(name).ready_state != pb.PS_ACTIVE:
            with self.refused(grpc.StatusCode.FAILED_PRECONDITION, "not active"):
                at.config(name)
            return
        gcds = at.config(name).gcd_configs
        assert [len(gcd.devices) for gcd in gcds] == [len(expected.ipus) // expected.gcds] * expected.gcds
        devices = [device for gcd in gcds for device in gcd.devices]
        assert [device.routing_id for device in devices] == list(range(len(expected.ipus)))
        assert all(device.server_port == 50055 - device.device_id == 50052 + device.ipu_id for device in devices)

    @rule(number=st.integers(0, 31))
    def break_machine(self, number: int) -> None:
        self.trouble(self.machines[number], "fail")
        self.silent.add(self.machines[number])

    @rule()
    def repair_all(self) -> None:
        for machine in sorted(self.silent):
            self.trouble(machine, "repair")
        self.silent.clear()
        for allocation, name in self.living:
            if self.at[allocation].status(name).ready_state == pb.PS_ERROR:
                self.at[allocation].reset(name)

    @invariant()
    def the_controller_shows_what_the_rules_say(self) -> None:
        if not hasattr(self, "held"):
            return
        assert self.observed() == self.living
        assert self.vipu.allocations() == self.held
        everything = sorted((each.spec.allocation_id, each.id) for each in self.vipu.every_partition())
        assert everything == sorted(self.living)
        for (allocation, name), expected in self.living.items():
            status = self.at[allocation].status(name)
            broken = {name for name in self.silent if self.ipus(name) & expected.ipus}
            assert status.ready_state == (pb.PS_ERROR if broken else pb.PS_ACTIVE)
            assert {error.split()[1] for error in status.errors} == broken

    @staticmethod
    def ask(at: VipuDriver, name: str, allocation: str, desired_state: DesiredState) -> None:
        requirements = pb.PartitionRequirements(
            id=name,
            size=desired_state.size,
            num_gcds=desired_state.gcds,
            num_replicas=desired_state.replicas,
            num_ipulink_segments=desired_state.segments,
            reconfigurable=desired_state.reconfigurable,
            sync_type=pb.SyncType.Name(desired_state.sync),
            allocation_id=allocation,
        )
        at.user.CreatePartition(pb.CreatePartitionRequest(requirements=requirements), timeout=CALL_SECONDS)

    def observed(self) -> dict[Named, Expected]:
        """What each user endpoint shows."""
        return {
            (allocation, name): Expected(
                frozenset((ipu.ipulink_domain_topology_id, ipu.topology_id) for ipu in partition.spec.ipus),
                partition.spec.num_gcds,
                partition.spec.num_replicas,
                partition.spec.num_ipulink_segments,
                partition.spec.reconfigurable,
            )
            for allocation, at in self.at.items()
            for name, partition in at.partitions().items()
        }

    def ipus(self, machine: str) -> set[Place]:
        domain, slot = self.places[machine]
        return {(domain, 4 * slot + number) for number in range(4)}

    def free(self, allocation: str) -> set[Place]:
        """The IPUs of an allocation that answer and are in no partition."""
        own_ipus = {ipu for agent in self.held[allocation] if agent not in self.silent for ipu in self.ipus(agent)}
        return own_ipus.difference(*(partition.ipus for partition in self.living.values()))

    @staticmethod
    def check_blocks(ipus: frozenset[Place], each: int, segments: int) -> None:
        domains = sorted({domain for domain, _ in ipus})
        assert domains == list(range(domains[0], domains[0] + segments))
        for domain in domains:
            places = sorted(place for where, place in ipus if where == domain)
            assert places == list(range(places[0], places[0] + each))
            assert places[0] % each == 0

    def trouble(self, machine: str, what: str) -> None:
        self.http.post(f"/v1/machines/{machine}:{what}").raise_for_status()

    @contextmanager
    def refused(self, code: grpc.StatusCode, text: str = "") -> Iterator[None]:
        with pytest.raises(grpc.RpcError) as caught:
            yield
        assert code_of(caught.value) is code
        assert text in sentence_of(caught.value)
        assert sentence_of(caught.value)


class KilledControllerModel(ControllerModel):
    """The same controller, killed twice: it knows the same afterwards."""

    kills = 0

    @precondition(lambda self: self.kills < 2)
    @rule()
    def kill(self) -> None:
        self.kills += 1
        self.site.revive()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("model"), options=["--machines-on", "--hosts", "1"]) as site:
        yield site


@pytest.mark.parametrize(("model", "examples"), [(ControllerModel, 12), (KilledControllerModel, 1)])
def test_the_controller_follows_its_rules(site: RunningSite, model: type[ControllerModel], examples: int) -> None:
    ControllerModel.site = site
    ControllerModel.vipu = VipuDriver(site.channel())
    ControllerModel.http = site.http()
    run_state_machine_as_test(
        model,
        settings=settings(max_examples=examples, stateful_step_count=15, suppress_health_check=list(HealthCheck)),
    )
