"""Tests of an allocation's machines: version, cabling, sync-link, link training and traffic, with a result per link."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ipucloud.simulator.durations import Action
from ipucloud.simulator.hardware import DOMAIN_MACHINES, Machine
from ipucloud.simulator.refusal import exists, invalid, not_found
from ipucloud.simulator.vipu.allocations import Allocations
from ipucloud.simulator.vipu.context import Context, Deadlines
from ipucloud.simulator.vipu.model import ClusterTest, KindResult, Link
from ipucloud.simulator.vipu.rules import check_id

KINDS = ("TEST_VERSION", "TEST_CABLING", "TEST_SYNC_LINK", "TEST_LINK_TRAINING", "TEST_TRAFFIC")


class ClusterTests:
    """Every test of one controller, kept until its allocation is removed."""

    def __init__(self, context: Context, allocations: Allocations) -> None:
        self._context = context
        self._allocations = allocations
        self._deadlines = Deadlines()
        for test in context.state.tests.values():
            self._deadlines.add(test.due, test.id)

    def start(self, name: str, allocation_id: str, kinds: Sequence[str]) -> ClusterTest:
        check_id("cluster test", name)
        if name in self._context.state.tests:
            raise exists(f"cluster test {name!r} exists")
        allocation = self._allocations.get(allocation_id)
        unknown = [kind for kind in kinds if kind not in KINDS]
        if unknown:
            raise invalid(f"cluster test kind {unknown[0]} is not known")
        seconds = self._context.durations.seconds(Action.CLUSTER_TEST, name, len(allocation.agent_ids))
        due = self._context.clock.now() + seconds
        test = ClusterTest(name, allocation_id, list(dict.fromkeys(kinds)) or list(KINDS), due)
        self._context.state.tests[name] = test
        self._deadlines.add(due, name)
        self._context.changed()
        return test

    def get(self, name: str) -> ClusterTest:
        test = self._context.state.tests.get(name)
        if test is None:
            raise not_found(f"cluster test {name!r} does not exist")
        return test

    def settle(self) -> None:
        """Write the results of every test that has ended."""
        clock = self._context.clock
        for name in self._deadlines.passed(clock):
            test = self._context.state.tests.get(name)
            if test is not None and test.due is not None and test.due <= clock.now():
                test.results = self._results(test)
                test.due = None
                self._context.changed()

    def _results(self, test: ClusterTest) -> list[KindResult]:
        names = self._allocations.get(test.allocation_id).agent_ids
        links = list(_links([self._context.fleet.agents[name] for name in names]))
        return [self._result(kind, links) for kind in test.kinds]

    def _result(self, kind: str, links: list[tuple[Machine, Machine]]) -> KindResult:
        outcomes = [self._outcome(one.name, other.name) for one, other in links]
        failed = [link for link in outcomes if not link.passed]
        detail = f"{len(outcomes) - len(failed)} of {len(outcomes)} links passed"
        return KindResult(kind, not failed, detail, outcomes)

    def _outcome(self, one: str, other: str) -> Link:
        silent = [name for name in dict.fromkeys((one, other)) if not self._context.reachable(name)]
        detail = f"agent {silent[0]} is unreachable" if silent else ""
        return Link(one, other, not silent, detail)


def _links(machines: list[Machine]) -> Iterator[tuple[Machine, Machine]]:
    """Every machine's own links, those along each chain, and the one that closes a whole pod's ring."""
    ordered = sorted(machines, key=lambda m: (m.domain, m.slot))
    places = {(m.domain, m.slot): m for m in ordered}
    for machine in ordered:
        yield machine, machine
        after = places.get((machine.domain, (machine.slot + 1) % DOMAIN_MACHINES))
        if after is not None and after is not machine:
            yield machine, after
