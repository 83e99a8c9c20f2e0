"""Calls for a project's cost: a month's summary, usage, reports, balances and credits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ipucloud.client import call as request
from ipucloud.client.call import Call, Query
from ipucloud.client.models import (
    Balances,
    Credit,
    Funds,
    Money,
    Page,
    Payment,
    ProjectAccount,
    ProjectUsage,
    Report,
    Summary,
)


def account() -> Call[ProjectAccount]:
    """The account that pays for the project, with balances."""
    return request.get("billing/account", ProjectAccount)


def usage(*, since: datetime | None = None, until: datetime | None = None) -> Call[ProjectUsage]:
    """Minutes and cost of the project's clusters in a period; default: the current month."""
    return request.get("billing/usage", ProjectUsage, {"since": since, "until": until})


def report(
    *, since: datetime | None = None, until: datetime | None = None, group_by: Sequence[str] = ()
) -> Call[Report]:
    """The project's charges, grouped by cluster, project, flavor, region, sku, day, month or `tag:<key>`."""
    return request.get("billing/report", Report, _report(since, until, group_by))


def report_csv(
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    group_by: Sequence[str] = (),
    bom: bool = False,
) -> Call[bytes]:
    """The report as a CSV file; `bom`: with a byte order mark, for spreadsheets."""
    query = {**_report(since, until, group_by), "format": "csv", "bom": bom or None}
    return request.get("billing/report", bytes, query)


def summary(*, month: str | None = None) -> Call[Summary]:
    """What a month such as `2026-05` cost so far, by cluster, and its forecast; default: the current UTC month."""
    return request.get("billing/summary", Summary, {"month": month})


def funds() -> Call[Funds]:
    """Funds of the account that pays for the project."""
    return request.get("billing/funds", Funds)


def balance() -> Call[Balances]:
    """Balances of the account that pays for the project."""
    return request.get("billing/balance", Balances)


def credits() -> Call[Page[Credit]]:
    """Promotional credits in order of expiry."""
    return request.get("billing/credits", Page[Credit])


def top_up(amount: Money) -> Call[Payment]:
    """Announce a wallet payment."""
    return request.post("billing/top-ups", Payment, {"amount": amount.model_dump()})


def _report(since: datetime | None, until: datetime | None, group_by: Sequence[str]) -> Query:
    return {"since": since, "until": until, "group_by": tuple(group_by)}
