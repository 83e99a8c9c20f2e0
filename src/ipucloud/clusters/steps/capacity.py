"""The step of an operation that waits for machines: the queue gives them, and wakes the cluster."""

from __future__ import annotations

from ipucloud.clusters.inputs import ClusterInputs
from ipucloud.kernel.errors import CAPACITY_WAIT_EXPIRED, Problem
from ipucloud.operations.results import Achieved, Failed, Pending, StepResult
from ipucloud.site.ports import Site

_ADVICE = {
    "cluster.create": "Nothing was taken or charged. Delete cluster {name}; then create it with a later `wait_until`,"
    " of another flavor or in another region.",
    "cluster.resume": "Nothing was taken or charged, and cluster {name} is suspended as before. Resume it with a later"
    " `wait_until`.",
    "cluster.resize": "Cluster {name} has kept its size and was in use meanwhile. Resize it with a later"
    " `wait_until`, or to another size.",
}
RECHECK_SECONDS = 30.0
"""Until the step checks again whether its time is over."""


async def wait_for_capacity(site: Site, cluster: ClusterInputs) -> StepResult:  # noqa: ARG001  # every step's signature
    """Nothing is asked of the site: nothing is to change there yet."""
    wait = cluster.wait
    if wait is None or wait.granted:
        return Achieved()
    if wait.left <= 0:
        advice = _ADVICE[cluster.operation.kind].format(name=cluster.name)
        sentence = f"No machines were free for the cluster until `wait_until`. {advice}"
        return Failed("its time to wait is over", final=True, problem=Problem(CAPACITY_WAIT_EXPIRED, sentence))
    return Pending(
        "waiting for capacity; `waiting` of the cluster has its place in the queue",
        recheck=min(wait.left, RECHECK_SECONDS),
        blocked=True,
    )
