"""Ways in which scheduled repairs, budgets and holds can be wrong, each planted where there are none yet."""

from __future__ import annotations

from ipucloud.invariants.repairing import Outcome
from tests.feature.invariants.corruption import corruption as _c
from tests.feature.invariants.corruption import refused

_BUDGET = (
    "INSERT INTO budgets (id, project_id, name, amount, currency) VALUES (%(project)s, %(project)s, 'b', 10, 'EUR')"
)
_ALERT = (
    "INSERT INTO budget_alerts (budget_id, month, measure, percent, figure, amount)"
    " SELECT %(project)s, {month}, 'actual', 50, 5, 10"
)
_NOW = "date_trunc('month', app_now() AT TIME ZONE 'UTC')::date"
_EVENT = (
    "INSERT INTO events (project_id, type, subject_type, subject_id, data)"
    " SELECT %(project)s, 'budget.threshold_reached', 'budget', %(project)s, jsonb_build_object("
    "'month', to_char(app_now() AT TIME ZONE 'UTC', 'YYYY-MM'), 'percent', 50)"
)
_HOLD = (
    "INSERT INTO create_holds (cluster_id, project_id, account_id, amount, currency)"
    " VALUES ({cluster}, %(project)s, {account}, 3.75, 'EUR')"
)
_TOP_UP = (
    "INSERT INTO prepaid_accounts (account_id, currency, when_empty) VALUES (%(project)s, 'EUR', 'warn')",
    "INSERT INTO payments (id, account_id, currency, direction, amount, reference, state, automatic)"
    " VALUES (%(active)s, %(project)s, 'EUR', 'in', 5, 'TOP-1', 'pending', true)",
    "INSERT INTO top_up_policies (account_id, currency, amount, below, month_limit, payment_id)"
    " VALUES (%(project)s, 'EUR', 5, 1, 5, %(active)s)",
)
_SCHEDULED = (
    "INSERT INTO scheduled_repairs (id, project_id, cluster_id, reason, hardware, starts_at, latest_at, started_at,"
    " operation_id)"
    " VALUES (gen_random_uuid(), %(project)s, {cluster}, 'fault', '{{m0}}', app_now(), app_now(), {begun})"
)

LIVE = (
    *(
        _c(
            "scheduled_repair_has_its_cause",
            Outcome.REPAIRED,
            _SCHEDULED.format(cluster=f"%({cluster})s", begun=begun),
        )
        for cluster, begun in (
            ("active", "NULL, NULL"),
            ("deleted", "NULL, NULL"),
            ("active", "app_now(), %(finished)s"),
        )
    ),
    refused(
        "budget_threshold_fires_once",
        _BUDGET,
        *[_ALERT.format(month="'2020-01-01'")] * 2,
        off=("pk_budget_alerts",),
    ),
    refused("budget_alert_is_sent_once", _BUDGET, _ALERT.format(month=_NOW)),
    refused("budget_alert_is_sent_once", _BUDGET, _ALERT.format(month=_NOW), _EVENT, _EVENT),
    refused("budget_alert_is_sent_once", _BUDGET, _EVENT),
    refused(
        "budget_has_figures_of_one_month",
        _BUDGET,
        "UPDATE budgets SET month = '2026-05-01', actual = 5, forecast = 1, evaluated_at = app_now()",
    ),
    refused("top_up_is_followed", *_TOP_UP, "UPDATE top_up_policies SET payment_id = NULL"),
    refused(
        "top_up_is_followed",
        *_TOP_UP,
        "UPDATE payments SET state = 'failed', finished_at = app_now() - interval '2 hours'",
    ),
    _c(
        "restriction_follows_overdue_invoices",
        Outcome.REPAIRED,
        "INSERT INTO dunning_policies (account_id, remind_after, suspend_after, restriction)"
        " VALUES (%(project)s, '{1}', 30, 'suspend')",
    ),
    _c("hold_has_an_owner", Outcome.REPAIRED, _HOLD.format(cluster="gen_random_uuid()", account="%(project)s")),
    refused("hold_is_of_who_paid_when_it_was_made", _HOLD.format(cluster="%(creating)s", account="%(other)s")),
)
