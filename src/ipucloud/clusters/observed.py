"""SQL for what was observed of the hardware that clusters hold, for statements that write the API's JSON."""

from __future__ import annotations

from ipucloud.db.documents import rfc3339
from ipucloud.inventory.health.codes import Code

_LIVE = """
       held.released_at IS NULL AND report.message IS NOT NULL AND report.confirmed_at IS NOT NULL
   AND report.cleared_at IS NULL
"""
SHOWN_FAULTS = f"""
SELECT held.project_id, held.cluster_id, report.id, report.code, report.message, report.first_seen_at AS since,
       report.credited, machine.name,
       CASE WHEN report.code IN ('{Code.LINK_DOWN}', '{Code.LINK_DEGRADED}') THEN 'link' ELSE 'machine' END AS kind
  FROM allocations AS held
  JOIN machines AS machine ON machine.id = held.machine_id
  JOIN health_reports AS report ON report.machine_id = held.machine_id
 WHERE {_LIVE}
UNION ALL
SELECT held.project_id, held.cluster_id, report.id, report.code, report.message, report.first_seen_at,
       report.credited, server.name, 'poplar_server'
  FROM allocations AS held
  JOIN poplar_servers AS server
    ON (server.project_id, server.cluster_id, server.ordinal) = (held.project_id, held.cluster_id, held.ordinal)
  JOIN health_reports AS report ON report.host_id = held.host_id
 WHERE {_LIVE}
"""  # noqa: S608  # our own text
"""A query: the live health reports that customers see, of the hardware that their clusters hold."""


def wrong(cluster: str) -> str:
    """A join that adds `wrong.list` to the row `cluster` of the table: its faults as JSON, NULL if there are none."""
    return f"""
LEFT JOIN LATERAL (
  SELECT json_agg(json_build_object(
           'kind', fault.kind, 'name', fault.name, 'code', fault.code, 'message', fault.message,
           'since', {rfc3339("fault.since")}, 'credited', fault.credited
         ) ORDER BY fault.since, fault.name, fault.code) AS list
    FROM ({SHOWN_FAULTS}) AS fault
   WHERE fault.project_id = {cluster}.project_id AND fault.cluster_id = {cluster}.id
) AS wrong ON true
"""  # noqa: S608  # our own text


def faults_of(thing: str) -> str:
    """Those of `wrong.list` that are about the machine or Poplar server `thing`."""
    return f"""coalesce(CASE WHEN wrong.list IS NOT NULL THEN (
                          SELECT json_agg(fault) FROM json_array_elements(wrong.list) AS fault
                           WHERE fault ->> 'name' = {thing}.name) END, '[]')"""  # noqa: S608  # our own text


def health_of(thing: str, observation: str) -> str:
    """The health of a machine or host; one that was ok when it was observed too long ago is `unknown`."""
    fresh = f"coalesce({observation}.stale_at > app_now(), false)"
    return f"CASE WHEN {thing}.health = 'ok' AND NOT {fresh} THEN 'unknown' ELSE {thing}.health END"


def observed(thing: str, observation: str) -> str:
    """When the machine or Poplar server `thing` was last observed: before the readings that it was missing in."""
    missed = f"""CASE WHEN wrong.list IS NOT NULL THEN (
                   SELECT min((fault ->> 'since')::timestamptz) FROM json_array_elements(wrong.list) AS fault
                    WHERE fault ->> 'name' = {thing}.name AND fault ->> 'code' = '{Code.NOT_OBSERVED}') END"""  # noqa: S608  # our own text
    return rfc3339(f"least({observation}.finished_at, {missed})")
