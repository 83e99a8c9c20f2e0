"""Ways in which credits can be wrong, each planted alone."""

from __future__ import annotations

from tests.feature.invariants.corruption import refused as _c

_REPORT = (
    "INSERT INTO health_reports (id, region, host_id, source, code, allocation, credited, detail, first_seen_at,"
    " confirmed_at, last_seen_at, good_since, cleared_at)"
    " SELECT gen_random_uuid(), region, id, 'host', 'host_failed', 'prevented', {credited}, 'x',"
    " app_now() - interval '{hours} hours', app_now(), app_now(), app_now(), app_now() FROM hosts LIMIT 1"
)
_FAULT = _REPORT.format(credited="true", hours=20)
_CREDIT = "UPDATE usage_intervals SET credited = 1 WHERE resource_id = %({cluster})s"
_CITE = (
    "INSERT INTO usage_credits (project_id, interval_id, report_id)"
    " SELECT u.project_id, u.id, r.id FROM usage_intervals u, health_reports r WHERE u.resource_id = %({cluster})s"
)


CREDITS = (
    _c("credit_cites_a_report", _CREDIT.format(cluster="active")),
    _c("credit_cites_a_report", _FAULT, _CITE.format(cluster="active")),
    _c(
        "cited_report_justifies_the_credit",
        _REPORT.format(credited="false", hours=20),
        _CREDIT.format(cluster="deleting"),
        _CITE.format(cluster="deleting"),
    ),
    _c(
        "cited_report_justifies_the_credit",
        _FAULT,
        "UPDATE health_reports SET cleared_at = first_seen_at",
        _CREDIT.format(cluster="deleting"),
        _CITE.format(cluster="deleting"),
    ),
    _c(
        "credit_begins_with_its_fault",
        _REPORT.format(credited="true", hours=1),
        _CREDIT.format(cluster="deleting"),
        _CITE.format(cluster="deleting"),
    ),
    _c("credit_ends_with_its_fault", _FAULT, _CREDIT.format(cluster="active"), _CITE.format(cluster="active")),
    _c(
        "credit_counts_what_did_not_work",
        "INSERT INTO health_reports (id, region, machine_id, source, code, allocation, credited, detail, message,"
        " first_seen_at, confirmed_at, last_seen_at, good_since, cleared_at)"
        " SELECT gen_random_uuid(), 'luxembourg-2', a.machine_id, 'bmc', 'bmc_critical', 'prevented', true, 'x', 'x',"
        " u.started_at + interval '1 hour', u.started_at + interval '1 hour', u.started_at + interval '2 hours',"
        " u.started_at + interval '2 hours', u.started_at + interval '2 hours'"
        " FROM usage_intervals u JOIN allocations a ON a.cluster_id = u.resource_id AND a.machine_id IS NOT NULL"
        " WHERE u.resource_id = %(deleting)s",
    ),
    _c(
        "charge_leaves_out_what_is_credited",
        "SELECT open_billing_month('2026-05-01')",
        "INSERT INTO hour_closes (hour, closed_at, charges) SELECT '2026-05-05T10:00Z', '2026-05-05T11:02Z', 1",
        "INSERT INTO usage_charges (billing_month, hour, resource_id, first_minute, project_id, account_id,"
        " interval_id, price_id, started_at, ended_at, minutes, quantity, credited, sku, region, currency, unit_price,"
        " list_unit_price) SELECT '2026-05-01', '2026-05-05T10:00Z', resource_id, 0, project_id, project_id, id,"
        " gen_random_uuid(), '2026-05-05T10:00Z', '2026-05-05T11:00Z', 60, 3, 1, sku, region, currency, 0, 0"
        " FROM usage_intervals WHERE resource_id = %(active)s",
    ),
)
