"""Rules about addresses: who has one, and what is billed of it."""

from __future__ import annotations

from ipucloud.clusters.addresses.states import EXISTING
from ipucloud.invariants.rules import Invariant, Refusal

BILLED = Invariant(
    name="address_is_billed",
    sentence="Exactly the existing addresses have an open usage interval.",
    object_type="address",
    remedy="Credit what was billed wrongly (`ipucloud credits create`); what was not billed is lost.",
    repair=Refusal("Billed usage is never rewritten; a wrong bill is corrected by a credit."),
    statement="""
    SELECT a.id::text AS object_id, a.project_id,
           format('it is %s, and is billed for %s', a.state, coalesce(u.quantity, 0)) AS detail
      FROM addresses a
      LEFT JOIN usage_intervals u ON (u.project_id, u.address_id) = (a.project_id, a.id) AND u.ended_at IS NULL
     WHERE coalesce(u.quantity, 0) <> CASE WHEN a.state = ANY (:existing) THEN 1 ELSE 0 END
    """,
    parameters={"existing": sorted(EXISTING)},
)

ATTACHED = Invariant(
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

RULES = (BILLED, ATTACHED)
