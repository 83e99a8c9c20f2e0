"""The health reports that a credited interval cites, as JSON for customers."""

from __future__ import annotations

from ipucloud.db.documents import rfc3339


def cited(interval: str) -> str:
    """SQL of the JSON array of `contract.charges.CitedReportOut` of the interval with the id `interval`."""
    return f"""coalesce((
      SELECT json_agg(json_build_object(
               'report_id', f.id, 'kind', f.kind, 'machine', f.machine, 'code', f.code, 'message', f.message,
               'first_seen_at', {rfc3339("f.first_seen_at")}, 'ended_at', {rfc3339("f.ended_at")}
             ) ORDER BY f.first_seen_at, f.id)
        FROM usage_credits e JOIN cited_faults f ON f.id = e.report_id WHERE e.interval_id = {interval}), '[]')"""  # noqa: S608  # our own text
