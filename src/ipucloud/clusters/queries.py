"""Reading clusters: each statement authenticates, reads, and writes the JSON of the API in one round trip."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.pricing.usage import PAID, PRICE_NOW, SO_FAR
from ipucloud.clusters.addresses.queries import OF_CLUSTER
from ipucloud.clusters.idle.store import SHOWN_IDLE
from ipucloud.clusters.observed import faults_of, health_of, observed, wrong
from ipucloud.clusters.preemption.notices import SHOWN_NOTICE
from ipucloud.clusters.repairs.store import SHOWN
from ipucloud.clusters.schedules.store import SHOWN_SCHEDULE
from ipucloud.clusters.volumes.snapshots.images import shown_image
from ipucloud.clusters.waiting.queue import SHOWN_WAIT
from ipucloud.contract.lists import NamedOrder
from ipucloud.db.documents import (
    NAMED_PAGE,
    ONE_DOCUMENT,
    READ_BACK,
    NamedPage,
    OneDocument,
    clauses,
    money,
    page_of,
    rfc3339,
)
from ipucloud.db.rows import Query
from ipucloud.identity.access import authenticated
from ipucloud.operations.queries import SUMMARY

PARKED = "it failed repeatedly and waits for an operator, who was notified; it can still be deleted"
# Without a price in force the cost of a cluster in use is not known.
_COST_PER_MINUTE = (
    "CASE WHEN usage.running THEN price_now.unit_price * (page.machines - usage.credited_machines) ELSE 0 END"
)
_MEMBERS = f"""
  'id', page.id, 'name', page.name, 'project', project.slug, 'region', page.region,
  'flavor', page.flavor, 'image', {shown_image("page")}, 'state', page.state, 'state_reason', page.state_reason,
  'state_entered_at', {rfc3339("page.state_entered_at")}, 'state_sla_seconds', page.state_sla_seconds,
  'blocked_by', CASE WHEN open.parked_at IS NULL THEN open.operation ->> 'blocked_by' ELSE '{PARKED}' END,
  'faults', coalesce(wrong.list, '[]'), 'observed_at', {rfc3339("observed.at")},
  'stage', open.stage, 'progress', coalesce(open.progress, 100),
  'created_at', {rfc3339("page.created_at")}, 'ready_at', {rfc3339("page.ready_at")},
  'deleted_at', {rfc3339("page.deleted_at")}, 'expires_at', {rfc3339("page.expires_at")},
  'expiry_warned_at', {rfc3339("page.expiry_warned_at")},
  'auto_repair', page.auto_repair, 'repair_window', page.repair_window, 'scheduled_repair', repair.document,
  'schedule', schedule.document,
  'idle_suspend_minutes', page.idle_suspend_minutes, 'idle', idle.document,
  'preemptible', page.preemptible, 'preempt_at', {rfc3339("notice.preempt_at")},
  'delete_protection', page.delete_protection, 'tags', page.tags,
  'ssh_keys', jsonb_path_query_array(page.ssh_keys, '$[*].name'), 'ipus', page.ipus,
  'allowed_sources', page.allowed_sources,
  's3_connections', coalesce(buckets.list, '[]'),
  'addresses', coalesce(reached.list, '[]'),
  'poplar_servers', coalesce(servers.list, '[]'),
  'partitions', coalesce(divided.list, '[]'),
  'price_per_minute', {money("price_now.per_minute", "page.currency")},
  'billing', json_build_object(
    'starts', page.billing_starts, 'ends', 'delete_requested',
    'status', CASE WHEN usage.running THEN 'running' WHEN usage.started_at IS NULL THEN 'not_started'
                   WHEN page.state IN ('suspending', 'suspended', 'resuming', 'rebuilding', 'resizing') THEN 'paused'
                   ELSE 'ended' END,
    'started_at', {rfc3339("usage.started_at")}, 'minutes', usage.minutes,
    'credited_minutes', usage.credited_minutes, 'credited_machines', usage.credited_machines,
    'cost', {money("usage.cost", "page.currency")},
    'cost_per_minute', {money(_COST_PER_MINUTE, "page.currency")}),
  'operation', open.operation, 'waiting', waiting.document, 'resize', open.resize, 'version', page.version
"""
_HELD = f"""
LEFT JOIN LATERAL (
  SELECT json_agg(json_build_object(
           'name', machine.name, 'ordinal', allocation.ordinal, 'pod', pod.name, 'slot', machine.slot,
           'machine_type', page.machine_type, 'ipus', page.ipus / page.machines,
           'health', {health_of("machine", "observation")}, 'observed_at', {observed("machine", "observation")},
           'faults', {faults_of("machine")}, 'rnic', machine.rnic
         ) ORDER BY allocation.ordinal) AS machines
    FROM allocations AS allocation
    JOIN machines AS machine ON machine.id = allocation.machine_id
    JOIN pods AS pod ON pod.id = machine.pod_id
    LEFT JOIN observations AS observation ON observation.region = page.region AND observation.source = 'bmc'
   WHERE allocation.project_id = page.project_id AND allocation.cluster_id = page.id
     AND allocation.released_at IS NULL
) AS held ON true
"""  # noqa: S608  # our own text
_SERVERS = f"""
LEFT JOIN LATERAL (
  SELECT json_agg(json_build_object(
           'id', server.id, 'name', server.name, 'state', server.state,
           'health', CASE WHEN host.id IS NOT NULL THEN {health_of("host", "observation")} END,
           'observed_at', CASE WHEN host.id IS NOT NULL THEN {observed("server", "observation")} END,
           'faults', {faults_of("server")},
           'addresses', CASE WHEN server.ssh_host IS NULL THEN json_build_array()
                             ELSE json_build_array(server.ssh_host) END,
           'ssh', CASE WHEN server.ssh_host IS NOT NULL THEN json_build_object(
             'host', server.ssh_host, 'port', server.ssh_port, 'user', server.ssh_user,
             'command', format('ssh -p %s %s@%s', server.ssh_port, server.ssh_user, server.ssh_host),
             'host_key', server.host_key, 'host_key_fingerprint', server.host_key_fingerprint) END,
           'ssh_keys', jsonb_path_query_array(server.ssh_keys, '$[*].name'),
           'ssh_keys_since', {rfc3339("server.ssh_keys_since")},
           'ssh_access', CASE WHEN server.sources_observed_at IS NOT NULL THEN json_build_object(
             'allowed_sources', server.allowed_sources,
             'current', server.sources_revision IS NOT DISTINCT FROM page.sources_revision,
             'observed_at', {rfc3339("server.sources_observed_at")}) END,
           's3_access', CASE WHEN server.s3_observed_at IS NOT NULL THEN json_build_object(
             'connections', server.s3_connections, 'mounts', server.s3_mounts,
             'current', server.s3_revision IS NOT DISTINCT FROM page.s3_revision,
             'observed_at', {rfc3339("server.s3_observed_at")}) END
         ) ORDER BY server.ordinal) AS list
    FROM poplar_servers AS server
    LEFT JOIN allocations AS held
      ON (held.project_id, held.cluster_id, held.ordinal) = (server.project_id, server.cluster_id, server.ordinal)
     AND held.host_id IS NOT NULL AND held.released_at IS NULL
    LEFT JOIN hosts AS host ON host.id = held.host_id
    LEFT JOIN observations AS observation ON observation.region = page.region AND observation.source = 'host'
   WHERE server.project_id = page.project_id AND server.cluster_id = page.id
) AS servers ON true
"""  # noqa: S608  # our own text
_BUCKETS = """
LEFT JOIN LATERAL (
  SELECT json_agg(bucket.name ORDER BY attached.place) AS list
    FROM cluster_s3_connections AS attached
    JOIN s3_connections AS bucket ON (bucket.project_id, bucket.id) = (attached.project_id, attached.connection_id)
   WHERE attached.project_id = page.project_id AND attached.cluster_id = page.id
) AS buckets ON true
"""
_SEEN = """
LEFT JOIN LATERAL (
  SELECT min(finished_at) AS at FROM observations
   WHERE region = page.region AND source IN ('bmc', 'host')
     AND EXISTS (SELECT FROM allocations AS held
                  WHERE held.project_id = page.project_id AND held.cluster_id = page.id AND held.released_at IS NULL)
) AS observed ON true
"""
# A cluster that became ready before its controller was first observed has the partition that was made with it.
_DIVIDED = """
LEFT JOIN LATERAL (
  SELECT CASE WHEN count(*) = 0
         THEN json_build_array(json_build_object(
           'name', page.external_name, 'ipus', page.ipus, 'reconfigurable', page.reconfigurable))
         ELSE json_agg(json_build_object(
           'name', partition.name,
           'ipus', coalesce(partition.size, to_jsonb(page.ipus)),
           'reconfigurable', coalesce(partition.reconfigurable, to_jsonb(page.reconfigurable))
         ) ORDER BY partition.created_at, partition.id) FILTER (WHERE partition.removed_at IS NULL) END AS list
    FROM shown_partitions AS partition
   WHERE partition.project_id = page.project_id AND partition.cluster_id = page.id
) AS divided ON page.ready_at IS NOT NULL AND page.allocated_through = 'v-ipu'
             AND page.state NOT IN ('error', 'suspended', 'deleting', 'deleted')
"""
_OPEN_OPERATION = clauses(
    "LEFT JOIN LATERAL (SELECT stage, progress, json_build_object(",
    SUMMARY,
    """) AS operation,
           (SELECT json_build_object('from_flavor', from_flavor, 'to_flavor', to_flavor, 'moves', moves)
              FROM resizes WHERE operation_id = operations.id) AS resize,
           (SELECT parked_at FROM work WHERE kind = 'cluster' AND key = operations.cluster_id::text) AS parked_at
      FROM operations
    WHERE operations.cluster_id = page.id AND partition_id IS NULL
      AND state NOT IN ('cancelled', 'failed', 'succeeded')
    LIMIT 1) AS open ON true""",
)
_JOINS = clauses(
    wrong("page"),
    SHOWN,
    SHOWN_SCHEDULE,
    SHOWN_IDLE,
    SHOWN_WAIT,
    SHOWN_NOTICE,
    _SEEN,
    _BUCKETS,
    OF_CLUSTER,
    _SERVERS,
    _DIVIDED,
    _OPEN_OPERATION,
    SO_FAR,
    PRICE_NOW,
)
_LISTED = clauses(
    PAID,
    ", documents AS (SELECT page.place, page.version, json_build_object(",
    _MEMBERS,
    ") AS document FROM page CROSS JOIN project",
    _JOINS,
    ")",
)
_DOCUMENTS = clauses(
    PAID,
    ", documents AS (SELECT page.place, page.version, json_build_object(",
    _MEMBERS,
    ", 'machines', coalesce(held.machines, '[]')) AS document FROM page CROSS JOIN project",
    _JOINS,
    _HELD,
    ")",
)
_ONE = """
, page AS (
  SELECT clusters.*, 1 AS place FROM clusters
  WHERE project_id = (SELECT project_id FROM project) AND id = :cluster_id
)
"""
# Living and deleted clusters are two branches, so that the living are found by their own index however many have been
# deleted; the second branch is not started unless a filter asks for deleted ones.
_LIVING = """
WHERE project_id = (SELECT project_id FROM project) AND deleted_at IS NULL
  AND (CAST(:state AS text[]) IS NULL OR state = ANY(CAST(:state AS text[])))
"""
_DELETED = """
WHERE project_id = (SELECT project_id FROM project) AND deleted_at IS NOT NULL
  AND 'deleted' = ANY(CAST(:state AS text[]))
"""
_FILTERS = """
  AND (CAST(:region AS text) IS NULL OR region = CAST(:region AS text))
  AND (CAST(:flavor AS text) IS NULL OR flavor = CAST(:flavor AS text))
  AND (CAST(:name AS text) IS NULL OR name = CAST(:name AS text))
  AND (CAST(:q AS text) IS NULL OR position(CAST(:q AS text) IN name) > 0)
  AND (CAST(:tags AS jsonb) IS NULL OR tags @> CAST(:tags AS jsonb))
"""


GET_CLUSTER = authenticated(clauses(_ONE, _DOCUMENTS, ONE_DOCUMENT), OneDocument)
"""Parameters: those of the authentication and `:cluster_id`. Deleted clusters are still there."""

LIST_CLUSTERS: Mapping[NamedOrder, Query[NamedPage]] = {
    order: authenticated(
        clauses(page_of("clusters", order, _LIVING + _FILTERS, _DELETED + _FILTERS), _LISTED, NAMED_PAGE),
        NamedPage,
    )
    for order in NamedOrder
}
"""Parameters: those of the authentication, those of `db.documents.list_parameters` for a `ClusterList`, and `:tags`, a
JSON object or NULL. Clusters are listed without `machines`, and deleted ones only if `:state` names them."""

_READ = Query(
    clauses(
        "WITH project AS (SELECT id AS project_id, slug FROM projects WHERE id = CAST(:project_id AS uuid))",
        _ONE,
        _DOCUMENTS,
        READ_BACK,
    ),
    str,
)


async def cluster_document(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> str:
    """A cluster's JSON inside the transaction that changed it. Raises sqlalchemy.exc.NoResultFound."""
    return await _READ.one(connection, {"project_id": project_id, "cluster_id": cluster_id})


CLUSTER_NAME = Query("SELECT name FROM clusters WHERE id = :cluster_id", str)
"""For workers, which tell of a cluster by its name."""
