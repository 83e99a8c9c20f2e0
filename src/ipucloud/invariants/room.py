"""Rules about the rows from which room is found: they follow from health reports, machines, hosts and allocations."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.invariants.rules import DatabaseRepair, Invariant, Refusal, Refused, RepairDone, Violation, by
from ipucloud.inventory.functions import settle_pods
from ipucloud.inventory.health.codes import Kind
from ipucloud.inventory.health.merge import FOLLOWING, lock, merge, merged_reports


async def _compute_masks(connection: AsyncConnection, violation: Violation) -> RepairDone:
    if not await settle_pods(connection, [UUID(violation.object_id)]):
        raise Refused("Nothing was left to repair.")
    return RepairDone()


POD_SHOWS_ITS_MACHINES = Invariant(
    name="pod_shows_its_machines",
    sentence="A pod's row shows which machines are free, held, cleaned, validated, unhealthy, or in maintenance.",
    object_type="pod",
    remedy="Apply the audit's repair. Until then creates may be refused, or answered with 503, although there is room.",
    repair=DatabaseRepair("computes the pod's masks from its machines", _compute_masks),
    statement="""
    SELECT pods.id::text AS object_id, NULL::uuid AS project_id,
           format('%s shows the free slots %s, its machines say %s', name, pods.free_mask::bit(16),
                  coalesce(truth.free_mask, 0)::bit(16)) AS detail
      FROM pods LEFT JOIN pod_masks AS truth ON truth.pod_id = pods.id
     WHERE (pods.free_mask, pods.allocated_mask, pods.cleaning_mask, pods.unhealthy_mask, pods.maintenance_mask,
            pods.validating_mask)
           <> (coalesce(truth.free_mask, 0), coalesce(truth.allocated_mask, 0), coalesce(truth.cleaning_mask, 0),
               coalesce(truth.unhealthy_mask, 0), coalesce(truth.maintenance_mask, 0),
               coalesce(truth.validating_mask, 0))
    """,
)

RUN_SHOWS_ITS_PODS = Invariant(
    name="run_shows_its_whole_pods",
    sentence="The row of 16 neighbouring pods shows which are wholly free.",
    object_type="pod_run",
    remedy="Apply the audit's repair. Until then creates may be refused, or answered with 503, although there is room.",
    repair=by(
        "computes the run's mask from its pods",
        "SELECT FROM pod_runs WHERE id = CAST(:object_id AS uuid) FOR NO KEY UPDATE",
        """
        UPDATE pod_runs SET whole_mask = truth.mask
          FROM (SELECT coalesce(bit_or(1 << position % 16) FILTER (WHERE free_mask = 65535), 0) AS mask
                  FROM pods WHERE run_id = CAST(:object_id AS uuid)) AS truth
         WHERE id = CAST(:object_id AS uuid) AND whole_mask <> truth.mask
        """,
    ),
    statement="""
    SELECT pod_runs.id::text AS object_id, NULL::uuid AS project_id,
           format('%s, run %s shows the whole pods %s, its pods say %s', pod_runs.gw_group, number,
                  whole_mask::bit(16), truth.mask::bit(16)) AS detail
      FROM pod_runs
      JOIN (SELECT run_id, coalesce(bit_or(1 << position % 16) FILTER (WHERE free_mask = 65535), 0) AS mask
              FROM pods GROUP BY run_id) AS truth ON truth.run_id = pod_runs.id
     WHERE whole_mask <> truth.mask
    """,
)

HOST_SHOWS_ITS_HOLDER = Invariant(
    name="host_shows_whether_it_is_held",
    sentence="A host is marked as held exactly while a cluster holds it.",
    object_type="host",
    remedy="Apply the audit's repair. Until then the host is not given out, or creates may be answered with 503.",
    repair=by(
        "marks the host as held or free",
        "SELECT FROM hosts WHERE id = CAST(:object_id AS uuid) FOR NO KEY UPDATE",
        """
        UPDATE hosts SET held = NOT held
         WHERE id = CAST(:object_id AS uuid)
           AND held <> EXISTS (SELECT FROM allocations WHERE host_id = hosts.id AND freed_at IS NULL)
        """,
    ),
    statement="""
    SELECT hosts.id::text AS object_id, NULL::uuid AS project_id,
           format('%s is marked as %s', name, CASE WHEN held THEN 'held, and no cluster holds it'
                                                   ELSE 'free, and a cluster holds it' END) AS detail
      FROM hosts LEFT JOIN allocations ON host_id = hosts.id AND freed_at IS NULL
     WHERE held <> (allocations.id IS NOT NULL)
     GROUP BY hosts.id
    """,
)


def _follows_its_reports(kind: Kind) -> Invariant:
    async def merged(connection: AsyncConnection, violation: Violation) -> RepairDone:
        object_id = UUID(violation.object_id)
        await lock(connection, kind, [object_id])
        if not await merge(connection, kind, [object_id]):
            raise Refused("Nothing was left to repair.")
        return RepairDone()

    return Invariant(
        name=f"{kind}_follows_its_reports",
        sentence=f"Health, maintenance and availability of a {kind} follow from its live, confirmed health reports.",
        object_type=kind,
        remedy=f"Apply the audit's repair. Until then a faulty {kind} may be given out, or a good one kept back.",
        repair=DatabaseRepair(f"lets the {kind} follow its reports", merged),
        statement=f"""
        SELECT object.id::text AS object_id, NULL::uuid AS project_id,
               format('%s is %s%s and %s; its reports say %s%s and %s', object.name,
                      object.health, CASE WHEN object.maintenance THEN ', in maintenance' END,
                      CASE WHEN object.allocatable THEN 'allocatable' ELSE 'kept back' END,
                      reported.health, CASE WHEN reported.maintenance THEN ', in maintenance' END,
                      CASE WHEN reported.allocatable THEN 'allocatable' ELSE 'kept back' END) AS detail
          FROM {kind}s AS object CROSS JOIN LATERAL ({merged_reports(kind)}) AS reported
         WHERE ({", ".join(f"object.{column}" for column in FOLLOWING[kind])})
               IS DISTINCT FROM ({", ".join(f"reported.{column}" for column in FOLLOWING[kind])})
        """,  # noqa: S608  # our own names
    )


MACHINE_FOLLOWS_ITS_REPORTS = _follows_its_reports("machine")
HOST_FOLLOWS_ITS_REPORTS = _follows_its_reports("host")

AUTHORITY = Invariant(
    name="controller_has_an_authority",
    sentence="The inventory has the certificate authority of every V-IPU controller.",
    object_type="V-IPU controller",
    remedy="Give the controller TLS and its authority to the site's inventory, then run `ipucloud site sync`.",
    repair=Refusal("Only the site's operator can give a controller a certificate."),
    statement="""
    SELECT name AS object_id, NULL::uuid AS project_id,
           format('V-IPU controller %s of %s speaks plaintext', name, region) AS detail
      FROM vipu_controllers WHERE authority IS NULL
    """,
)

RULES = (
    AUTHORITY,
    MACHINE_FOLLOWS_ITS_REPORTS,
    HOST_FOLLOWS_ITS_REPORTS,
    POD_SHOWS_ITS_MACHINES,
    RUN_SHOWS_ITS_PODS,
    HOST_SHOWS_ITS_HOLDER,
)
