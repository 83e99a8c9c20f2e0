"""The step that waits until a new cluster's servers have their volumes.

Each volume is brought to its server by its own work item (`clusters/volumes/reconciler.py`), which the start of the
server wakes; one that is detached meanwhile is not waited for.
"""

from __future__ import annotations

from ipucloud.clusters import step_objects
from ipucloud.clusters.inputs import ClusterInputs
from ipucloud.operations.results import Achieved, Pending, StepResult
from ipucloud.site.ports import Site

ATTACH_VOLUMES = "attach_volumes"


async def attach_volumes(site: Site, cluster: ClusterInputs) -> StepResult:  # noqa: ARG001  # every step's signature
    if cluster.attaching_volumes:
        return Pending(f"attaching {step_objects.listed('volume', cluster.attaching_volumes)}")
    return Achieved()
