"""Rules about volumes, snapshots and addresses: who has one, and what is billed of it."""

from __future__ import annotations

from ipucloud.clusters.addresses.tables import EXISTING as EXISTING_ADDRESSES
from ipucloud.clusters.volumes.tables import EXISTING
from ipucloud.invariants.rules import Invariant, Refusal

VOLUME_BILLED = Invariant(
    name="volume_is_billed",
    sentence="Exactly the existing volumes have an open usage interval, of the volume's size.",
    object_type="volume",
    remedy="Credit what was billed wrongly (`ipucloud credits create`); what was not billed is lost.",
    repair=Refusal("Billed usage is never rewritten; a wrong bill is corrected by a credit."),
    statement="""
    SELECT v.id::text AS object_id, v.project_id,
           format('it is %s, has %s GiB, and is billed for %s', v.state, v.size_gib, coalesce(u.quantity, 0)) AS detail
      FROM volumes v
      LEFT JOIN usage_intervals u ON (u.project_id, u.resource_id) = (v.project_id, v.id) AND u.ended_at IS NULL
     WHERE coalesce(u.quantity, 0) <> CASE WHEN v.state = ANY (:existing) THEN v.size_gib ELSE 0 END
    """,
    parameters={"existing": sorted(EXISTING)},
)

VOLUME_ATTACHED = Invariant(
    name="attached_volume_has_its_cluster",
    sentence="An attached volume is on a living cluster in its region.",
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

SNAPSHOT_BILLED = Invariant(
    name="snapshot_is_billed",
    sentence="Exactly the available snapshots have an open usage interval, of the snapshot's size.",
    object_type="snapshot",
    remedy="Credit what was billed wrongly (`ipucloud credits create`); what was not billed is lost.",
    repair=Refusal("Billed usage is never rewritten; a wrong bill is corrected by a credit."),
    statement="""
    SELECT s.id::text AS object_id, s.project_id,
           format('it is %s, has %s GiB, and is billed for %s', s.state, s.size_gib, coalesce(u.quantity, 0)) AS detail
      FROM snapshots s
      LEFT JOIN usage_intervals u ON (u.project_id, u.resource_id) = (s.project_id, s.id) AND u.ended_at IS NULL
     WHERE coalesce(u.quantity, 0) <> CASE WHEN s.state = 'available' THEN s.size_gib ELSE 0 END
    """,
)

COPIED = Invariant(
    name="snapshot_is_kept_while_it_is_needed",
    sentence="A volume is kept while a snapshot of it is taken, a snapshot while something is made from it.",
    object_type="snapshot",
    remedy="Delete the snapshot (`ipucloud snapshots delete`) or the volume; rebuild the cluster with another image.",
    repair=Refusal("A snapshot or volume is deleted by a request, so that its site deletes it too."),
    statement="""
    SELECT s.id::text AS object_id, s.project_id,
           format('it is %s, and volume %s is %s', s.state, v.id, v.state) AS detail
      FROM snapshots s JOIN volumes v ON (v.project_id, v.id) = (s.project_id, s.volume_id)
     WHERE s.state = 'creating' AND v.state IN ('deleting', 'deleted')
     UNION ALL
    SELECT s.id::text, s.project_id, format('it is %s, and volume %s is %s', s.state, v.id, v.state)
      FROM snapshots s JOIN volume_origins o ON (o.project_id, o.snapshot_id) = (s.project_id, s.id)
      JOIN volumes v ON (v.project_id, v.id) = (o.project_id, o.volume_id)
     WHERE v.state = 'creating' AND s.state IN ('deleting', 'deleted')
     UNION ALL
    SELECT s.id::text, s.project_id, format('it is %s, and cluster %s is %s', s.state, c.id, c.state)
      FROM snapshots s JOIN clusters c ON (c.project_id, c.image) = (s.project_id, s.external_name)
     WHERE s.state IN ('deleting', 'deleted') AND c.state NOT IN ('deleting', 'deleted')
    """,
)

RULES = (VOLUME_BILLED, VOLUME_ATTACHED, SNAPSHOT_BILLED, COPIED)


ADDRESS_BILLED = Invariant(
    name="address_is_billed",
    sentence="Exactly the existing addresses have an open usage interval.",
    object_type="address",
    remedy="Credit what was billed wrongly (`ipucloud credits create`); what was not billed is lost.",
    repair=Refusal("Billed usage is never rewritten; a wrong bill is corrected by a credit."),
    statement="""
    SELECT a.id::text AS object_id, a.project_id,
           format('it is %s, and is billed for %s', a.state, coalesce(u.quantity, 0)) AS detail
      FROM addresses a
      LEFT JOIN usage_intervals u ON (u.project_id, u.resource_id) = (a.project_id, a.id) AND u.ended_at IS NULL
     WHERE coalesce(u.quantity, 0) <> CASE WHEN a.state = ANY (:existing) THEN 1 ELSE 0 END
    """,
    parameters={"existing": sorted(EXISTING_ADDRESSES)},
)

ADDRESS_ATTACHED = Invariant(
    name="attached_address_has_its_server",
    sentence="An address's server is of the address's cluster, which exists in the same region.",
    object_type="address",
    remedy="Detach the address (`ipucloud addresses detach`).",
    repair=Refusal("An address is detached by a request, so that its site detaches it too."),
    statement="""
    SELECT a.id::text AS object_id, a.project_id,
           format('it is %s to server %s of cluster %s, and its cluster %s in %s is %s',
                  a.state, s.name, s.cluster_id, c.id, c.region, c.state) AS detail
      FROM addresses a JOIN clusters c ON (c.project_id, c.id) = (a.project_id, a.cluster_id)
      JOIN poplar_servers s ON (s.project_id, s.id) = (a.project_id, a.server_id)
     WHERE a.region <> c.region OR s.cluster_id <> c.id
        OR (a.state IN ('attaching', 'attached') AND c.state = 'deleted')
    """,
)

ADDRESS_RULES = (ADDRESS_BILLED, ADDRESS_ATTACHED)
