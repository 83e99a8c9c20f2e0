"""Rules about clusters, their operations and their Poplar servers."""

from __future__ import annotations

from types import MappingProxyType

from ipucloud.clusters.operations.all import BESIDE_PARTITIONS
from ipucloud.clusters.operations.repair import REPAIR
from ipucloud.clusters.operations.resize import RESIZE
from ipucloud.db.documents import clauses
from ipucloud.invariants.rules import Invariant, Refusal, by, decided
from ipucloud.invariants.states import STATES
from ipucloud.invariants.worker_repairs import build_again, delete_again, end_operations
from ipucloud.kernel.ids import ALPHABET

_NO_OPERATION_OF_KIND = """
       AND NOT EXISTS (SELECT FROM operations o
                        WHERE o.project_id = c.project_id AND o.cluster_id = c.id AND o.finished_at IS NULL
                          AND o.kind = :{kind})
"""

CREATING = Invariant(
    name="cluster_being_created_has_its_operation",
    sentence="A cluster in `creating` has an open operation that creates it.",
    object_type="cluster",
    remedy="Delete the cluster; that removes whatever was built.",
    repair=Refusal("It is unknown how far the creation got and whether the cluster is still wanted."),
    statement=f"""
    SELECT c.id::text AS object_id, c.project_id, 'nothing creates the cluster' AS detail
      FROM clusters c WHERE c.state = 'creating' {_NO_OPERATION_OF_KIND.format(kind="create")}
    """,  # noqa: S608  # our own text
    parameters=STATES,
)

DELETING = Invariant(
    name="cluster_being_deleted_has_its_operation",
    sentence="A cluster in `deleting` has an open operation that deletes it.",
    object_type="cluster",
    remedy="Apply the audit's repair.",
    repair=delete_again,
    statement=f"""
    SELECT c.id::text AS object_id, c.project_id, 'nothing deletes the cluster' AS detail
      FROM clusters c WHERE c.state = 'deleting' {_NO_OPERATION_OF_KIND.format(kind="delete")}
    """,  # noqa: S608  # our own text
    parameters=STATES,
)

BETWEEN = Invariant(
    name="suspending_or_resuming_cluster_has_its_operation",
    sentence="A cluster in `suspending`, `resuming`, `rebuilding` or `resizing` has the open operation for that.",
    object_type="cluster",
    remedy="Determine its progress from its events and the site; the customer can delete it.",
    repair=Refusal("It is unknown how far the operation got and whether the servers are still wanted."),
    statement="""
    SELECT c.id::text AS object_id, c.project_id, format('the cluster is %s, and nothing does it', c.state) AS detail
      FROM clusters c
     WHERE c.state IN ('suspending', 'resuming', 'rebuilding', 'resizing')
       AND NOT EXISTS (SELECT FROM operations o
                        WHERE o.project_id = c.project_id AND o.cluster_id = c.id AND o.finished_at IS NULL
                          AND CASE c.state WHEN 'suspending' THEN o.kind = :suspend
                                           WHEN 'resuming' THEN o.kind = :resume
                                           WHEN 'resizing' THEN o.kind = :resize
                                           ELSE o.kind IN (:replace, :rebuild) END)
    """,
    parameters=STATES,
)

SETTLED = Invariant(
    name="settled_cluster_is_not_being_changed",
    sentence="A cluster's state matches its open operation. Operations on partitions run only while it is in use and"
    " nothing excludes them.",
    object_type="cluster",
    remedy="Delete the cluster (`ipucloud admin clusters force-delete`); that ends the operation. If it is already"
    " deleted, have the audit end it.",
    repair=end_operations,
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           format('the cluster is in %s, and operation %s is a %s', c.state, o.id, o.kind) AS detail
      FROM clusters c
      JOIN operations o ON o.project_id = c.project_id AND o.cluster_id = c.id AND o.finished_at IS NULL
      LEFT JOIN capacity_waits w ON w.project_id = o.project_id AND w.operation_id = o.id AND w.granted_at IS NULL
     WHERE o.kind = :create AND c.state <> 'creating' OR o.kind = :delete AND c.state <> 'deleting'
        OR o.kind = :suspend AND c.state <> 'suspending'
        OR o.kind = :resume AND c.state <> CASE WHEN w.cluster_id IS NULL THEN 'resuming' ELSE 'suspended' END
        OR o.kind IN (:replace, :rebuild) AND c.state <> 'rebuilding'
        OR o.kind = :resize AND CASE WHEN w.cluster_id IS NULL THEN c.state <> 'resizing'
                                     ELSE c.state <> ALL (:working) END
        OR o.partition_id IS NOT NULL AND (c.state <> ALL (:working) OR EXISTS (
             SELECT FROM operations own
              WHERE own.project_id = c.project_id AND own.cluster_id = c.id AND own.partition_id IS NULL
                AND own.finished_at IS NULL AND own.kind <> ALL (:beside)))
    """,
    parameters=MappingProxyType({**STATES, "beside": sorted(BESIDE_PARTITIONS | {REPAIR.name, RESIZE.name})}),
)

TIMES_IN_ORDER = Invariant(
    name="cluster_times_in_order",
    sentence="A cluster is created, then ready, then requested to be deleted, then deleted.",
    object_type="cluster",
    remedy="Nothing is billed by these times. Find out what wrote them.",
    repair=decided(
        "moves each time that is too early to the one before it",
        "The database does not show what really happened.",
        """
        UPDATE clusters SET ready_at = greatest(ready_at, created_at)
         WHERE project_id = :project_id AND id = CAST(:object_id AS uuid) AND ready_at IS NOT NULL
        """,
        """
        UPDATE clusters
           SET delete_requested_at = CASE WHEN state IN ('deleting', 'deleted') THEN
                 greatest(coalesce(delete_requested_at, state_entered_at), coalesce(ready_at, created_at)) END,
               deleted_at = CASE WHEN state = 'deleted' THEN
                 greatest(coalesce(deleted_at, state_entered_at), delete_requested_at, ready_at, created_at) END,
               version = version + 1
         WHERE project_id = :project_id AND id = CAST(:object_id AS uuid)
        """,
    ),
    statement="""
    SELECT id::text AS object_id, project_id,
           format('in %s: created %s, ready %s, asked to go %s, deleted %s', state, created_at,
                  coalesce(ready_at::text, 'never'), coalesce(delete_requested_at::text, 'never'),
                  coalesce(deleted_at::text, 'never')) AS detail
      FROM clusters
     WHERE ready_at < created_at OR delete_requested_at < coalesce(ready_at, created_at)
        OR deleted_at < coalesce(delete_requested_at, ready_at, created_at)
        OR (state = 'deleted') <> (deleted_at IS NOT NULL)
        OR (state = 'deleting' AND delete_requested_at IS NULL)
        OR (delete_requested_at IS NOT NULL AND state NOT IN ('deleting', 'deleted'))
    """,
)


# kernel.ids.external_name in SQL: 26 characters for 130 bits, of which a UUID has 128.
_CHARACTERS = " || ".join(
    f"substr(:alphabet, 1 + substr(bits, {1 + 5 * place}, 5)::bit(5)::integer, 1)" for place in range(26)
)

OWN_NAME = Invariant(
    name="cluster_has_its_own_name_outside",
    sentence="A cluster's external name consists of its id and its incarnation.",
    object_type="cluster",
    remedy="Before you delete the cluster, make sure that nothing at the site has the wrong name; ask for help.",
    repair=Refusal("Objects at the site may have either name."),
    statement=clauses(
        "SELECT id::text AS object_id, project_id,",
        "format('its external name is %s, not %s', external_name, its_own) AS detail",
        "FROM (SELECT id, project_id, external_name,",
        _CHARACTERS,
        "|| '-' || incarnation AS its_own",
        "FROM clusters, LATERAL (SELECT '00' || ('x' || replace(id::text, '-', ''))::bit(128)::text) AS number (bits)",
        "WHERE deleted_at IS NULL) AS named",
        "WHERE external_name <> its_own",
    ),
    parameters=MappingProxyType({"alphabet": ALPHABET}),
)

SERVERS_OF_HOSTS = Invariant(
    name="every_host_of_a_cluster_has_its_server",
    sentence="A cluster has a Poplar server of the same number for each of its hosts.",
    object_type="cluster",
    remedy="Have the cluster deleted and created again, or restore the rows from a backup.",
    repair=Refusal("The database does not show which server is on which host."),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           format('hosts %s, Poplar servers %s', coalesce(hosts.numbers, '{}'), coalesce(servers.numbers, '{}'))
             AS detail
      FROM clusters c
      LEFT JOIN (SELECT cluster_id, array_agg(ordinal ORDER BY ordinal) AS numbers FROM allocations
                  WHERE freed_at IS NULL AND host_id IS NOT NULL GROUP BY cluster_id) AS hosts
             ON hosts.cluster_id = c.id
      LEFT JOIN LATERAL (SELECT array_agg(ordinal ORDER BY ordinal) AS numbers FROM poplar_servers s
                          WHERE s.project_id = c.project_id AND s.cluster_id = c.id
                            AND (c.state <> 'suspended' OR s.state <> 'pending')) AS servers ON true
     WHERE c.state = ANY (:served)
       AND (hosts.numbers IS DISTINCT FROM servers.numbers OR hosts.numbers IS NULL AND c.state <> 'suspended')
       AND (hosts.numbers IS NOT NULL OR NOT EXISTS (
             SELECT FROM capacity_waits w
              WHERE w.project_id = c.project_id AND w.cluster_id = c.id AND w.granted_at IS NULL
                AND w.kind = 'cluster.create'))
    """,
    parameters=STATES,
)

SERVER_NAMES = Invariant(
    name="server_is_named_after_its_cluster",
    sentence="A Poplar server is named `<external name of its cluster, now or earlier>-p<number>`.",
    object_type="poplar_server",
    remedy="Read the host (`ipucloud admin hosts show`). If the server there has the cluster's name, have the audit"
    " write that; otherwise find out whose it is.",
    repair=decided(
        "gives the server the present name of its cluster",
        "The server on the host may have either name.",
        """
        UPDATE poplar_servers AS s SET name = c.external_name || '-p' || s.ordinal
          FROM clusters AS c
         WHERE s.project_id = :project_id AND s.id = CAST(:object_id AS uuid)
           AND (c.project_id, c.id) = (s.project_id, s.cluster_id)
        """,
    ),
    statement="""
    SELECT s.id::text AS object_id, s.project_id,
           format('server %s of cluster %s is called %s', s.ordinal, c.external_name, s.name) AS detail
      FROM poplar_servers s JOIN clusters c ON c.project_id = s.project_id AND c.id = s.cluster_id
     WHERE NOT EXISTS (SELECT FROM generate_series(1, c.incarnation) AS earlier (incarnation)
                        WHERE s.name = concat(regexp_replace(c.external_name, '[0-9]+$', ''), earlier.incarnation,
                                              '-p', s.ordinal))
    """,
)

SERVERS_RUN = Invariant(
    name="working_cluster_has_running_servers",
    sentence="Every Poplar server of a cluster in use runs, restarts or is rebuilt, and has an address and a host key.",
    object_type="cluster",
    remedy="Apply the audit's repair.",
    repair=build_again("read the servers and record their addresses and keys", "deploy_poplar_servers"),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           string_agg(format('%s is %s at %s', s.name, s.state, coalesce(s.ssh_host, 'no address')), '; '
                      ORDER BY s.ordinal) AS detail
      FROM clusters c JOIN poplar_servers s ON s.project_id = c.project_id AND s.cluster_id = c.id
     WHERE c.state = ANY (:working)
       AND (num_nulls(s.ssh_host, s.ssh_port, s.ssh_user, s.host_key) > 0
            OR s.state <> 'running' AND NOT EXISTS (
                 SELECT FROM operations o
                  WHERE o.project_id = c.project_id AND o.cluster_id = c.id AND o.finished_at IS NULL
                    AND CASE s.state WHEN 'rebooting' THEN o.kind IN ('cluster.reboot', 'cluster.power-cycle')
                                     WHEN 'rebuilding' THEN o.kind = 'cluster.rebuild-servers' END))
     GROUP BY c.id
    """,
    parameters=STATES,
)

SERVERS_REST = Invariant(
    name="suspended_cluster_keeps_its_servers",
    sentence="Every Poplar server of a suspended cluster is off and has an address and a host key, unless a failed"
    " repair lost it.",
    object_type="cluster",
    remedy="Check the hosts. A resume finds a server that still exists.",
    repair=Refusal("The server's disk belongs to its customer; a person must check it."),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           string_agg(format('%s is %s at %s', s.name, s.state, coalesce(s.ssh_host, 'no address')), '; '
                      ORDER BY s.ordinal) AS detail
      FROM clusters c JOIN poplar_servers s ON s.project_id = c.project_id AND s.cluster_id = c.id
     WHERE c.state = 'suspended' AND s.state <> 'pending'
       AND (s.state <> 'off' OR num_nulls(s.ssh_host, s.ssh_port, s.ssh_user, s.host_key) > 0)
     GROUP BY c.id
    """,
)

SERVERS_GONE = Invariant(
    name="gone_cluster_has_no_server",
    sentence="Poplar servers of a deleted or failed cluster are gone and have no address.",
    object_type="cluster",
    remedy="Apply the audit's repair. Another rule covers servers that remain on hosts.",
    repair=by(
        "marks the servers as gone",
        """
        UPDATE poplar_servers s
           SET state = 'deleted', ssh_host = NULL, ssh_port = NULL, ssh_user = NULL, host_key = NULL,
               host_key_fingerprint = NULL
          FROM clusters c
         WHERE c.project_id = :project_id AND c.id = CAST(:object_id AS uuid) AND s.project_id = c.project_id
           AND s.cluster_id = c.id AND c.state IN ('error', 'deleted')
           AND (s.state <> 'deleted' OR s.ssh_host IS NOT NULL)
        """,
    ),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           string_agg(format('%s is %s at %s', s.name, s.state, coalesce(s.ssh_host, 'no address')), '; '
                      ORDER BY s.ordinal) AS detail
      FROM clusters c JOIN poplar_servers s ON s.project_id = c.project_id AND s.cluster_id = c.id
     WHERE c.state = ANY (:gone) AND (s.state <> 'deleted' OR s.ssh_host IS NOT NULL)
     GROUP BY c.id
    """,
    parameters=STATES,
)

OWN_ENDPOINT = Invariant(
    name="cluster_has_an_endpoint_of_its_own",
    sentence="No two clusters have the same V-IPU endpoint.",
    object_type="cluster",
    remedy="Ask the V-IPU controller for both allocations. If it tells the same endpoint, its customers share a view.",
    repair=Refusal("Only the controller knows whose it is; another rule compares it with what is recorded."),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           format('%s:%s is also that of cluster %s', c.endpoint_host, c.endpoint_port, min(other.id::text)) AS detail
      FROM clusters c
      JOIN clusters other ON other.endpoint_host = c.endpoint_host AND other.endpoint_port = c.endpoint_port
                         AND other.id <> c.id
     GROUP BY c.id
    """,
)

NO_ENDPOINT_LEFT = Invariant(
    name="cluster_without_allocation_has_no_endpoint",
    sentence="A cluster that is suspended or gone has no V-IPU endpoint.",
    object_type="cluster",
    remedy="Apply the audit's repair.",
    repair=by(
        "clears the endpoint",
        """
        UPDATE clusters SET endpoint_host = NULL, endpoint_port = NULL
         WHERE project_id = :project_id AND id = CAST(:object_id AS uuid) AND endpoint_host IS NOT NULL
           AND state IN ('suspended', 'error', 'deleted')
        """,
    ),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           format('the cluster is %s and has %s:%s', c.state, c.endpoint_host, c.endpoint_port) AS detail
      FROM clusters c WHERE c.endpoint_host IS NOT NULL AND c.state = ANY (:taken_down)
    """,
    parameters=STATES,
)

RULES = (
    CREATING,
    DELETING,
    BETWEEN,
    SETTLED,
    TIMES_IN_ORDER,
    OWN_NAME,
    SERVERS_OF_HOSTS,
    SERVER_NAMES,
    SERVERS_RUN,
    SERVERS_REST,
    SERVERS_GONE,
    OWN_ENDPOINT,
    NO_ENDPOINT_LEFT,
)
