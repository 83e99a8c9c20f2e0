"""Every kind of operation on clusters; a new one is added here."""

from __future__ import annotations

from ipucloud.clusters.operations.create import CREATE
from ipucloud.clusters.operations.delete import DELETE
from ipucloud.clusters.operations.kind import ClusterKind
from ipucloud.clusters.operations.rebuild import REBUILD, REBUILD_SERVERS
from ipucloud.clusters.operations.repair import REPAIR
from ipucloud.clusters.operations.replace import REPLACE
from ipucloud.clusters.operations.resize import RESIZE
from ipucloud.clusters.operations.restart import POWER_CYCLE, REBOOT
from ipucloud.clusters.operations.resume import RESUME
from ipucloud.clusters.operations.rotate_key import ROTATE_KEY
from ipucloud.clusters.operations.suspend import SUSPEND
from ipucloud.clusters.operations.update_keys import UPDATE_KEYS

CLUSTER_OPERATIONS: tuple[ClusterKind, ...] = (
    CREATE,
    DELETE,
    SUSPEND,
    RESUME,
    REPLACE,
    REPAIR,
    ROTATE_KEY,
    REBOOT,
    POWER_CYCLE,
    RESIZE,
    UPDATE_KEYS,
    REBUILD,
    REBUILD_SERVERS,
)
BESIDE_PARTITIONS = frozenset(kind.name for kind in CLUSTER_OPERATIONS if kind.beside_partitions)
"""Those during which operations on the cluster's partitions may begin and run."""
