"""Rules about volumes: who has one, and what is billed of it."""

from __future__ import annotations

from ipucloud.clusters.volumes.states import EXISTING
from ipucloud.invariants.rules import Invariant, Refusal

BILLED = Invariant(
    name="volume_is_billed",
    sentence="A volume that exists has one open usage interval, of its size; any other has none.",
    object_type="volume",
    remedy="Credit what was billed wrongly (`ipucloud credits create`); what was not billed is lost.",
    repair=Refusal("Billed usage is never rewritten; a wrong bill is corrected by a credit."),
    statement="""
    SELECT v.id::text AS object_id, v.project_id,
           format('it is %s, has %s GiB, and is billed for %s', v.state, v.size_gib, coalesce(u.quantity, 0)) AS detail
      FROM volumes v
      LEFT JOIN usage_intervals u ON (u.project_id, u.volume_id) = (v.project_id, v.id) AND u.ended_at IS NULL
     WHERE coalesce(u.quantity, 0) <> CASE WHEN v.state = ANY (:existing) THEN v.size_gib ELSE 0 END
    """,
    parameters={"existing": sorted(EXISTING)},
)

ATTACHED = Invariant(
    name="attached_volume_has_its_cluster",
    sentence="The cluster that has a volume, or gets it, is not deleted, and is in the region of the volume.",
    object_type="volume",
    remedy="Detach the volume (`ipucloud volumes detach`).",
    repair=Refusal("A volume is detached by a request, so that its site loses it too."),
    statement="""
    SELECT v.id::text AS object_id, v.project_id,
           format('it is %s to cluster %s in %s, which is %s', v.state, c.id, c.region, c.state) AS detail
      FROM volumes v JOIN clusters c ON (c.project_id, c.id) = (v.project_id, v.cluster_id)
     WHERE v.region <> c.region OR (v.state IN ('attaching', 'attached') AND c.state = 'deleted')
    """,
)

RULES = (BILLED, ATTACHED)
