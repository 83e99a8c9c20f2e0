"""Calls for billing accounts. A payer can read its own; everything else needs a platform token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypedDict, Unpack

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, nothing, segment, without_none
from ipucloud.client.models import (
    BillingAccount,
    CloudEvent,
    Credit,
    Dunning,
    Event,
    Funds,
    InvoiceRow,
    Money,
    Page,
    Payment,
    PaymentMethod,
    Report,
    Summary,
)


def list(*, order: str | None = None, limit: int | None = None) -> Call[Page[BillingAccount]]:
    """All billing accounts, newest first."""
    return request.get("billing/accounts", Page[BillingAccount], {"order": order, "limit": limit}, scoped=False)


def get(account: Ref) -> Call[BillingAccount]:
    return request.get(_path(account), BillingAccount, scoped=False)


class Details(TypedDict, total=False):
    """What invoices say of an account, and its terms. Absent or None: not given."""

    legal_name: str | None
    address: str | None
    tax_id: str | None
    country: str | None
    tax_exempt: bool | None
    payment_days: int | None
    e_invoice: Mapping[str, str] | None


def create(name: str, currency: str, **details: Unpack[Details]) -> Call[BillingAccount]:
    body = without_none(name=name, currency=currency, **details)
    return request.post("billing/accounts", BillingAccount, body, scoped=False)


def update(
    account: Ref, *, name: str | None = None, if_match: str | None = None, **details: Unpack[Details]
) -> Call[BillingAccount]:
    """Change the given fields."""
    body = without_none(name=name, **details)
    return request.patch(_path(account), BillingAccount, body, scoped=False, if_match=if_match)


def assign(account: Ref) -> Call[BillingAccount]:
    """Let the account pay for the project, from one of the next two full hours on."""
    return Call("PUT", "billing/account", BillingAccount, body={"account_id": str(account)})


def summary(account: Ref, *, month: str | None = None) -> Call[Summary]:
    """What all projects of the account cost in a month such as `2026-05`; default: the current UTC month."""
    return request.get(f"{_path(account)}/summary", Summary, {"month": month}, scoped=False)


def report(
    account: Ref, *, since: datetime | None = None, until: datetime | None = None, group_by: Sequence[str] = ()
) -> Call[Report]:
    """The charges of all projects of the account, grouped as by `billing.report`."""
    query = {"since": since, "until": until, "group_by": tuple(group_by)}
    return request.get(f"{_path(account)}/report", Report, query, scoped=False)


def report_csv(
    account: Ref,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    group_by: Sequence[str] = (),
    bom: bool = False,
) -> Call[bytes]:
    """The report as a CSV file; `bom`: with a byte order mark, for spreadsheets."""
    query = {"since": since, "until": until, "group_by": tuple(group_by), "format": "csv", "bom": bom or None}
    return request.get(f"{_path(account)}/report", bytes, query, scoped=False)


def invoices(
    account: Ref,
    *,
    kind: str | None = None,
    month: str | None = None,
    order: str | None = None,
    limit: int | None = None,
) -> Call[Page[InvoiceRow]]:
    """The account's invoices and credit notes, newest first; filters as for a project's."""
    query = {"kind": kind, "month": month, "order": order, "limit": limit}
    return request.get(f"{_path(account)}/invoices", Page[InvoiceRow], query, scoped=False)


def credits(account: Ref) -> Call[Page[Credit]]:
    """The account's promotional credits in order of expiry."""
    return request.get(f"{_path(account)}/credits", Page[Credit], scoped=False)


def grant_credit(account: Ref, amount: Money, *, reason: str, expires_at: datetime) -> Call[Credit]:
    body = {"amount": amount.model_dump(), "reason": reason, "expires_at": expires_at}
    return request.post(f"{_path(account)}/credits", Credit, body, scoped=False)


def payments(
    account: Ref,
    *,
    direction: str | None = None,
    state: str | None = None,
    order: str | None = None,
    limit: int | None = None,
) -> Call[Page[Payment]]:
    """The account's payments (`direction` `in`) and refunds (`out`), newest first."""
    query = {"direction": direction, "state": state, "order": order, "limit": limit}
    return request.get(f"{_path(account)}/payments", Page[Payment], query, scoped=False)


def record_payment(account: Ref, amount: Money, *, reference: str, invoice: str | None = None) -> Call[Payment]:
    """Record a payment; a repeated reference is the same payment."""
    body = without_none(amount=amount.model_dump(), reference=reference, invoice=invoice)
    return request.post(f"{_path(account)}/payments", Payment, body, scoped=False)


def fail_payment(account: Ref, payment: Ref, *, reason: str) -> Call[Payment]:
    """Record that an expected payment, such as a top-up, will not come."""
    path = f"{_path(account)}/payments/{segment(payment)}:fail"
    return request.post(path, Payment, {"reason": reason}, scoped=False)


def reverse_payment(account: Ref, payment: Ref, *, reference: str, amount: Money | None = None) -> Call[Payment]:
    """Take a payment that was refunded or disputed, or a part of it, out of the wallet again.

    `reference`: of the refund or dispute; repeated, it is the same reversal. Without an amount, it is what the payment
    provider has reported.
    """
    path = f"{_path(account)}/payments/{segment(payment)}/reversals"
    body = without_none(reference=reference, amount=None if amount is None else amount.model_dump())
    return request.post(path, Payment, body, scoped=False)


def record_refund(account: Ref, amount: Money, *, reference: str) -> Call[Payment]:
    """Record a wallet refund; a repeated reference is the same refund."""
    body = {"amount": amount.model_dump(), "reference": reference}
    return request.post(f"{_path(account)}/refunds", Payment, body, scoped=False)


def funds(account: Ref) -> Call[Funds]:
    """The account's funds."""
    return request.get(f"{_path(account)}/prepaid", Funds, scoped=False)


def set_prepaid(account: Ref, when_empty: str, *, warn_hours: Sequence[int] | None = None) -> Call[Funds]:
    """Make the account prepaid; `when_empty`: `warn`, `refuse_creates` or `suspend`.

    `warn_hours`: report when the funds last no longer than so many hours; default: 72, 24 and 4.
    """
    body = without_none(when_empty=when_empty, warn_hours=warn_hours)
    return Call("PUT", f"{_path(account)}/prepaid", Funds, body=body, scoped=False)


def end_prepaid(account: Ref) -> Call[None]:
    """End the account's prepayment."""
    return request.delete(f"{_path(account)}/prepaid", nothing, scoped=False)


def set_top_up(
    account: Ref, amount: Money, *, month_limit: Money, below: Money | None = None, below_hours: int | None = None
) -> Call[Funds]:
    """Top a prepaid account up by an amount whenever its funds reach the level; a paused policy is resumed.

    The level is either `below`, an amount that is left, or `below_hours`, which the funds last. `month_limit`: for the
    top-ups requested in a UTC month.
    """
    body = without_none(
        amount=amount.model_dump(),
        below=None if below is None else below.model_dump(),
        below_hours=below_hours,
        month_limit=month_limit.model_dump(),
    )
    return Call("PUT", f"{_path(account)}/prepaid/top-up", Funds, body=body, scoped=False)


def end_top_up(account: Ref) -> Call[None]:
    """End the account's automatic top-ups."""
    return request.delete(f"{_path(account)}/prepaid/top-up", nothing, scoped=False)


def payment_method(account: Ref) -> Call[PaymentMethod]:
    """What automatic top-ups of the account are charged to."""
    return request.get(f"{_path(account)}/payment-method", PaymentMethod, scoped=False)


def set_payment_method(account: Ref, *, customer: str, payment_method: str) -> Call[PaymentMethod]:
    """Charge further top-ups of the account to a payment method that the customer saved at Stripe."""
    body = {"customer": customer, "payment_method": payment_method}
    return Call("PUT", f"{_path(account)}/payment-method", PaymentMethod, body=body, scoped=False)


def remove_payment_method(account: Ref) -> Call[None]:
    """Charge further top-ups of the account to nothing."""
    return request.delete(f"{_path(account)}/payment-method", nothing, scoped=False)


def dunning(account: Ref) -> Call[Dunning]:
    """The account's dunning policy, and what is overdue."""
    return request.get(f"{_path(account)}/dunning", Dunning, scoped=False)


def set_dunning(
    account: Ref,
    *,
    remind_after: Sequence[int] | None = None,
    refuse_creates_after: int | None = None,
    suspend_after: int | None = None,
) -> Call[Dunning]:
    """Set what follows when invoices are overdue, by days after the due date; a step that is not given never follows.

    `remind_after`: default 1, 8 and 15.
    """
    body = without_none(
        remind_after=remind_after, refuse_creates_after=refuse_creates_after, suspend_after=suspend_after
    )
    return Call("PUT", f"{_path(account)}/dunning", Dunning, body=body, scoped=False)


def end_dunning(account: Ref) -> Call[None]:
    """Send no more reminders, and lift the account's restriction."""
    return request.delete(f"{_path(account)}/dunning", nothing, scoped=False)


def events(
    account: Ref,
    *,
    type: Sequence[str] = (),
    subject: str | None = None,
    after: str | None = None,
    order: str | None = None,
    limit: int | None = None,
) -> Call[Page[Event]]:
    """What happens to the account's money, newest first. The filters are those of `events.list`."""
    query = {"type": tuple(type), "subject": subject, "after": after, "order": order, "limit": limit}
    return request.get(f"{_path(account)}/events", Page[Event], query, scoped=False)


def cloud_events(
    account: Ref,
    *,
    type: Sequence[str] = (),
    subject: str | None = None,
    after: str | None = None,
    order: str | None = None,
    limit: int | None = None,
) -> Call[Page[CloudEvent]]:
    """The same events in the JSON format of CloudEvents 1.0."""
    query = {"type": tuple(type), "subject": subject, "after": after, "order": order, "limit": limit}
    return request.get(f"{_path(account)}/cloud-events", Page[CloudEvent], query, scoped=False)


def stream_events(account: Ref, *, after: str | None = None) -> Call[Event]:
    """What happens to the account's money, for `Client.stream`: from now on, or all after an event."""
    return request.get(f"{_path(account)}/events/stream", Event, {"after": after}, scoped=False)


def _path(account: Ref) -> str:
    return f"billing/accounts/{segment(account)}"
