"""What an invoice and an explanation say of machines that did not work."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import orjson
import pytest

from ipucloud.billing.reports.explain import charges_of
from ipucloud.contract.charges import ChargeOut
from ipucloud.inventory.health.codes import Code
from tests.feature.billing.faulty import SERVER, Faulty, faulty
from tests.feature.billing.invoices.customers import SEALED, assert_billing_sound, documents, taxed
from tests.feature.billing.world import BillingWorld, at

pytestmark = pytest.mark.anyio

START, FIRST_SEEN, GONE = at("2026-04-30T22:00:00"), at("2026-04-30T22:10:00"), at("2026-04-30T22:30:00")
DELETED = at("2026-04-30T23:00:00")


async def four_machines(billing: BillingWorld) -> Faulty:
    await taxed(billing)
    await billing.price("0.0625")
    cluster = await faulty(billing)
    await billing.used(cluster.cluster, START, quantity=4)
    return cluster


async def sealed(billing: BillingWorld) -> None:
    """The cluster is deleted, and its month billed."""
    billing.now(DELETED)
    await billing.execute("UPDATE usage_intervals SET ended_at = app_now() WHERE ended_at IS NULL")
    await billing.execute(
        "UPDATE health_reports SET good_since = app_now(), cleared_at = app_now() WHERE cleared_at IS NULL"
    )
    await billing.keep(SEALED)


async def explained(cluster: Faulty) -> list[ChargeOut]:
    scope = {"project_id": cluster.billing.project.id, "cluster_id": cluster.cluster}
    async with cluster.billing.database.read() as connection:
        charges = await charges_of(connection, **scope, since=START, until=DELETED)
    return [ChargeOut.model_validate(orjson.loads(each)) for each in charges]


async def test_an_invoice_and_an_explanation_cite_the_reports_of_what_they_leave_out(billing: BillingWorld) -> None:
    """Four machines for an hour, one of them credited for twenty minutes of it, on a sealed bill."""
    cluster = await four_machines(billing)
    billing.now(FIRST_SEEN)
    report = await cluster.fails(0, FIRST_SEEN)
    billing.now(GONE)
    await cluster.works(report, GONE)
    await sealed(billing)
    [invoice] = await documents(billing)
    [line] = invoice["lines"]
    assert (line["minutes"], line["machine_minutes"], line["credited_machine_minutes"]) == (60, 220, 20)
    assert line["amount"]["amount"] == "13.75"
    [credit] = invoice["credits"]
    assert (credit["machine_minutes"], credit["amount"]["amount"]) == (20, "1.25")
    assert (credit["since"], credit["until"]) == ("2026-04-30T22:10:00Z", "2026-04-30T22:30:00Z")
    [cited] = credit["credited_for"]
    assert (cited["report_id"], cited["code"]) == (str(report), "bmc_critical")
    assert (cited["first_seen_at"], cited["ended_at"]) == (credit["since"], credit["until"])
    await assert_billing_sound(billing)
    before, during, after = await explained(cluster)
    assert during.formula == "20 min × (4 − 1 credited) × 0.0625 EUR = 3.75"
    assert (during.usage.machines, during.usage.credited_machines) == (4, 1)
    [reason] = during.usage.credited_for
    assert (reason.report_id, reason.first_seen_at, reason.ended_at) == (report, FIRST_SEEN, GONE)
    assert before.usage.credited_for == after.usage.credited_for == []


async def test_a_fault_that_began_after_a_credit_had_ended_is_no_reason_of_it(billing: BillingWorld) -> None:
    """A fault that was seen before the second one is confirmed after it, and ends the credit that had cited both."""
    cluster = await four_machines(billing)
    billing.now(FIRST_SEEN + timedelta(minutes=6))
    first = await cluster.fails(0, FIRST_SEEN)
    second = await cluster.fails(0, FIRST_SEEN + timedelta(minutes=5), Code.POWERED_OFF)
    third = await cluster.fails(1, FIRST_SEEN + timedelta(minutes=3))
    await sealed(billing)
    [invoice] = await documents(billing)
    cited = [[each["report_id"] for each in credit["credited_for"]] for credit in invoice["credits"]]
    assert cited == [[str(first)], [str(first), str(third), str(second)]]
    assert [len(each.usage.credited_for) for each in await explained(cluster)] == [0, 1, 3]
    await assert_billing_sound(billing)


async def test_a_month_in_which_nothing_worked_has_no_invoice(billing: BillingWorld) -> None:
    billing.now(START)
    cluster = await four_machines(billing)
    await cluster.fails(SERVER, START)
    await sealed(billing)
    assert await documents(billing) == []
    assert await billing.total() == (60, Decimal(0))
