"""Says what histories came through, and what they should have met and did not, as far as a list of it exists."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ipucloud.clusters.operations.create import CREATE
from ipucloud.clusters.operations.delete import DELETE
from ipucloud.kernel.errors import PREEMPTED
from ipucloud.partitions.operations import CREATE as CREATE_PARTITION
from ipucloud.partitions.operations import REMOVE as REMOVE_PARTITION
from ipucloud.site.calls import Call
from tests.sim.coverage import Coverage, CoverageKind
from tests.sim.faults import DatabaseFault, SiteFault, Trouble

_NOT_MADE = (
    *(call for call in Call if call.value.startswith(("volumes.", "snapshots.", "addresses."))),
    *(Call.GET_VERSION, Call.LIST_AGENTS, Call.REMOVE_ACCESS_KEY, Call.GET_MACHINE_LOG, Call.LIST_MACHINES),
    *(Call.PUT_KEYS, Call.PUT_LOGIN_KEY, Call.PUT_SOURCES, Call.PUT_S3, Call.PUT_PREEMPTION, Call.REBUILD_SERVER),
    *(Call.PUT_JOB, Call.GET_JOB, Call.STOP_JOB, Call.GET_CONSOLE),
)
"""Calls that are not expected of histories."""
CALLS = {call: call.name.lower().removeprefix("get_") for call in Call if call not in _NOT_MADE} | {
    Call.TEST_CLUSTER: "start_test",
    Call.LIST_LINKS: "links",
    Call.SET_USER_ALLOCATIONS: "set_user_allocation",
    Call.LIST_NETWORKS: "networks",
    Call.LIST_HOSTS: "hosts",
    Call.POWER_HOST: "switch_off",
    Call.SSH_HOST_KEY: "ssh",
    Call.RESET_MACHINE: "power_off",
}
"""What traces call each call."""
RARE = (Call.RESET_PARTITION, Call.POWER_HOST, Call.DELETE_SERVER)


def expected() -> dict[CoverageKind, set[str]]:
    """What a hundred histories meet for certain; a call, step or fault that is added belongs to it at once.

    Resets of partitions, suspends, resumes, resizes and removals of servers while calls still fail are too rare for
    that, some ten in a hundred histories: `tests/worker/test_partitions.py`, `test_suspend.py` and the crash matrix. So
    are creates that fail, because most of them take other hardware: `tests/worker/test_replacing.py`.
    """
    steps = (*CREATE.steps, *DELETE.steps)
    return {
        CoverageKind.BOUNDARY: {
            *(set(CALLS.values()) - {CALLS[call] for call in RARE}),
            "power_on",
            "partitions_of",
            "all_partitions",
            "begin",
            "commit",
            "sleep",
            "present",
        },
        # What only a sweep repairs happens in few of the histories that sweep, which are few themselves.
        CoverageKind.FAULT: {*SiteFault, *DatabaseFault, *Trouble} - {SiteFault.NONE, Trouble.LEFTOVER, Trouble.FORGOT},
        CoverageKind.STEP: {f"{step.name} succeeded" for step in steps},
        CoverageKind.OPERATION: {
            f"{CREATE.name} succeeded",
            f"{CREATE.name} cancelled",
            f"{CREATE.name} failed {PREEMPTED.code}",
            f"{DELETE.name} succeeded",
            *(f"{kind.name} succeeded" for kind in (CREATE_PARTITION, REMOVE_PARTITION)),
        },
    }


def missed(coverage: Coverage) -> list[str]:
    """One sentence for everything that should have been met and was not."""
    return [
        f"{kind.value}: never {name}"
        for kind, names in expected().items()
        for name in sorted(names)
        if not coverage[kind, name]
    ]


def report(coverage: Coverage) -> str:
    return "\n".join(_lines(coverage))


def _lines(coverage: Coverage) -> Iterator[str]:
    for kind in CoverageKind:
        counts = {name: count for (of_kind, name), count in coverage.items() if of_kind is kind}
        yield f"{kind.value}: {len(counts)}, {sum(counts.values())} times"
        for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            yield f"{count:10} {name}"
    passed = _names(coverage, CoverageKind.BOUNDARY)
    yield from _titled(
        "passed by workers, of which none was killed there", passed - _names(coverage, CoverageKind.KILLED)
    )
    yield from _titled(
        "passed by workers, of which none was frozen there", passed - _names(coverage, CoverageKind.FROZEN)
    )
    yield from _titled("should have been met, and was not", missed(coverage))
    yield from _titled("calls to the site that no history makes", set(Call) - CALLS.keys())


def _names(coverage: Coverage, kind: CoverageKind) -> set[str]:
    return {name for of_kind, name in coverage if of_kind is kind}


def _titled(title: str, names: Collection[str]) -> Iterator[str]:
    yield f"{title}: {len(names)}"
    for name in sorted(names):
        yield f"           {name}"
