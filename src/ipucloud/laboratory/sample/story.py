"""What happens in the two months, as data. Amounts are in EUR; times are (month, day, hour) of `Months.at`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from ipucloud.billing.budgets.store import NewBudget, Threshold
from ipucloud.kernel.money import Money

Moment = tuple[int, int, int]

CURRENCY = "EUR"
PROJECT = "sample"
KEY_NAME = "workstation"

SELLER: Mapping[str, object] = {
    "legal_name": "Sample Cloud S.A.",
    "address": "1, rue de l'Exemple\nL-1000 Luxembourg",
    "country": "LU",
    "tax_id": "LU00000000",
    "bank": "IBAN LU00 0000 0000 0000 0000",
}
"""Set only while no seller is: an invoice without one shows a placeholder."""

CUSTOMER: Mapping[str, object] = {
    "legal_name": "Sample Research S.à r.l.",
    "address": "2, rue de l'Exemple\nL-1000 Luxembourg",
    "country": "LU",
    "payment_days": 30,
}


@dataclass(frozen=True)
class Use:
    """A cluster's life; `suspended` from one moment to another."""

    name: str
    flavor: str
    since: Moment
    until: Moment
    suspended: tuple[Moment, Moment] | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


USES = (
    Use("notebooks", "m2000-pod4", (0, 22, 9), (1, 11, 17), ((0, 25, 18), (0, 27, 8)), {"team": "vision"}),
    Use("bert", "m2000-pod16", (0, 22, 10), (0, 26, 10), tags={"team": "nlp", "stage": "training"}),
    Use("evaluation", "bow-pod16", (0, 27, 10), (0, 28, 16), tags={"team": "vision"}),
    Use("gpt", "m2000-pod32", (1, 6, 8), (1, 8, 20), tags={"team": "nlp", "stage": "training"}),
    Use("smoke-test", "m2000-pod4", (1, 20, 11), (1, 20, 12), tags={"team": "nlp"}),
)
"""The first month begins late: each of its hours is closed and verified, which is most of the time that this takes."""

FAULTY = "gpt"
FAULT: tuple[Moment, Moment] = ((1, 7, 9), (1, 7, 14))
FAULT_DETAIL = "Redfish health Critical, state Enabled"
"""A machine of that cluster fails, from one moment to another: its minutes are not billed."""

BEGIN: Moment = (0, 22, 8)
CREDIT = Decimal(250)
CREDIT_REASON = "Welcome credit"
CREDIT_ENDS: Moment = (2, 1, 0)
BUDGETS = (
    NewBudget(
        "Research",
        Money.of(2500, CURRENCY),
        None,
        [Threshold("actual", 50, None), Threshold("actual", 80, None), Threshold("forecast", 100, None)],
    ),
    NewBudget("NLP team", Money.of(1500, CURRENCY), ("team", "nlp"), [Threshold("actual", 80, None)]),
)
EVALUATIONS: tuple[Moment, ...] = ((1, 25, 0),)
"""When budgets are evaluated besides whenever something else happens."""

SEALED: tuple[Moment, ...] = ((1, 2, 0), (2, 2, 0))
"""When each month is sealed and its invoice issued."""

PAID: Moment = (1, 12, 9)
PAYMENT_REFERENCE = "SEPA transfer 4711"
CREDITED: Moment = (1, 20, 15)
CREDITED_NET = Decimal(90)
CREDITED_REASON = "Two IPUs of cluster evaluation were unusable for an afternoon."
