"""Tests of an allocation's machines: version by agent; cabling, sync-link, link training and traffic by link."""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.laboratory.simulator.durations import Action
from ipucloud.laboratory.simulator.hardware import Machine
from ipucloud.laboratory.simulator.refusal import exists, invalid, not_found, precondition
from ipucloud.laboratory.simulator.vipu.allocations import Allocations
from ipucloud.laboratory.simulator.vipu.context import Context, Deadlines
from ipucloud.laboratory.simulator.vipu.links import Link, links_among
from ipucloud.laboratory.simulator.vipu.model import ClusterTest, KindResult, LinkResult
from ipucloud.laboratory.simulator.vipu.rules import check_id
from ipucloud.wire.inventory import LinkKind, LinkState

KINDS = ("TEST_VERSION", "TEST_CABLING", "TEST_SYNC_LINK", "TEST_LINK_TRAINING", "TEST_TRAFFIC")
# Cables are between machines, and sync cables run beside IPU-Links; whatever carries data is trained and loaded.
TESTED = {
    "TEST_CABLING": frozenset({LinkKind.NEXT, LinkKind.GATEWAY}),
    "TEST_SYNC_LINK": frozenset({LinkKind.NEXT}),
    "TEST_LINK_TRAINING": frozenset(LinkKind),
    "TEST_TRAFFIC": frozenset(LinkKind),
}
FAILING = dict.fromkeys(KINDS, frozenset({LinkState.DOWN})) | {
    "TEST_TRAFFIC": frozenset({LinkState.DOWN, LinkState.DEGRADED})
}


class ClusterTests:
    """Every test of one controller, kept until its allocation is removed."""

    def __init__(self, context: Context, allocations: Allocations) -> None:
        self._context = context
        self._allocations = allocations
        self._deadlines = Deadlines()
        for test in context.state.tests.values():
            self._deadlines.add(test.due, test.id)

    def start(self, name: str, allocation_id: str, kinds: Sequence[str]) -> ClusterTest:
        """Begin a test. Refused while the allocation has partitions: programs that use them would be disturbed."""
        check_id("cluster test", name)
        if name in self._context.state.tests:
            raise exists(f"cluster test {name!r} exists")
        allocation = self._allocations.get(allocation_id)
        unknown = [kind for kind in kinds if kind not in KINDS]
        if unknown:
            raise invalid(f"cluster test kind {unknown[0]} is not known")
        if self._allocations.partitions_in(allocation_id):
            raise precondition(
                f"allocation {allocation_id!r} has partitions; a test would disturb what uses them: remove them first"
            )
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

    def advance(self) -> None:
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
        machines = [self._context.fleet.agents[name] for name in names]
        links = list(links_among(machines))
        return [self._result(kind, machines, links) for kind in test.kinds]

    def _result(self, kind: str, machines: list[Machine], links: list[Link]) -> KindResult:
        if kind == "TEST_VERSION":
            outcomes = [self._agent(machine.name) for machine in machines]
        else:
            outcomes = [self._link(link, FAILING[kind]) for link in links if link.kind in TESTED[kind]]
        passed = sum(outcome.passed for outcome in outcomes)
        what = "agents" if kind == "TEST_VERSION" else "links"
        return KindResult(kind, passed == len(outcomes), f"{passed} of {len(outcomes)} {what} passed", outcomes)

    def _agent(self, name: str) -> LinkResult:
        answers = self._context.reachable(name)
        return LinkResult(name, name, answers, "" if answers else f"agent {name} is unreachable")

    def _link(self, link: Link, failing: frozenset[LinkState]) -> LinkResult:
        ends = dict.fromkeys((link.one.name, link.other.name))
        silent = [name for name in ends if not self._context.reachable(name)]
        state = self._context.broken.get(link.name, LinkState.UP)
        detail = f"link {link.name} is {state}" if state in failing else ""
        detail = f"agent {silent[0]} is unreachable" if silent else detail
        return LinkResult(link.one.name, link.other.name, not detail, detail, link.name)
