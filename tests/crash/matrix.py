"""Which trials there are: every failpoint once, and every failpoint in every kind of operation that comes to it."""

from __future__ import annotations

import runpy
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from tests.crash import beside, broken, changing, kinds, partitions, requests, running, storing
from tests.crash.kinds import Kind
from tests.crash.lab import Lab
from tests.crash.requests import RequestCase, RequestKind, attempt_request
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
    "operation.cancel_seen": kinds.Cancel(),
    "operation.undo_appended": kinds.Cancel(),
    "operation.opened": requests.POST_CREATE,
    "operation.woken": requests.POST_CREATE,
    "cluster.machines_released": kinds.Delete(),
    "cluster.machines_freed": kinds.Delete(),
    "cluster.servers_switched_off": changing.Suspend(),
    "cluster.named_anew": changing.POST_RESUME,
    "cluster.hardware_reported": broken.Replace(),
    "cluster.hardware_given_back": broken.Replace(),
    "cluster.hardware_exchanged": broken.Replace(),
    "operation.steps_appended": broken.Replace(),
    "cluster.cleaning_recorded": broken.Replace(),
    "cluster.hardware_isolated": broken.Isolate(),
    "cluster.boots_recorded": changing.Reboot(),
    "cluster.servers_settled": changing.Reboot(),
    "resize.others_taken": broken.ReplaceInResize(),
    "resize.sides_changed": changing.Resize(),
    "resize.machines_settled": changing.Resize(),
    "resize.settled": changing.Resize(),
    "resize.undo_begun": changing.CancelResize(),
    "cluster.rebuild_begun": changing.Rebuild(),
    "cluster.servers_rebuilt": changing.Rebuild(),
    "cluster.rebuild_settled": changing.UndoRebuild(),
    "cluster.keys_recorded": changing.ChangeKeys(),
    "source_rules.recorded": beside.ChangeSources(),
    "s3_access.recorded": beside.ChangeS3(),
    "snapshot.recorded": storing.KeepSnapshot(),
    "address.recorded": storing.KeepAddress(),
    "volume.recorded": storing.KeepVolume(),
    "create.volumes_taken": storing.POST_CREATE_WITH_VOLUME,
    "preemption_files.recorded": beside.ShowNotice(),
    "cluster.settled": broken.Observe(),
    "cluster.credited": broken.Observe(),
    "sweep.leftover_found": broken.Lose(),
    "partitions.rows_changed": partitions.SeveralPartitions(),
    "partitions.observed": partitions.SeveralPartitions(),
    "partitions.undo_begun": partitions.RefusedPartition(),
    "partitions.reset_marked": partitions.ResetPartition(),
    "partitions.given_up": partitions.RefusedReset(),
    "partition_request.partition_written": partitions.POST_PARTITION,
    "partition_request.preempted": partitions.POST_REMOVAL,
    "partition_request.desired_state_written": partitions.POST_REMOVAL,
    "engine.before_heartbeat": kinds.Held(),
    "engine.heartbeat_sent": kinds.Held(),
    "engine.draining": kinds.Drain(),
    "engine.before_hand_back": kinds.Drain(),
    "engine.finished_alone": kinds.Bug(),
    "engine.reconciler_failed": kinds.Bug(),
    "engine.database_lost": kinds.Cut(),
    "engine.stale_result": kinds.Stale(),
    "engine.stale_pass": kinds.StaleHeld(),
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
    "hosts.power": changing.Suspend(),
    "hosts.put_keys": changing.ChangeKeys(),
    "hosts.put_login_key": beside.OpenTerminal(),
    "hosts.put_sources": beside.ChangeSources(),
    "hosts.put_s3": beside.ChangeS3(),
    "hosts.put_preemption": beside.ShowNotice(),
    "hosts.rebuild": changing.Rebuild(),
    "hosts.put_job": running.RunJob(),
    "hosts.get_job": running.RunJob(),
    "hosts.stop_job": running.StopJob(),
    "hosts.console": broken.Observe(),
    **dict.fromkeys(("snapshots.get", "snapshots.put", "snapshots.delete"), storing.KeepSnapshot()),
    **dict.fromkeys(("addresses.get", "addresses.put", "addresses.attach", "addresses.delete"), storing.KeepAddress()),
    **dict.fromkeys(("volumes.get", "volumes.put", "volumes.attach", "volumes.delete"), storing.KeepVolume()),
    "vipu.ResetPartition": partitions.ResetPartition(),
    "vipu.RemovePartition": partitions.RemovePartition(),
    "vipu.GetPartitionIpuofConfig": partitions.MakePartition(),
    "admin.ListLinks": partitions.RotateKey(),
    "admin.RemoveAccessKey": partitions.RotateKey(),
}
_TASK_CALLS = ("inventory.get", "networks.list", "hosts.list")
_FAMILIES: dict[str, Kind | RequestKind] = {
    **dict.fromkeys(("create", "notifier", "request"), requests.POST_CREATE),
    **dict.fromkeys(("begin", "delete"), requests.POST_DELETE),
    "suspend": changing.POST_SUSPEND,
    "resume": changing.POST_RESUME,
    "replace": changing.POST_REPAIR,
    "resize": changing.POST_RESIZE,
    "restart": changing.POST_REBOOT,
    "rebuild": changing.POST_REBUILD,
    "partitions": partitions.MakePartition(),
    "partition_request": partitions.POST_PARTITION,
    "cancel": requests.POST_CANCEL,
    "observation": broken.Observe(),
    "jobs": running.RunJob(),
    "services": running.RunService(),
    **dict.fromkeys(("leftovers", "sweep", "sync"), kinds.Tasks()),
    "validation": broken.Validate(),
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
    usual = kinds.Delete() if call in _DELETE_CALLS else kinds.Tasks() if call in _TASK_CALLS else kinds.Create()
    home = _HOMES.get(point) or _OTHER_CALLS.get(call) or _FAMILIES.get(family, usual)
    return RequestCase(home, point) if isinstance(home, RequestKind) else Case(home, point)


async def run(lab: Lab, case: AnyCase) -> Outcome:
    return await (attempt(lab, case) if isinstance(case, Case) else attempt_request(lab, case))


async def everything(lab: Lab) -> list[AnyCase]:
    """Every failpoint × first and second hit × every kind: what undisturbed trials come to says which there are."""
    cases: list[AnyCase] = []
    for special, points in _special().items():
        # A frozen worker drops one result, and lives on when that does not kill it: it has no second hit.
        reached = () if issubclass(special, kinds.Stale) else (await attempt(lab, Case(special(), NEVER))).points
        firsts = [(point, 1) for point in points]
        seconds = [(point, hit) for point, hit in _hits(reached) if point in points and hit > 1]
        cases += [Case(special(), point, hit) for point, hit in firsts + seconds]
    jobs = running.JOB_KINDS if has(Need.SANDBOX) else ()
    for kind in (
        *kinds.KINDS,
        *changing.CHANGING,
        *jobs,
        *beside.BESIDE,
        *storing.STORING,
        *partitions.PARTITION_KINDS,
        *broken.BROKEN,
    ):
        reached = (await attempt(lab, Case(kind, NEVER))).points
        if kind.after is not None:
            reached = reached[reached.index(kind.after) :]
        cases += [Case(kind, point, hit) for point, hit in _hits(reached)]
    for request in (
        *requests.REQUEST_KINDS,
        *changing.CHANGING_REQUESTS,
        *partitions.PARTITION_REQUESTS,
        storing.POST_CREATE_WITH_VOLUME,
    ):
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
        if isinstance(case, Case) and isinstance(case.kind, kinds.SPECIAL):
            points_by_kind.setdefault(type(case.kind), []).append(point)
    return points_by_kind
