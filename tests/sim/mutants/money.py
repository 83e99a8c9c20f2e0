"""Bugs in currencies, prices, invoices, prepaid money, top-ups, dunning, reports, exports, webhooks of accounts."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import replace as altered
from datetime import date
from decimal import Decimal
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.api import writes
from ipucloud.api.v1 import billing_wallet
from ipucloud.billing.dunning import overdue, watch
from ipucloud.billing.exports import limits, provisional, schedules, series
from ipucloud.billing.invoices import computing, issue, line_facts, payments
from ipucloud.billing.invoices.seller import RateInForce, rate_on
from ipucloud.billing.ledger import rerating
from ipucloud.billing.prepaid import top_ups
from ipucloud.billing.prepaid.arithmetic import Standing
from ipucloud.billing.pricing import book
from ipucloud.billing.reports import report
from ipucloud.billing.stripe import charges
from ipucloud.billing.stripe.client import Charge, Intent, StripeClient
from ipucloud.db import outages
from ipucloud.db.statements import Statements
from ipucloud.idempotency import store
from ipucloud.identity import access
from ipucloud.identity.access import Principal
from ipucloud.kernel.ids import new_id
from ipucloud.policies import reservations as follow
from ipucloud.webhooks import dispatch
from tests.sim.mutants.planting import mutant, replace, rewrite

_FUNDS = "tests/unit/billing/test_prepaid_funds.py"
_TOP_UPS = "tests/feature/billing/test_top_ups.py"
_STRIPE = "tests/feature/billing/test_stripe.py"
_HOOKS = "tests/feature/webhooks/test_of_accounts.py"
_DUNNING = "tests/feature/clusters/test_dunning.py -k reminded_then_restricted"
_EXPORTS = "tests/feature/billing/exports"
_RERATING = "tests/feature/billing/test_rerating.py"


async def _nothing(*_: object, **__: object) -> None:
    return None


@mutant(
    "invoices have two decimal places in every currency",
    directed="tests/feature/billing/invoices/test_issue.py -k decimal_places",
)
def cents_of_every_currency(stack: ExitStack) -> None:
    replace(stack, computing, "places_of", lambda _: 2)


@mutant("money of any currency is taken", directed="tests/api/test_currencies.py -k another_currency")
def other_currency_taken(stack: ExitStack) -> None:
    replace(stack, billing_wallet, "refuse_other_currency", lambda *_, **__: None)


@mutant("a sale leaves no price behind it", directed="tests/feature/billing/test_prices.py -k gives_the_time_back")
def sale_leaves_a_hole(stack: ExitStack) -> None:
    honest = book._insert

    async def insert(connection: AsyncConnection, statements: Any, place: int, values: Mapping[str, object]) -> None:
        if values["restores"] is None:
            await honest(connection, statements, place, values)

    replace(stack, book, "_insert", insert)
    replace(stack, book, "no_new_hole", lambda *_: nullcontext())


@mutant(
    "usage is taxed at the newest rate instead of the day's",
    directed="tests/feature/billing/invoices/test_documents.py -k whenever_it_is_billed",
)
def taxed_at_the_newest_rate(stack: ExitStack) -> None:
    async def newest(connection: Statements, country: str, _: date) -> RateInForce | None:
        return await rate_on(connection, country, date.max)

    replace(stack, computing, "rate_on", newest)


@mutant(
    "what a correction gives back leaves open invoices unpaid",
    directed="tests/feature/billing/invoices/test_documents.py -k pays_open_invoices",
)
def open_invoices_left(stack: ExitStack) -> None:
    async def pay(*_: object, **__: object) -> list[object]:
        return []

    replace(stack, issue, "pay_open_invoices", pay)


@mutant("credit counts as prepaid money after its expiry", directed=f"{_FUNDS} -k as_far_as_it_can_be_burned")
def expired_credit_is_money(stack: ExitStack) -> None:
    honest = Standing._burnable

    def burnable(self: Standing, used: Decimal, limit: object) -> Decimal:
        valid = [altered(each, used_before=None) for each in self.credits]
        return honest(altered(self, credits=valid), used, lambda _: None)

    replace(stack, Standing, "_burnable", burnable)


@mutant("a create may spend what its tax needs", directed=f"{_FUNDS} -k accepted_is_paid")
def prepaid_before_tax(stack: ExitStack) -> None:
    replace(stack, Standing, "tax", lambda *_: Decimal(0))


@mutant(
    "the faults of a reservation's clusters are billed once it has ended",
    directed="tests/feature/clusters/test_reservations.py -k degraded_when_its_reservation_ends",
)
def faults_billed_after_a_reservation(stack: ExitStack) -> None:
    replace(stack, follow, "settle_cluster", _nothing)


@mutant(
    "a reservation is billed for machines that do not work",
    directed="tests/feature/billing/test_reservations.py -k first_sight",
)
def reserved_faults_are_billed(stack: ExitStack) -> None:
    replace(stack, follow, "credit_faults", _nothing)


@mutant(
    "an invoice cites the health reports of all credits under each of them",
    directed="tests/feature/billing/invoices/test_credited.py -k is_no_reason_of_it",
)
def reports_of_others_are_cited(stack: ExitStack) -> None:
    rewrite(stack, line_facts, "_CREDITED", ("e.interval_id = credited.interval_id", "e.interval_id = interval_id"))


@mutant("an account runs empty without a warning", directed=f"{_FUNDS} -k every_level")
def low_funds_unsaid(stack: ExitStack) -> None:
    replace(stack, Standing, "level", lambda *_: None)


@mutant(
    "money moves again when the stored answer of its request is gone",
    directed="tests/api/test_money_moves_once.py -k however_late",
)
def money_keys_forgotten(stack: ExitStack) -> None:
    replace(stack, store, "find_money", _nothing)
    replace(stack, store, "keep_money", _nothing)


@mutant("a lock that stays taken is called an outage", directed="tests/feature/db/test_lock_waits.py")
def lock_wait_is_an_outage(stack: ExitStack) -> None:
    replace(stack, outages, "gave_up", lambda _: False)


@mutant("accounts are topped up beyond the month's limit", directed=f"{_TOP_UPS} -k months_limit")
def top_ups_without_limit(stack: ExitStack) -> None:
    replace(stack, top_ups.Policy, "fits", property(lambda _: True))


@mutant("another top-up is requested as soon as one has failed", directed=f"{_TOP_UPS} -k failure_pauses")
def failed_top_up_repeated(stack: ExitStack) -> None:
    replace(stack, top_ups.Policy, "resumes", property(lambda _: True))


@mutant("only the first level of an overdue invoice is reminded of", directed=_DUNNING)
def reminded_once(stack: ExitStack) -> None:
    rewrite(stack, watch, "_REMIND", ("SELECT max(level)", "SELECT min(level)"))


@mutant("an account stays restricted after it has paid", directed=_DUNNING)
def restricted_for_ever(stack: ExitStack) -> None:
    rewrite(
        stack,
        watch,
        "_ENTER",
        ("d.restriction IS DISTINCT FROM j.restriction", "coalesce(d.restriction, '') < j.restriction"),
    )


@mutant("clusters of an overdue account are never suspended", directed=_DUNNING)
def overdue_clusters_run_on(stack: ExitStack) -> None:
    rewrite(stack, overdue, "_LATE", ("o.days >= d.suspend_after", "false"))


@mutant("a price is corrected whatever was previewed", directed=f"{_RERATING} -k rated_again")
def preview_ignored(stack: ExitStack) -> None:
    replace(stack, rerating, "fingerprint", lambda *_: "")


@mutant("a correction of a sealed month is promised in the open one", directed=f"{_RERATING} -k sealed_month_stays")
def sealed_month_promised(stack: ExitStack) -> None:
    replace(stack, rerating, "_settled_by", lambda *_, **__: "open_month")


@mutant(
    "what a resized cluster cost is reported under its present flavor",
    directed="tests/feature/billing/test_reports.py -k under_the_flavor",
)
def present_flavor_reported(stack: ExitStack) -> None:
    present = "(SELECT flavor FROM clusters k WHERE k.id = c.cluster_id)"
    replace(stack, report, "_USED_FLAVOR", present)


@mutant("usage that is not posted looks as if it were", directed=f"{_EXPORTS}/test_files.py -k not_posted")
def provisional_unmarked(stack: ExitStack) -> None:
    replace(stack, provisional, "_ROWS", provisional._ROWS.replace("'true'", "'false'"))


@mutant("a resource has whoever its tags say as its creator", directed=f"{_EXPORTS}/test_files.py -k creator")
def creator_forged(stack: ExitStack) -> None:
    replace(stack, series, "TAGS", "(jsonb_build_object('ipucloud/created_by', 'x') || k.tags)")


@mutant("an operator's limit of exports changes nothing", directed=f"{_EXPORTS}/test_operation.py -k so_many_a_day")
def export_limit_ignored(stack: ExitStack) -> None:
    rewrite(stack, limits, "_LIMIT", ("coalesce((SELECT per_day", "coalesce((SELECT NULLIF(per_day, per_day)"))


@mutant("an hourly schedule leaves days that are over unfinished", directed=f"{_EXPORTS}/test_schedules.py -k hourly")
def last_hour_not_delivered(stack: ExitStack) -> None:
    rewrite(stack, schedules, "_TAKE", ("(about.day + interval '2 days 5 minutes')", "(about.day + interval '9 days')"))


@mutant("an overdue account is not restricted", directed=_DUNNING)
def never_restricted(stack: ExitStack) -> None:
    rewrite(stack, watch, "_ENTER", (">= d.refuse_creates_after", "> d.suspend_after"))


@mutant("payers are not told of overdue invoices", directed="tests/api/test_payers.py -k money_once")
def payers_untold(stack: ExitStack) -> None:
    rewrite(stack, watch, "_REMIND", ("UNION ALL SELECT NULL, r.account_id", "UNION ALL SELECT NULL, NULL"))


@mutant("a top-up is requested although one is pending", directed=f"{_TOP_UPS} -k one_top_up")
def two_top_ups_at_once(stack: ExitStack) -> None:
    rewrite(stack, top_ups, "_POLICIES", ("ON p.id = t.payment_id", "ON p.id = t.payment_id AND p.state <> 'pending'"))


@mutant("a request to Stripe is repeated as another one", directed=f"{_STRIPE} -k charged_once")
def stripe_charges_again(stack: ExitStack) -> None:
    honest = StripeClient.create

    async def create(self: StripeClient, charge: Charge) -> Intent:
        return await honest(self, altered(charge, idempotency_key=new_id()))

    replace(stack, StripeClient, "create", create)


@mutant("a request to Stripe is repeated after Stripe forgot its key", directed=f"{_STRIPE} -k forgot_its_key")
def stripe_key_outlived(stack: ExitStack) -> None:
    replace(stack, charges, "KEY_HOURS", 1000)


@mutant("what Stripe did not collect can still be paid there", directed=f"{_STRIPE} -k charged_later")
def declined_charge_left_open(stack: ExitStack) -> None:
    async def cancel(_: StripeClient, intent: str) -> Intent:
        return Intent(intent, "canceled", 0, "EUR", None, None)

    replace(stack, StripeClient, "cancel", cancel)


@mutant("an operator may fail what Stripe was asked for", directed=f"{_STRIPE} -k operator_does_not_fail")
def asked_payment_failed(stack: ExitStack) -> None:
    rewrite(stack, payments, "_ASKED", ("payment_id = :id", "payment_id = :id AND false"))


@mutant("every billing account's webhooks get the events of all", directed=f"{_HOOKS} -k and_no_others")
def account_events_told_to_others(stack: ExitStack) -> None:
    rewrite(
        stack,
        dispatch,
        "_ENQUEUE",
        ("WHERE account_id = h.account_id", "WHERE (account_id = h.account_id) IS NOT NULL"),
    )


@mutant("a payer changes the webhooks of any account", directed="tests/api/test_payers.py -k keeps_the_accounts")
def strangers_change_webhooks(stack: ExitStack) -> None:
    honest = access.identify

    async def identify(*args: Any) -> Principal:
        return (await honest(*args))._replace(account=None)

    replace(stack, writes, "identify", identify)
