"""The health reports that a credited interval cites, as JSON for customers."""

from __future__ import annotations

from ipucloud.db.documents import rfc3339


def cited(interval: str, until: str) -> str:
    """SQL of the JSON array of `contract.charges.CitedReportOut` of the interval with the id `interval`.

    A report is cited when it is confirmed. If a fault that began earlier is confirmed later and ends the interval
    before the report began, the report is no reason of it: only those that began before `until` are. Both arguments are
    columns with the name of their table, which would else be taken for columns of the tables that are read here.
    """
    return f"""coalesce((
      SELECT json_agg(json_build_object(
               'report_id', f.id, 'kind', f.kind, 'machine', f.machine, 'code', f.code, 'message', f.message,
               'first_seen_at', {rfc3339("f.first_seen_at")}, 'ended_at', {rfc3339("f.ended_at")}
             ) ORDER BY f.first_seen_at, f.id)
        FROM usage_credits e JOIN cited_faults f ON f.id = e.report_id
       WHERE e.interval_id = {interval} AND coalesce(f.first_seen_at < {until}, true)), '[]')"""  # noqa: S608  # our own text
