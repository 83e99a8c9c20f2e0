"""Machines, hosts, pods with their masks of slots, and V-IPU controllers, as operators see them."""

from __future__ import annotations

from collections.abc import Iterable

from ipucloud.admin.pages import keyed_page
from ipucloud.clusters.states import BILLABLE
from ipucloud.db.documents import clauses, rfc3339
from ipucloud.db.rows import Query
from ipucloud.inventory.health.codes import PREVENTING_AUTOMATION, SUPPRESSING_ALERTS, Code
from ipucloud.inventory.health.tables import answered_lately, read_lately, shown_health
from ipucloud.inventory.snapshot import SlotState
from ipucloud.site.vipu_ports import SUPPORTED

HISTORY = 100
_IN_USE = ", ".join(f"'{state}'" for state in sorted(BILLABLE))

_SOURCE = {"machine": "bmc", "host": "host"}


def _joins(kind: str) -> str:
    """The region's reading, the live reports and the holder of `object`."""
    return f"""
  LEFT JOIN observations AS reading ON reading.region = object.region AND reading.source = '{_SOURCE[kind]}'
  LEFT JOIN allocations AS held ON held.{kind}_id = object.id AND held.freed_at IS NULL
  LEFT JOIN shown_hardware AS shown ON (shown.region, shown.kind, shown.name) = (object.region, '{kind}', object.key)
  LEFT JOIN LATERAL (
    SELECT array_agg(code ORDER BY code) AS codes,
           max(last_seen_at) FILTER (WHERE code IN ('link_down', 'link_degraded')) AS links_at
      FROM health_reports
     WHERE {kind}_id = object.id AND cleared_at IS NULL AND confirmed_at IS NOT NULL) AS live ON true
"""  # noqa: S608  # our own text


_STATE = """
CASE WHEN held.released_at IS NOT NULL THEN 'cleaning' WHEN held.id IS NOT NULL THEN 'allocated'
     WHEN object.allocatable AND NOT object.withheld THEN 'free' WHEN object.maintenance THEN 'maintenance'
     WHEN object.validating THEN 'validating' WHEN object.withheld THEN 'silent' ELSE 'unhealthy' END
"""
_HEALTH = {
    "machine": shown_health("object.health", read_lately("reading"), answered_lately("wired")),
    "host": shown_health("object.health", read_lately("reading")),
}
_SHARED = f"""
object.*, {_STATE} AS state, reading.finished_at AS observed_at,
coalesce(live.codes, '{{}}') AS codes, held.id AS held_by, shown.serial, shown.model, shown.firmware,
coalesce(shown.parts, '{{}}')::json AS parts, coalesce(shown.part_serials, '{{}}') AS part_serials, shown.missing_since
"""
_LINKS_SEEN = "object.used AND wired.stale_at > app_now()"
_LINKS_SEEN_AT = f"""
CASE WHEN live.codes && '{{link_down,link_degraded}}' THEN live.links_at
     WHEN {_LINKS_SEEN} THEN wired.finished_at
     ELSE greatest((SELECT max(released_at) FROM allocations WHERE machine_id = object.id),
                   (SELECT max(tested_at) FROM hardware_validations WHERE machine_id = object.id)) END
"""  # noqa: S608  # our own text
_LINKS = f"""
CASE WHEN object.host IS NULL THEN json_build_object(
  'state', CASE WHEN 'link_down' = ANY (live.codes) THEN 'down' WHEN 'link_degraded' = ANY (live.codes) THEN 'degraded'
                WHEN {_LINKS_SEEN} THEN 'up' ELSE 'unknown' END,
  'observed_at', {rfc3339(f"({_LINKS_SEEN_AT})")}) END
"""
_MACHINES = f"""
SELECT {_SHARED}, {_HEALTH["machine"]} AS shown_health, {_LINKS} AS links FROM (
    SELECT m.name AS key, m.id, p.region, p.gw_group, p.name AS pod, m.slot, p.machine_type, p.controller, m.rnic,
           m.bmc, m.gateway,
           own.name AS host, m.health, m.maintenance OR coalesce(own.maintenance, false) AS maintenance,
           m.allocatable AND coalesce(own.allocatable, true) AS allocatable,
           m.validating AND coalesce(own.allocatable, true) AS validating,
           coalesce((SELECT withheld FROM vipu_controllers v
                      WHERE (v.region, v.name) = (p.region, p.controller)), false) AS withheld,
           EXISTS (SELECT FROM allocations AS a
                     JOIN clusters AS c ON c.project_id = a.project_id AND c.id = a.cluster_id
                    WHERE a.machine_id = m.id AND a.released_at IS NULL AND c.state IN ({_IN_USE})) AS used
      FROM machines AS m JOIN pods AS p ON p.id = m.pod_id LEFT JOIN hosts AS own ON own.machine_id = m.id
  ) AS object {_joins("machine")}
  LEFT JOIN vipu_controllers AS wired ON wired.region = object.region AND wired.name = object.controller
"""  # noqa: S608  # our own text
_HOSTS = f"""
SELECT {_SHARED}, {_HEALTH["host"]} AS shown_health FROM (
    SELECT h.name AS key, h.id, h.region, h.address, m.name AS machine, h.health, h.maintenance, h.allocatable,
           false AS validating, false AS withheld
      FROM hosts AS h LEFT JOIN machines AS m ON m.id = h.machine_id
  ) AS object {_joins("host")}
"""  # noqa: S608  # our own text
_FILTERED = """
WHERE (CAST(:region AS text) IS NULL OR region = CAST(:region AS text))
  AND (CAST(:health AS text) IS NULL OR shown_health = CAST(:health AS text))
  AND (CAST(:state AS text) IS NULL OR state = CAST(:state AS text))
  AND (CAST(:code AS text) IS NULL OR CAST(:code AS text) = ANY (codes))
  AND (CAST(:serial AS text) IS NULL OR serial = CAST(:serial AS text)
       OR position(':' || to_json(CAST(:serial AS text))::text IN part_serials) > 0)
  AND (CAST(:cluster AS uuid) IS NULL
       OR held_by IN (SELECT id FROM allocations WHERE cluster_id = CAST(:cluster AS uuid)))
"""
_OF_MACHINES = """
  AND (CAST(:pod AS text) IS NULL OR pod = CAST(:pod AS text))
  AND (CAST(:rack AS text) IS NULL OR gw_group = CAST(:rack AS text))
"""
_HOLDER = f"""
json_build_object(
  'project', projects.slug, 'cluster', clusters.id, 'reservation', a.reservation_id,
  'name', coalesce(clusters.name, reservations.name), 'state', coalesce(clusters.state, reservations.state),
  'since', {rfc3339("a.created_at")}, 'released_at', {rfc3339("a.released_at")}, 'freed_at', {rfc3339("a.freed_at")})
"""
_HOLDERS = """
FROM allocations AS a JOIN projects ON projects.id = a.project_id
LEFT JOIN clusters ON clusters.project_id = a.project_id AND clusters.id = a.cluster_id
LEFT JOIN reservations ON reservations.project_id = a.project_id AND reservations.id = a.reservation_id
"""
HOLDER = clauses("(SELECT", _HOLDER, _HOLDERS, "WHERE a.id = page.held_by)")
USER = clauses("(SELECT", _HOLDER, _HOLDERS, "WHERE a.id = page.held_by AND a.cluster_id IS NOT NULL)")
"""A holder that is a cluster: what a reservation holds alone is empty."""
_STATUS = f"""
'state', page.state, 'health', page.shown_health, 'observed_at', {rfc3339("page.observed_at")},
'allocatable', page.allocatable, 'maintenance', page.maintenance, 'codes', page.codes, 'serial', page.serial,
'model', page.model, 'firmware', page.firmware, 'holder', {HOLDER}
"""
_MACHINE = f"""
'name', page.key, 'region', page.region, 'rack', page.gw_group, 'pod', page.pod, 'slot', page.slot,
'machine_type', page.machine_type, 'links', page.links, {_STATUS}
"""
_HOST = f"""
'name', page.key, 'region', page.region, 'address', page.address, 'machine', page.machine, {_STATUS}
"""


def _listed(codes: Iterable[Code]) -> str:
    return f"({', '.join(repr(code.value) for code in codes)})"


_PREVENTING, _SUPPRESSING = _listed(PREVENTING_AUTOMATION), _listed(SUPPRESSING_ALERTS)


def _report(row: str) -> str:
    """The members of the health report `row`."""
    return f"""
  'id', {row}.id, 'kind', CASE WHEN {row}.machine_id IS NULL THEN 'host' ELSE 'machine' END,
  'name', coalesce((SELECT name FROM machines WHERE id = {row}.machine_id),
                   (SELECT name FROM hosts WHERE id = {row}.host_id)),
  'region', {row}.region, 'source', {row}.source, 'code', {row}.code,
  'state', CASE WHEN {row}.cleared_at IS NOT NULL THEN 'cleared' WHEN {row}.confirmed_at IS NULL THEN 'suspected'
                ELSE 'live' END,
  'allocation', {row}.allocation, 'credited', {row}.credited,
  'automation', CASE WHEN {row}.code IN {_PREVENTING} THEN 'prevented' ELSE 'allowed' END,
  'alerts', CASE WHEN {row}.code IN {_SUPPRESSING} THEN 'suppressed' ELSE 'raised' END,
  'detail', {row}.detail, 'message', {row}.message,
  'first_seen_at', {rfc3339(f"{row}.first_seen_at")}, 'confirmed_at', {rfc3339(f"{row}.confirmed_at")},
  'last_seen_at', {rfc3339(f"{row}.last_seen_at")}, 'good_since', {rfc3339(f"{row}.good_since")},
  'cleared_at', {rfc3339(f"{row}.cleared_at")}, 'expires_at', {rfc3339(f"{row}.expires_at")},
  'maintenance_at', {rfc3339(f"{row}.maintenance_at")},
  'created_by', {row}.created_by, 'cluster', {row}.cluster_id
"""  # noqa: S608  # our own text


_REPORT = clauses("json_build_object(", _report("r"), ")")


def _newest(document: str, rest: str, order: str) -> str:
    return clauses(
        "(SELECT coalesce(json_agg(document), '[]') FROM (SELECT",
        document,
        "AS document",
        rest,
        "ORDER BY",
        order,
        f"DESC LIMIT {HISTORY}) AS newest)",
    )


def _history(kind: str) -> str:
    reports = f"FROM health_reports AS r WHERE r.{kind}_id = page.id AND r.cleared_at IS"
    return clauses(
        ", 'reports',",
        _newest(_REPORT, f"{reports} NULL", "r.first_seen_at"),
        ", 'past_reports',",
        _newest(_REPORT, f"{reports} NOT NULL", "r.first_seen_at"),
        ", 'holders',",
        _newest(_HOLDER, clauses(_HOLDERS, f"WHERE a.{kind}_id = page.id"), "a.created_at"),
    )


def _one(rows: str, members: str, history: str) -> Query[str]:
    return Query(
        clauses("SELECT json_build_object(", members, history, ")::text FROM (", rows, ") AS page WHERE key = :name"),
        str,
    )


LIST_MACHINES = keyed_page(clauses("SELECT * FROM (", _MACHINES, ") AS machines", _FILTERED, _OF_MACHINES), _MACHINE)
LIST_HOSTS = keyed_page(clauses("SELECT * FROM (", _HOSTS, ") AS hosts", _FILTERED), _HOST)
"""Parameters of both: the filters, NULL for all."""
GET_MACHINE = _one(
    _MACHINES,
    clauses(
        _MACHINE,
        ", 'rnic', page.rnic, 'bmc', page.bmc, 'gateway', page.gateway, 'host', page.host, 'parts', page.parts,",
        "'part_serials', page.part_serials::json,",
        "'missing_since',",
        rfc3339("page.missing_since"),
    ),
    _history("machine"),
)
GET_HOST = _one(_HOSTS, _HOST, _history("host"))

LIST_REPORTS = keyed_page(
    """
    SELECT concat(to_char(r.first_seen_at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS'), ' ', r.id) AS key, r.*
      FROM health_reports AS r
     WHERE (CAST(:region AS text) IS NULL OR r.region = CAST(:region AS text))
       AND (CAST(:machine AS text) IS NULL OR r.machine_id = (SELECT id FROM machines WHERE name = :machine))
       AND (CAST(:host AS text) IS NULL OR r.host_id = (SELECT id FROM hosts WHERE name = :host))
       AND (CAST(:code AS text) IS NULL OR r.code = CAST(:code AS text))
       AND (CAST(:source AS text) IS NULL OR r.source = CAST(:source AS text))
       AND (r.cleared_at IS NOT NULL) = coalesce(CAST(:state AS text) = 'cleared', false)
       AND (CAST(:state AS text) IS NULL OR CAST(:state AS text) = 'cleared'
            OR (r.confirmed_at IS NOT NULL) = (CAST(:state AS text) = 'live'))
    """,
    _report("page"),
)
GET_REPORT = Query(clauses("SELECT", _REPORT, "::text FROM health_reports AS r WHERE r.id = :report_id"), str)
OBSERVATIONS = keyed_page(
    """
    SELECT concat(regions.region, ' ', o.source) AS key, regions.region, o.source, o.started_at, o.finished_at,
           extract(epoch FROM app_now() - o.finished_at)::int AS age, coalesce(o.objects, 0) AS objects,
           coalesce(o.answered, 0) AS answered, o.error, o.failed_since
      FROM site_regions AS regions LEFT JOIN observations AS o ON o.region = regions.region
    """,
    f"""
    'region', page.region, 'source', page.source, 'started_at', {rfc3339("page.started_at")},
    'finished_at', {rfc3339("page.finished_at")}, 'age_seconds', page.age, 'objects', page.objects,
    'answered', page.answered, 'error', page.error, 'failed_since', {rfc3339("page.failed_since")}
    """,
)


CONTROLLERS = keyed_page(
    f"""
    SELECT concat(region, ' ', name) AS key, *,
           CASE WHEN version !~ '^({SUPPORTED})$' THEN 'unsupported'
                WHEN error IS NOT NULL THEN 'silent'
                WHEN stale_at > app_now() THEN 'answering'
                ELSE 'unknown' END AS state
      FROM vipu_controllers
    """,  # noqa: S608  # our own text
    f"""
    'name', page.name, 'region', page.region, 'address', concat(page.host, ':', page.admin_port),
    'state', page.state, 'version', page.version, 'version_since', {rfc3339("page.version_at")},
    'tls', page.authority IS NOT NULL, 'users', page.secure, 'cluster_test', page.cluster_test,
    'observed_at', {rfc3339("page.finished_at")}, 'error', page.error,
    'failed_since', {rfc3339("page.failed_since")}
    """,
)
"""A page of the controllers, by region and name."""


_WITHHELD = {
    SlotState.UNHEALTHY: "CASE WHEN page.withheld THEN 0 ELSE page.unhealthy_mask END",
    SlotState.SILENT: "CASE WHEN page.withheld THEN page.unhealthy_mask ELSE 0 END",
}
_MASKS = ", ".join(f"'{state}', {_WITHHELD.get(state, f'page.{state}_mask')}" for state in SlotState)
LIST_PODS = keyed_page(
    f"""
    SELECT pods.name AS key, pods.*,
           wired.withheld, {read_lately("reading")} AS read, {answered_lately("wired")} AS answered,
           (SELECT count(*) FROM machines WHERE machines.pod_id = pods.id) AS machines
      FROM pods
      LEFT JOIN vipu_controllers AS wired ON wired.region = pods.region AND wired.name = pods.controller
      LEFT JOIN observations AS reading ON reading.region = pods.region AND reading.source = 'bmc'
     WHERE (CAST(:region AS text) IS NULL OR pods.region = CAST(:region AS text))
       AND (CAST(:rack AS text) IS NULL OR gw_group = CAST(:rack AS text))
       AND (CAST(:machine_type AS text) IS NULL OR machine_type = CAST(:machine_type AS text))
    """,  # noqa: S608  # our own text
    f"""
    'name', page.name, 'region', page.region, 'rack', page.gw_group, 'position', page.position,
    'machine_type', page.machine_type, 'topology', page.topology, 'machines', page.machines,
    'masks', json_build_object({_MASKS}), 'largest_block', page.largest_free,
    'health', (SELECT coalesce(json_object_agg(counted.health, counted.machines), '{{}}')
                 FROM (SELECT {shown_health("machines.health", "page.read", "page.answered")} AS health,
                              count(*) AS machines
                         FROM machines WHERE pod_id = page.id GROUP BY 1 ORDER BY 1) AS counted),
    'as_of', {rfc3339("app_now()")}
    """,  # noqa: S608  # our own text
)
"""By name. Parameters `:region`, `:rack` and `:machine_type`, or NULL for all."""
