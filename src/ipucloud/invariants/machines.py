"""Rules about who holds which machines and hosts."""

from __future__ import annotations

from types import MappingProxyType
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.invariants.rules import DatabaseRepair, Invariant, Refusal, Refused, RepairDone, Violation, decided
from ipucloud.invariants.states import STATES
from ipucloud.invariants.worker_repairs import take_clean_up_again
from ipucloud.inventory.blocks import DOMAIN
from ipucloud.inventory.health.codes import Code, Source
from ipucloud.inventory.health.merge import lock
from ipucloud.inventory.health.reports import clear_code, report
from ipucloud.inventory.validations import require, withdraw

_DISAGREE = Query(
    """
    SELECT EXISTS (SELECT FROM hardware_validations WHERE machine_id = :machine AND ended_at IS NULL)
        <> EXISTS (SELECT FROM health_reports
                    WHERE machine_id = :machine AND code = 'not_validated' AND cleared_at IS NULL) AS disagree
    """,
    bool,
)


async def _have_validated(connection: AsyncConnection, violation: Violation) -> RepairDone:
    machine = UUID(violation.object_id)
    await lock(connection, "machine", [machine])
    if not await _DISAGREE.one(connection, {"machine": machine}):
        raise Refused("The machine's validation and its report agree by now.")
    await withdraw(connection, machine, "the audit begins it again")
    await clear_code(connection, kind="machine", object_id=machine, source=Source.OPERATION, code=Code.NOT_VALIDATED)
    await require(connection, [machine], "operator")
    if await _DISAGREE.one(connection, {"machine": machine}):  # its validation has begun, and goes on
        await report(
            connection,
            kind="machine",
            object_id=machine,
            source=Source.OPERATION,
            code=Code.NOT_VALIDATED,
            detail="it is being validated",
        )
    return RepairDone()


ONE_HOLDER = Invariant(
    name="machine_has_one_holder",
    sentence="A machine or host is held by at most one cluster or reservation.",
    object_type="machine",
    remedy="Find out which cluster really runs there, and delete the other.",
    repair=Refusal("A person must decide which customer keeps the machine."),
    statement="""
    SELECT shared.id::text AS object_id, NULL::uuid AS project_id,
           format('%s is held by the clusters %s', coalesce(m.name, h.name), shared.clusters) AS detail
      FROM (SELECT coalesce(machine_id, host_id) AS id,
                   string_agg(coalesce(cluster_id, reservation_id)::text, ', ' ORDER BY created_at, id) AS clusters
              FROM allocations WHERE freed_at IS NULL
             GROUP BY coalesce(machine_id, host_id) HAVING count(*) > 1) AS shared
      LEFT JOIN machines m ON m.id = shared.id
      LEFT JOIN hosts h ON h.id = shared.id
    """,
)

GONE_HOLDS_NOTHING = Invariant(
    name="gone_cluster_holds_nothing",
    sentence="A cluster that is deleted or was not created holds no machine or host.",
    object_type="cluster",
    remedy="Apply the audit's repair; the machines are freed once they are observed clean.",
    repair=take_clean_up_again,
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           format('the cluster is in %s and holds %s machines and %s hosts', c.state, count(a.machine_id),
                  count(a.host_id)) AS detail
      FROM clusters c JOIN allocations a ON a.cluster_id = c.id AND a.freed_at IS NULL
     WHERE c.state = ANY (:gone)
     GROUP BY c.id
    """,
    parameters=STATES,
)

EXACTLY_ITS_MACHINES = Invariant(
    name="cluster_holds_its_machines",
    sentence="A cluster holds exactly its number of machines, or none while it is being deleted or waits for capacity.",
    object_type="cluster",
    remedy="Have the cluster deleted and created again, or restore the allocations from a backup.",
    repair=Refusal("The database does not show which machines the cluster really uses."),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           format('the cluster is in %s, has %s machines and holds %s', c.state, c.machines,
                  coalesce(held.machines, 0)) AS detail
      FROM clusters c
      LEFT JOIN (SELECT cluster_id, count(machine_id) AS machines, bool_or(resize IS NOT NULL) AS both_sizes
                   FROM allocations WHERE freed_at IS NULL GROUP BY cluster_id) AS held ON held.cluster_id = c.id
     WHERE coalesce(held.machines, 0) <> c.machines
       AND (held.machines > 0 OR NOT EXISTS (
             SELECT FROM capacity_waits w
              WHERE w.project_id = c.project_id AND w.cluster_id = c.id AND w.granted_at IS NULL
                AND w.kind = 'cluster.create'))
       AND (c.state = ANY (:whole) OR (c.state = 'deleting' AND held.machines > 0 AND NOT held.both_sizes))
    """,
    parameters=STATES,
)

BOTH_SIZES = Invariant(
    name="resize_holds_both_sizes",
    sentence="A cluster being resized holds the machines of both sizes.",
    object_type="cluster",
    remedy="Have the cluster deleted and created again, or restore the allocations from a backup.",
    repair=Refusal("The database does not show which machines the cluster really uses."),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           format('%s is resized from %s machines to %s; of the former size it holds %s, of the new one %s', c.flavor,
                  r.from_machines, r.to_machines, held.former, held.latter) AS detail
      FROM operations o
      JOIN resizes r ON r.project_id = o.project_id AND r.operation_id = o.id
      JOIN clusters c ON c.project_id = r.project_id AND c.id = r.cluster_id,
           LATERAL (SELECT count(*) FILTER (WHERE resize IS DISTINCT FROM 'joins') AS former,
                           count(*) FILTER (WHERE resize IS DISTINCT FROM 'leaves') AS latter
                      FROM allocations a
                     WHERE a.project_id = c.project_id AND a.cluster_id = c.id AND a.freed_at IS NULL
                       AND a.machine_id IS NOT NULL) AS held
     WHERE o.finished_at IS NULL AND r.moves IS NOT NULL
       AND ((held.former, held.latter) <> (r.from_machines, r.to_machines)
            OR (c.flavor, c.machines) <> CASE r.idle WHEN 'joins' THEN (r.from_flavor, r.from_machines)
                                                     WHEN 'leaves' THEN (r.to_flavor, r.to_machines)
                                                     ELSE (c.flavor, c.machines) END)
    """,
)

RESTING = Invariant(
    name="suspended_cluster_holds_no_machine",
    sentence="A suspended cluster holds no machines but servers with IPUs of their own.",
    object_type="cluster",
    remedy="Resume or delete the cluster; both end with machines that were observed clean.",
    repair=Refusal("The database does not show whether the machines were cleaned."),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           format('the cluster has %s machines and holds %s', c.machines, coalesce(held.machines, 0)) AS detail
      FROM clusters c
      LEFT JOIN (SELECT cluster_id, count(machine_id) AS machines FROM allocations
                  WHERE freed_at IS NULL GROUP BY cluster_id) AS held ON held.cluster_id = c.id
     WHERE c.state = 'suspended'
       AND coalesce(held.machines, 0) <> CASE c.allocated_through WHEN 'v-ipu' THEN 0 ELSE c.machines END
    """,
)

NOTHING_RELEASED = Invariant(
    name="working_cluster_released_nothing",
    sentence="No machine or host of a cluster in use is released.",
    object_type="cluster",
    remedy="Read the machines (`ipucloud admin machines show`). If they are on and their cluster works, have the audit"
    " take them back; otherwise suspend or delete the cluster.",
    repair=decided(
        "records that the cluster still has them",
        "A released machine may already be off; a person must check it.",
        """
        UPDATE allocations AS a SET released_at = NULL
          FROM clusters AS c
         WHERE a.project_id = :project_id AND a.cluster_id = CAST(:object_id AS uuid) AND a.freed_at IS NULL
           AND a.released_at IS NOT NULL AND (c.project_id, c.id) = (a.project_id, a.cluster_id)
           AND c.state IN ('active', 'degraded')
        """,
        """
        SELECT settle_pods(array_agg(DISTINCT m.pod_id))
          FROM allocations AS a JOIN machines AS m ON m.id = a.machine_id
         WHERE a.project_id = :project_id AND a.cluster_id = CAST(:object_id AS uuid) AND a.freed_at IS NULL
        HAVING count(*) > 0
        """,
    ),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           format('the cluster is in %s and %s of its machines and hosts are released', c.state, count(*)) AS detail
      FROM clusters c JOIN allocations a ON a.cluster_id = c.id AND a.freed_at IS NULL AND a.released_at IS NOT NULL
     WHERE c.state = ANY (:working)
     GROUP BY c.id
    """,
    parameters=STATES,
)

TIMES_IN_ORDER = Invariant(
    name="allocation_times_in_order",
    sentence="A machine is taken, then released, then freed.",
    object_type="allocation",
    remedy="Wrong times do no harm. Find out what wrote them.",
    repair=decided(
        "moves each time that is too early to the one before it",
        "The database does not show what really happened.",
        """
        UPDATE allocations
           SET released_at = CASE WHEN freed_at IS NOT NULL OR released_at IS NOT NULL THEN
                 greatest(coalesce(released_at, freed_at), created_at) END,
               freed_at = CASE WHEN freed_at IS NOT NULL THEN greatest(freed_at, released_at, created_at) END
         WHERE project_id = :project_id AND id = CAST(:object_id AS uuid)
        """,
    ),
    statement="""
    SELECT id::text AS object_id, project_id,
           format('taken %s, released %s, freed %s', created_at, coalesce(released_at::text, 'never'),
                  coalesce(freed_at::text, 'never')) AS detail
      FROM allocations
     WHERE released_at < created_at OR freed_at < released_at OR (freed_at IS NOT NULL AND released_at IS NULL)
    """,
)

TAKEN_AFTER_FREED = Invariant(
    name="machine_is_freed_before_it_is_taken",
    sentence="A machine or host goes to the next cluster only when observed clean.",
    object_type="machine",
    remedy="Inform both customers: one may have seen the other's data. Then find out how the machine became free.",
    repair=Refusal("What happened cannot be undone."),
    statement="""
    SELECT resource::text AS object_id, project_id,
           format('cluster %s took it at %s, cluster %s had it until %s', cluster_id, created_at, cluster_before,
                  freed_before) AS detail
      FROM (SELECT coalesce(machine_id, host_id) AS resource, project_id, cluster_id, created_at,
                   lag(freed_at) OVER turns AS freed_before, lag(cluster_id) OVER turns AS cluster_before
              FROM allocations
            WINDOW turns AS (PARTITION BY coalesce(machine_id, host_id) ORDER BY created_at, id)) AS turn
     WHERE freed_before > created_at
    """,
)

NUMBERED = Invariant(
    name="cluster_numbers_its_machines",
    sentence="A cluster's machines and hosts are numbered from 0 without gaps, except in a resize or suspension.",
    object_type="cluster",
    remedy="If only machines are numbered wrongly, have the audit number them. If hosts are, read which server is on"
    " which (`ipucloud admin hosts list`); if the order of their numbers is wrong, have the cluster deleted and created"
    " again.",
    repair=decided(
        "numbers machines in the order of pod and slot, and hosts in the order of their present numbers",
        "A host's number identifies its Poplar server; a wrong guess would mix up servers.",
        """
        UPDATE allocations AS a SET ordinal = numbered.ordinal
          FROM (SELECT held.id, row_number() OVER (PARTITION BY held.host_id IS NULL
                                                   ORDER BY p.position, m.slot, held.ordinal, held.id) - 1 AS ordinal
                  FROM allocations AS held
                  LEFT JOIN machines AS m ON m.id = held.machine_id LEFT JOIN pods AS p ON p.id = m.pod_id
                 WHERE held.project_id = :project_id AND held.cluster_id = CAST(:object_id AS uuid)
                   AND held.freed_at IS NULL) AS numbered
         WHERE a.id = numbered.id AND a.ordinal <> numbered.ordinal
        """,
    ),
    statement="""
    SELECT cluster_id::text AS object_id, project_id,
           format('%s %s are numbered from %s to %s', count(*),
                  CASE WHEN host_id IS NULL THEN 'machines' ELSE 'hosts' END, min(ordinal), max(ordinal)) AS detail
      FROM allocations
     WHERE freed_at IS NULL AND cluster_id IS NOT NULL
       AND (machine_id IS NOT NULL OR EXISTS (SELECT FROM clusters c WHERE c.project_id = allocations.project_id
                                                 AND c.id = allocations.cluster_id AND c.state <> 'suspended'))
     GROUP BY project_id, cluster_id, CASE WHEN host_id IS NULL THEN 'machines' ELSE 'hosts' END
    HAVING NOT bool_or(resize IS NOT NULL)
       AND (count(*) <> count(DISTINCT ordinal) OR min(ordinal) <> 0 OR max(ordinal) <> count(*) - 1)
    """,
)

ONE_BLOCK = Invariant(
    name="cluster_machines_form_a_block",
    sentence="A cluster's machines are an aligned block of a domain, or an aligned run of whole neighbouring domains.",
    object_type="cluster",
    remedy="Have the cluster deleted and created again; its machines' links may not be connected.",
    repair=Refusal("Machines of a cluster in use cannot be exchanged."),
    statement="""
    SELECT id::text AS object_id, project_id,
           format('%s machines in %s domains of %s groups: domains %s to %s, slots %s to %s', machines, domains,
                  groups, first_domain, last_domain, first_slot, last_slot) AS detail
      FROM (SELECT c.id, c.project_id, c.machines AS size, sum(part.machines) AS machines, count(*) AS domains,
                   count(DISTINCT (p.region, p.machine_type, p.gw_group)) AS groups,
                   min(p.position) AS first_domain, max(p.position) AS last_domain,
                   min(part.first_slot) AS first_slot, max(part.last_slot) AS last_slot
              FROM (SELECT a.cluster_id, m.pod_id, count(*) AS machines, min(m.slot) AS first_slot,
                           max(m.slot) AS last_slot
                      FROM allocations a JOIN machines m ON m.id = a.machine_id
                     WHERE a.freed_at IS NULL
                     GROUP BY a.cluster_id, m.pod_id) AS part
              JOIN clusters c ON c.id = part.cluster_id
              JOIN pods p ON p.id = part.pod_id
             GROUP BY c.id) AS placed
     WHERE machines = size
       AND CASE WHEN size <= :domain
                THEN domains <> 1 OR last_slot - first_slot <> size - 1 OR first_slot % size <> 0
                ELSE groups <> 1 OR domains * :domain <> size OR last_domain - first_domain <> domains - 1
                     OR first_domain % domains <> 0 END
    """,
    parameters=MappingProxyType({"domain": DOMAIN}),
)

RIGHT_KIND = Invariant(
    name="machines_are_what_the_cluster_asked_for",
    sentence="A cluster's machines and hosts are in its region, the machines of its type.",
    object_type="cluster",
    remedy="Have the cluster deleted and created again.",
    repair=Refusal("Machines of a cluster in use cannot be exchanged."),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           format('a cluster of %s in %s holds %s', c.machine_type, c.region, string_agg(held.name, ', ')) AS detail
      FROM (SELECT a.cluster_id, m.name, p.region, p.machine_type
              FROM allocations a JOIN machines m ON m.id = a.machine_id JOIN pods p ON p.id = m.pod_id
             WHERE a.freed_at IS NULL
            UNION ALL
            SELECT a.cluster_id, h.name, h.region, NULL FROM allocations a JOIN hosts h ON h.id = a.host_id
             WHERE a.freed_at IS NULL) AS held
      JOIN clusters c ON c.id = held.cluster_id
     WHERE held.region <> c.region OR held.machine_type <> c.machine_type
     GROUP BY c.id
    """,
)

CLEANED = Invariant(
    name="freed_hardware_was_observed_clean",
    sentence="A machine or host is freed only once observed clean or isolated.",
    object_type="allocation",
    remedy="Quarantine the machine or host, have it wiped, and inform the customer who had it.",
    repair=Refusal("The database does not show what is on the hardware."),
    statement="""
    SELECT a.id::text AS object_id, a.project_id,
           format('%s was freed at %s without evidence that it was clean', coalesce(m.name, h.name), a.freed_at)
             AS detail
      FROM allocations a
      LEFT JOIN machines m ON m.id = a.machine_id
      LEFT JOIN hosts h ON h.id = a.host_id
     WHERE a.freed_at >= (SELECT min(observed_at) FROM hardware_cleanings) AND a.cluster_id IS NOT NULL
       AND NOT EXISTS (SELECT FROM hardware_cleanings c WHERE c.allocation_id = a.id)
       AND NOT EXISTS (SELECT FROM health_reports r
                        WHERE r.code = 'not_clean' AND r.cluster_id = a.cluster_id
                          AND (r.machine_id = a.machine_id OR r.host_id = a.host_id))
    """,
)

KEPT_FOR_VALIDATION = Invariant(
    name="validation_keeps_its_machine",
    sentence="A machine has an open validation exactly while a report holds it back for that.",
    object_type="machine",
    remedy="Apply the audit's repair: the machine is validated, and then given to clusters.",
    repair=DatabaseRepair("has the machine validated", _have_validated),
    statement="""
    SELECT m.id::text AS object_id, NULL::uuid AS project_id,
           CASE WHEN v.id IS NULL THEN format('%s is kept from clusters, and nobody validates it', m.name)
                ELSE format('%s is validated, and clusters may get it', m.name) END AS detail
      FROM machines m
      LEFT JOIN hardware_validations v ON v.machine_id = m.id AND v.ended_at IS NULL
      LEFT JOIN health_reports r ON r.machine_id = m.id AND r.code = 'not_validated' AND r.cleared_at IS NULL
     WHERE (v.id IS NULL) <> (r.id IS NULL)
    """,
)

NOT_VALIDATED_IN_USE = Invariant(
    name="machine_in_use_is_not_validated",
    sentence="No held machine is being validated.",
    object_type="machine",
    remedy="Check what runs on the machine; park its validation until that is known"
    " (`ipucloud admin work park validation POD`).",
    repair=Refusal("A customer may be using the machine; a person must check first."),
    statement="""
    SELECT m.id::text AS object_id, a.project_id,
           format('%s is in validation %s, and cluster %s holds it', m.name, v.name, a.cluster_id) AS detail
      FROM hardware_validations v
      JOIN machines m ON m.id = v.machine_id
      JOIN allocations a ON a.machine_id = m.id AND a.freed_at IS NULL
     WHERE v.name IS NOT NULL AND v.ended_at IS NULL
    """,
)

RULES = (
    ONE_HOLDER,
    GONE_HOLDS_NOTHING,
    EXACTLY_ITS_MACHINES,
    BOTH_SIZES,
    RESTING,
    NOTHING_RELEASED,
    TIMES_IN_ORDER,
    TAKEN_AFTER_FREED,
    CLEANED,
    KEPT_FOR_VALIDATION,
    NOT_VALIDATED_IN_USE,
    NUMBERED,
    ONE_BLOCK,
    RIGHT_KIND,
)
