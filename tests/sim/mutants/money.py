"""Bugs in currencies, prices, invoices, prepaid money, top-ups, dunning, reports, exports, webhooks of accounts."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace as altered
from datetime import date
from decimal import Decimal
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.api import writes
from ipucloud.api.v1 import billing_wallet
from ipucloud.billing.dunning import overdue, watch
from ipucloud.billing.exports import invoiced, requests, schedules, series
from ipucloud.billing.invoices import calculation, issue, line_facts, payments
from ipucloud.billing.ledger import rerating
from ipucloud.billing.prepaid import top_ups
from ipucloud.billing.prepaid.arithmetic import Standing
from ipucloud.billing.pricing import book
from ipucloud.billing.reports import report
from ipucloud.db import outages
from ipucloud.db.statements import Statements
from ipucloud.extras.stripe import charges
from ipucloud.extras.stripe.client import Charge, Intent, StripeClient
from ipucloud.idempotency import store
from ipucloud.identity.access import Principal
from ipucloud.kernel.ids import new_id
from ipucloud.policies import reservations as follow
from ipucloud.webhooks import dispatch
from tests.sim.mutants.planting import Mutant, answers

_FUNDS = "tests/unit/billing/test_prepaid_funds.py"
_TOP_UPS = "tests/feature/billing/test_top_ups.py"
_STRIPE = "tests/feature/billing/test_stripe.py"
_DUNNING = "tests/feature/clusters/test_dunning.py -k reminded_then_restricted"
_EXPORTS = "tests/feature/billing/exports"
_INVOICES = "tests/feature/billing/invoices"
_RERATING = "tests/feature/billing/test_rerating.py"

cents_of_every_currency = Mutant(
    "invoices have two decimal places in every currency", f"{_INVOICES}/test_issue.py -k decimal_places"
).replace(calculation, "places_of", lambda _: 2)

other_currency_taken = Mutant(
    "money of any currency is taken", "tests/api/test_currencies.py -k another_currency"
).replace(billing_wallet, "refuse_other_currency", lambda *_, **__: None)


@Mutant("a sale leaves no price behind it", "tests/feature/billing/test_prices.py -k gives_the_time_back").wraps(
    book, "_insert"
)
async def sale_leaves_a_hole(
    honest: Any, connection: AsyncConnection, statements: Any, place: int, values: Mapping[str, object]
) -> None:
    if values["restores"] is None:
        await honest(connection, statements, place, values)


sale_leaves_a_hole.replace(book, "no_new_hole", lambda *_: nullcontext())


@Mutant(
    "usage is taxed at the newest rate instead of the day's", f"{_INVOICES}/test_documents.py -k whenever_it_is_billed"
).wraps(calculation, "rate_on")
async def taxed_at_the_newest_rate(honest: Any, connection: Statements, country: str, _: date) -> Any:
    return await honest(connection, country, date.max)


open_invoices_left = Mutant(
    "what a correction gives back leaves open invoices unpaid", f"{_INVOICES}/test_documents.py -k pays_open_invoices"
).replace(issue, "pay_open_invoices", answers([]))


@Mutant("credit counts as prepaid money after its expiry", f"{_FUNDS} -k as_far_as_it_can_be_burned").wraps(
    Standing, "_burnable"
)
def expired_credit_is_money(honest: Any, self: Standing, used: Decimal, limit: object) -> Any:
    valid = [altered(each, used_before=None) for each in self.credits]
    return honest(altered(self, credits=valid), used, lambda _: None)


prepaid_before_tax = Mutant("a create may spend what its tax needs", f"{_FUNDS} -k accepted_is_paid").replace(
    Standing, "tax", lambda *_: Decimal(0)
)

faults_billed_after_a_reservation = Mutant(
    "the faults of a reservation's clusters are billed once it has ended",
    "tests/feature/clusters/test_reservations.py -k degraded_when_its_reservation_ends",
).replace(follow, "apply_reports", answers(None))

reserved_faults_are_billed = Mutant(
    "a reservation is billed for machines that do not work", "tests/feature/billing/test_reservations.py -k first_sight"
).replace(follow, "credit_faults", answers(None))

reports_of_others_are_cited = Mutant(
    "an invoice cites the health reports of all credits under each of them",
    f"{_INVOICES}/test_credited.py -k is_no_reason_of_it",
).rewrite(line_facts, "_CREDITED", ("e.interval_id = credited.interval_id", "e.interval_id = interval_id"))

low_funds_unsaid = Mutant("an account runs empty without a warning", f"{_FUNDS} -k every_level").replace(
    Standing, "level", lambda *_: None
)

money_keys_forgotten = (
    Mutant(
        "money moves again when the stored answer of its request is gone",
        "tests/api/test_money_moves_once.py -k however_late",
    )
    .replace(store, "find_money", answers(None))
    .replace(store, "keep_money", answers(None))
)

lock_wait_is_an_outage = Mutant(
    "a lock that stays taken is called an outage", "tests/feature/db/test_lock_waits.py"
).replace(outages, "gave_up", lambda _: False)

top_ups_without_limit = Mutant(
    "accounts are topped up beyond the month's limit", f"{_TOP_UPS} -k months_limit"
).replace(top_ups.Policy, "fits", property(lambda _: True))

failed_top_up_repeated = Mutant(
    "another top-up is requested as soon as one has failed", f"{_TOP_UPS} -k failure_pauses"
).replace(top_ups.Policy, "resumes", property(lambda _: True))

reminded_once = Mutant("only the first level of an overdue invoice is reminded of", _DUNNING).rewrite(
    watch, "_REMIND", ("SELECT max(level)", "SELECT min(level)")
)

restricted_for_ever = Mutant("an account stays restricted after it has paid", _DUNNING).rewrite(
    watch, "_ENTER", ("d.restriction IS DISTINCT FROM j.restriction", "coalesce(d.restriction, '') < j.restriction")
)

overdue_clusters_run_on = Mutant("clusters of an overdue account are never suspended", _DUNNING).rewrite(
    overdue, "_LATE", ("o.days >= d.suspend_after", "false")
)

preview_ignored = Mutant("a price is corrected whatever was previewed", f"{_RERATING} -k rated_again").replace(
    rerating, "fingerprint", lambda *_: ""
)

sealed_month_promised = Mutant(
    "a correction of a sealed month is promised in the open one", f"{_RERATING} -k sealed_month_stays"
).replace(rerating, "_settled_by", lambda *_, **__: "open_month")

present_flavor_reported = Mutant(
    "what a resized cluster cost is reported under its present flavor",
    "tests/feature/billing/test_reports.py -k under_the_flavor",
).replace(report, "_USED_FLAVOR", "(SELECT flavor FROM clusters k WHERE k.id = c.cluster_id)")

provisional_unmarked = Mutant(
    "usage that is not posted looks as if it were", f"{_EXPORTS}/test_files.py -k not_posted"
).replace(invoiced, "_QUERIES", {name: query.replace("'true'", "'false'") for name, query in invoiced._QUERIES.items()})

creator_forged = Mutant(
    "a resource has whoever its tags say as its creator", f"{_EXPORTS}/test_files.py -k creator"
).replace(
    series, "NAMES", series.NAMES.replace(series.TAGS, "(jsonb_build_object('ipucloud/created_by', 'x') || k.tags)")
)

export_limit_ignored = Mutant(
    "an operator's limit of exports changes nothing", f"{_EXPORTS}/test_operation.py -k so_many_a_day"
).rewrite(requests, "_LIMIT", ("coalesce((SELECT per_day", "coalesce((SELECT NULLIF(per_day, per_day)"))

last_hour_not_delivered = Mutant(
    "an hourly schedule leaves days that are over unfinished", f"{_EXPORTS}/test_schedules.py -k hourly"
).rewrite(schedules, "_TAKE", ("(about.day + interval '2 days 5 minutes')", "(about.day + interval '9 days')"))

never_restricted = Mutant("an overdue account is not restricted", _DUNNING).rewrite(
    watch, "_ENTER", (">= d.refuse_creates_after", "> d.suspend_after")
)

payers_untold = Mutant("payers are not told of overdue invoices", "tests/api/test_payers.py -k money_once").rewrite(
    watch, "_REMIND", ("UNION ALL SELECT NULL, r.account_id", "UNION ALL SELECT NULL, NULL")
)

two_top_ups_at_once = Mutant("a top-up is requested although one is pending", f"{_TOP_UPS} -k one_top_up").rewrite(
    top_ups, "_POLICIES", ("ON p.id = t.payment_id", "ON p.id = t.payment_id AND p.state <> 'pending'")
)


@Mutant("a request to Stripe is repeated as another one", f"{_STRIPE} -k charged_once").wraps(StripeClient, "create")
async def stripe_charges_again(honest: Any, self: StripeClient, charge: Charge) -> Any:
    return await honest(self, altered(charge, idempotency_key=new_id()))


stripe_key_outlived = Mutant(
    "a request to Stripe is repeated after Stripe forgot its key", f"{_STRIPE} -k forgot_its_key"
).replace(charges, "KEY_HOURS", 1000)


@Mutant("what Stripe did not collect can still be paid there", f"{_STRIPE} -k charged_later").wraps(
    StripeClient, "cancel"
)
async def declined_charge_left_open(_honest: object, _self: StripeClient, intent: str) -> Intent:
    return Intent(intent, "canceled", 0, "EUR", None, None)


asked_payment_failed = Mutant(
    "an operator may fail what Stripe was asked for", f"{_STRIPE} -k operator_does_not_fail"
).rewrite(payments, "_ASKED", ("payment_id = :id", "payment_id = :id AND false"))

account_events_told_to_others = Mutant(
    "every billing account's webhooks get the events of all",
    "tests/feature/webhooks/test_of_accounts.py -k and_no_others",
).rewrite(dispatch, "_ENQUEUE", ("WHERE account_id = h.account_id", "WHERE (account_id = h.account_id) IS NOT NULL"))


@Mutant("a payer changes the webhooks of any account", "tests/api/test_payers.py -k keeps_the_accounts").wraps(
    writes, "identify"
)
async def strangers_change_webhooks(honest: Any, *args: Any) -> Principal:
    principal: Principal = await honest(*args)
    return principal._replace(account=None)
