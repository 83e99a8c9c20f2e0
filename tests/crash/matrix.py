"""Which trials there are: every failpoint once, and every failpoint in every kind of operation that comes to it."""

from __future__ import annotations

import runpy
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from tests.crash.beside import BESIDE, ChangeS3, OpenTerminal, ShowNotice
from tests.crash.broken import BROKEN, Isolate, Lose, Observe, Replace, ReplaceInResize, Validate
from tests.crash.changing import (
    CHANGING,
    CHANGING_REQUESTS,
    POST_REBOOT,
    POST_REBUILD,
    POST_REPAIR,
    POST_RESIZE,
    POST_RESUME,
    POST_SUSPEND,
    CancelResize,
    ChangeKeys,
    Reboot,
    Rebuild,
    Resize,
    Suspend,
    UndoRebuild,
)
from tests.crash.kinds import (
    KINDS,
    SPECIAL,
    Bug,
    Cancel,
    Create,
    Cut,
    Delete,
    Drain,
    Held,
    Kind,
    Stale,
    StaleHeld,
    Tasks,
)
from tests.crash.lab import Lab
from tests.crash.partitions import (
    PARTITION_KINDS,
    PARTITION_REQUESTS,
    POST_PARTITION,
    POST_REMOVAL,
    MakePartition,
    RefusedPartition,
    RefusedReset,
    RemovePartition,
    ResetPartition,
    RotateKey,
    SeveralPartitions,
)
from tests.crash.requests import (
    POST_CANCEL,
    POST_CREATE,
    POST_DELETE,
    REQUEST_KINDS,
    RequestCase,
    RequestKind,
    attempt_request,
)
from tests.crash.running import JOB_KINDS, RunJob, RunService, StopJob
from tests.crash.storing import POST_CREATE_WITH_VOLUME, STORING, KeepAddress, KeepSnapshot, KeepVolume
from tests.crash.trials import Case, Outcome, attempt
from tests.support.machine import Need, has

AnyCase: TypeAlias = Case | RequestCase

DOCS = Path(__file__).parents[2] / "docs"
NEVER = "never"
IN_FEATURE_TESTS = (
    *("budgets.", "close.", "correct.", "credits.", "dunning.", "invoices.", "months.", "prepaid."),
    "price_correction.",
    *("expiry.", "idle.", "preemption.", "proofs.", "reservation.", "schedule.", "stripe.", "waiting."),
)
"""Tried each in tests/feature: billing/test_budgets.py, test_credits.py, test_killed.py, test_rerating.py, invoices/,
clusters/test_prepaid.py, clusters/test_dunning.py, billing/test_top_ups.py and billing/test_stripe.py."""
SIMULATED = (":redfish.list", ":admin.ListAgents", ":vipu.GetVersion")
"""Reads of the hardware, after which nothing is written yet: tried with `--full`, and in the simulation."""
BY_HAND = (":redfish.log",)
"""Reads that only a command of an operator makes, and after which nothing is written."""
HITS = (1, 2)

_HOMES: dict[str, Kind | RequestKind] = {
    "operation.cancel_seen": Cancel(),
    "operation.undo_appended": Cancel(),
    "operation.opened": POST_CREATE,
    "operation.woken": POST_CREATE,
    "cluster.machines_released": Delete(),
    "cluster.machines_freed": Delete(),
    "cluster.servers_switched_off": Suspend(),
    "cluster.named_anew": POST_RESUME,
    "cluster.hardware_reported": Replace(),
    "cluster.hardware_given_back": Replace(),
    "cluster.hardware_exchanged": Replace(),
    "operation.steps_appended": Replace(),
    "cluster.cleaning_recorded": Replace(),
    "cluster.hardware_isolated": Isolate(),
    "cluster.boots_recorded": Reboot(),
    "cluster.servers_settled": Reboot(),
    "resize.others_taken": ReplaceInResize(),
    "resize.sides_changed": Resize(),
    "resize.machines_settled": Resize(),
    "resize.settled": Resize(),
    "resize.undo_begun": CancelResize(),
    "cluster.rebuild_begun": Rebuild(),
    "cluster.servers_rebuilt": Rebuild(),
    "cluster.rebuild_settled": UndoRebuild(),
    "cluster.keys_recorded": ChangeKeys(),
    "s3_access.recorded": ChangeS3(),
    "snapshot.recorded": KeepSnapshot(),
    "address.recorded": KeepAddress(),
    "volume.recorded": KeepVolume(),
    "create.volumes_taken": POST_CREATE_WITH_VOLUME,
    "preemption_files.recorded": ShowNotice(),
    "cluster.settled": Observe(),
    "cluster.credited": Observe(),
    "sweep.leftover_found": Lose(),
    "partitions.rows_changed": SeveralPartitions(),
    "partitions.observed": SeveralPartitions(),
    "partitions.undo_begun": RefusedPartition(),
    "partitions.reset_marked": ResetPartition(),
    "partitions.given_up": RefusedReset(),
    "partition_request.partition_written": POST_PARTITION,
    "partition_request.preempted": POST_REMOVAL,
    "partition_request.desired_state_written": POST_REMOVAL,
    "engine.before_heartbeat": Held(),
    "engine.heartbeat_sent": Held(),
    "engine.draining": Drain(),
    "engine.before_hand_back": Drain(),
    "engine.finished_alone": Bug(),
    "engine.reconciler_failed": Bug(),
    "engine.database_lost": Cut(),
    "engine.stale_result": Stale(),
    "engine.stale_pass": StaleHeld(),
}
_DELETE_CALLS = (
    "hosts.delete_server",
    "vipu.ListPartitions",
    "admin.RemovePartitions",
    "admin.RemoveUser",
    "admin.ListAllocations",
    "admin.RemoveAllocation",
    "networks.delete",
)
_OTHER_CALLS: dict[str, Kind] = {
    "hosts.power": Suspend(),
    "hosts.put_keys": ChangeKeys(),
    "hosts.put_login_key": OpenTerminal(),
    "hosts.put_s3": ChangeS3(),
    "hosts.put_preemption": ShowNotice(),
    "hosts.rebuild": Rebuild(),
    "hosts.put_job": RunJob(),
    "hosts.get_job": RunJob(),
    "hosts.stop_job": StopJob(),
    "hosts.console": Observe(),
    **dict.fromkeys(("snapshots.get", "snapshots.put", "snapshots.delete"), KeepSnapshot()),
    **dict.fromkeys(("addresses.get", "addresses.put", "addresses.attach", "addresses.delete"), KeepAddress()),
    **dict.fromkeys(("volumes.get", "volumes.put", "volumes.attach", "volumes.delete"), KeepVolume()),
    "vipu.ResetPartition": ResetPartition(),
    "vipu.RemovePartition": RemovePartition(),
    "vipu.GetPartitionIpuofConfig": MakePartition(),
    "admin.ListLinks": RotateKey(),
    "admin.RemoveAccessKey": RotateKey(),
}
_TASK_CALLS = ("inventory.get", "networks.list", "hosts.list")
_FAMILIES: dict[str, Kind | RequestKind] = {
    **dict.fromkeys(("create", "notifier", "request"), POST_CREATE),
    **dict.fromkeys(("begin", "delete"), POST_DELETE),
    "suspend": POST_SUSPEND,
    "resume": POST_RESUME,
    "replace": POST_REPAIR,
    "resize": POST_RESIZE,
    "restart": POST_REBOOT,
    "rebuild": POST_REBUILD,
    "partitions": MakePartition(),
    "partition_request": POST_PARTITION,
    "cancel": POST_CANCEL,
    "observation": Observe(),
    "jobs": RunJob(),
    "services": RunService(),
    **dict.fromkeys(("leftovers", "sweep", "sync"), Tasks()),
    "validation": Validate(),
}


def names() -> list[str]:
    """Every failpoint that stands in the code, but those tried in tests/feature and those of reading the hardware."""
    names_in_code: list[str] = runpy.run_path(str(DOCS / "generate_failpoints.py"))["names"]()
    return [
        name
        for name in names_in_code
        if not name.startswith(IN_FEATURE_TESTS) and not name.endswith(SIMULATED + BY_HAND)
    ]


def once(point: str) -> AnyCase:
    """A trial that comes to the point."""
    family, _, _ = point.partition(".")
    _, _, call = point.partition(":")
    usual = Delete() if call in _DELETE_CALLS else Tasks() if call in _TASK_CALLS else Create()
    home = _HOMES.get(point) or _OTHER_CALLS.get(call) or _FAMILIES.get(family, usual)
    return RequestCase(home, point) if isinstance(home, RequestKind) else Case(home, point)


async def run(lab: Lab, case: AnyCase) -> Outcome:
    return await (attempt(lab, case) if isinstance(case, Case) else attempt_request(lab, case))


async def everything(lab: Lab) -> list[AnyCase]:
    """Every failpoint × first and second hit × every kind: what undisturbed trials come to says which there are."""
    cases: list[AnyCase] = []
    for special, points in _special().items():
        # A frozen worker drops one result, and lives on when that does not kill it: it has no second hit.
        reached = () if issubclass(special, Stale) else (await attempt(lab, Case(special(), NEVER))).points
        firsts = [(point, 1) for point in points]
        seconds = [(point, hit) for point, hit in _hits(reached) if point in points and hit > 1]
        cases += [Case(special(), point, hit) for point, hit in firsts + seconds]
    running = JOB_KINDS if has(Need.SANDBOX) else ()
    for kind in (*KINDS, *CHANGING, *running, *BESIDE, *STORING, *PARTITION_KINDS, *BROKEN):
        reached = (await attempt(lab, Case(kind, NEVER))).points
        if kind.after is not None:
            reached = reached[reached.index(kind.after) :]
        cases += [Case(kind, point, hit) for point, hit in _hits(reached)]
    for request in (*REQUEST_KINDS, *CHANGING_REQUESTS, *PARTITION_REQUESTS, POST_CREATE_WITH_VOLUME):
        reached = (await attempt_request(lab, RequestCase(request, NEVER, hit=max(HITS)))).points
        cases += [RequestCase(request, point, hit) for point, hit in _hits(reached)]
    return cases


def _hits(points: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    of_clusters = (point for point in points if not point.startswith(IN_FEATURE_TESTS))
    for point, times in sorted(Counter(of_clusters).items()):
        for hit in HITS:
            if hit <= times:
                yield point, hit


def _special() -> Mapping[type[Kind], Sequence[str]]:
    """The points that the ordinary life of a cluster does not come to, by the kind that does."""
    points_by_kind: dict[type[Kind], list[str]] = {}
    for point in names():
        case = once(point)
        if isinstance(case, Case) and isinstance(case.kind, SPECIAL):
            points_by_kind.setdefault(type(case.kind), []).append(point)
    return points_by_kind
