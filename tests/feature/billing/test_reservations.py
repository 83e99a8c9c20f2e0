"""Reserved minutes in the ledger: all of them, once, however late a worker is, and whoever uses the machines."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from uuid import UUID

import pytest
import sqlalchemy as sa

from ipucloud.billing.invoices.line_facts import credited
from ipucloud.billing.invoices.lines import Bill
from ipucloud.contract.estimates import BillingStart
from ipucloud.invariants.audit import audit
from ipucloud.invariants.reservations import ONCE
from ipucloud.inventory.reservation_tables import reservations
from ipucloud.kernel.ids import new_id
from ipucloud.operations.tables import operations
from ipucloud.policies.reservations import follow_reservations
from tests.feature.billing.exports.ledgers import csv_of, rows_of, selection
from tests.feature.billing.faulty import faulty
from tests.feature.billing.world import REGION, BillingWorld, at
from tests.support.postgres import Database as Scratch
from tests.support.reservations import RESERVED

pytestmark = pytest.mark.anyio

STARTS, ENDS = at("2026-03-31T22:00:00"), at("2026-04-01T01:00:00")


@pytest.fixture(autouse=True)
def nothing_held(billing: BillingWorld) -> None:
    """This world has no hardware."""
    billing.broken_on_purpose.add("reservation_is_held")


async def reserved(billing: BillingWorld) -> UUID:
    """Eight machines, two blocks of four, over a month's end and a change of the price."""
    reservation = new_id()
    billing.now(at("2026-03-31T21:00:00"))
    await billing.insert(
        sa.insert(reservations).values(
            id=reservation,
            project_id=billing.project.id,
            name="may",
            region=REGION,
            flavor="m2000-pod16",
            machine_type="m2000",
            blocks=2,
            machines=4,
            ipus=16,
            servers=1,
            own_hosts=False,
            sku=RESERVED,
            currency="EUR",
            starts_at=STARTS,
            ends_at=ENDS,
            created_by=new_id(),
        )
    )
    await billing.price("0.05", valid_to=at("2026-04-01T00:00:00"), sku=RESERVED)
    await billing.price("0.06", at("2026-04-01T00:00:00"), sku=RESERVED)
    return reservation


async def followed(billing: BillingWorld, *instants: str) -> None:
    """What a worker does for reservations, at each of these times."""
    for instant in instants:
        billing.now(at(instant))
        await follow_reservations(billing.database)


BY_MONTH = """
SELECT billing_month::text, sku, sum(minutes)::integer, sum(cost) FROM usage_charges
 GROUP BY 1, 2 ORDER BY 1, 2
"""
EXPECTED = [
    ("2026-03-01", RESERVED, 120, Decimal("0.05") * 120 * 8),
    ("2026-04-01", RESERVED, 60, Decimal("0.06") * 60 * 8),
]


_REPORT = """
SELECT u.started_at, u.ended_at, u.quantity, u.credited,
       ARRAY(SELECT c.report_id FROM usage_credits c WHERE c.interval_id = u.id ORDER BY 1) AS reports
  FROM usage_intervals u WHERE u.ended_at > u.started_at ORDER BY u.started_at
"""


async def holds(billing: BillingWorld, reservation: UUID, report: UUID, block: int = 0) -> None:
    """The host that the report is about is the only one of this block of four machines."""
    await billing.execute(
        "INSERT INTO allocations (id, project_id, host_id, ordinal, reservation_id, block)"
        " SELECT :id, :project, host_id, :block, :reservation, :block FROM health_reports WHERE id = :report",
        id=new_id(),
        project=billing.project.id,
        reservation=reservation,
        report=report,
        block=block,
    )


async def test_machines_that_do_not_work_are_not_billed_from_the_first_sight_of_the_fault(
    billing: BillingWorld, database: Scratch
) -> None:
    reservation = await reserved(billing)
    await followed(billing, "2026-03-31T22:00:03")
    failed, gone = at("2026-03-31T22:10:30"), at("2026-03-31T22:40:30")
    report = await billing.reported(failed)
    await holds(billing, reservation, report)
    await followed(billing, "2026-03-31T22:10:41", "2026-03-31T22:10:41")
    await billing.execute("UPDATE health_reports SET good_since = :gone, cleared_at = :gone", gone=gone)
    await followed(billing, "2026-03-31T22:40:47", "2026-04-01T01:00:04")
    await billing.keep(at("2026-04-01T03:00:00"))
    assert await billing.tuples(_REPORT) == [
        (STARTS, failed, 8, 0, []),
        (failed, gone, 8, 4, [report]),
        (gone, ENDS, 8, 0, []),
    ]
    async with billing.database.read() as connection:
        [credit] = await credited(connection, Bill(billing.project.id, "EUR", date(2026, 3, 1)))
    assert (credit.cluster_id, credit.cluster, credit.machine_minutes) == (reservation, "may", 120)
    assert [(each.report_id, each.ended_at) for each in credit.credited_for] == [(report, gone)]
    rows = rows_of(csv_of(database.app_url, selection(project=billing.project.id, month=date(2026, 3, 1))))
    credit_rows = [row for row in rows if row["ChargeCategory"] == "Credit"]
    assert sum(Decimal(row["BilledCost"]) for row in credit_rows) == Decimal("-6")
    assert {(row["ResourceId"], row["ResourceName"]) for row in credit_rows} == {
        (f"urn:ipu:cluster:{reservation}", "may")
    }
    # The minutes that begin from 22:11 to 22:40, of the four machines that the dead host drives.
    march, april = EXPECTED
    assert await billing.tuples(BY_MONTH) == [
        (*march[:3], march[3] - Decimal("0.05") * 30 * 4),
        april,
    ]


async def test_a_worker_that_comes_late_credits_what_did_not_work_before_the_end(billing: BillingWorld) -> None:
    reservation = await reserved(billing)
    before, after = at("2026-04-01T00:30:10"), at("2026-04-01T01:05:00")
    for block, failed in enumerate((before, after)):
        await holds(billing, reservation, await billing.reported(failed), block)
    await followed(billing, "2026-04-01T01:10:00", "2026-04-01T01:10:00")  # begins it, and ends it
    await billing.keep(at("2026-04-01T03:00:00"))
    assert [tuple(row)[:4] for row in await billing.rows(_REPORT)] == [(STARTS, before, 8, 0), (before, ENDS, 8, 4)]
    march, april = EXPECTED
    assert await billing.tuples(BY_MONTH) == [
        march,
        (*april[:3], april[3] - Decimal("0.06") * 29 * 4),
    ]


async def test_a_fault_that_is_the_customers_earns_nothing(billing: BillingWorld) -> None:
    reservation = await reserved(billing)
    await holds(billing, reservation, await billing.reported(at("2026-03-31T22:10:30"), credited=False))
    await followed(billing, "2026-03-31T22:00:03", "2026-03-31T22:11:00", "2026-04-01T01:00:04")
    await billing.keep(at("2026-04-01T03:00:00"))
    assert await billing.tuples(BY_MONTH) == EXPECTED


@pytest.mark.parametrize("starts", BillingStart)
async def test_a_cluster_that_is_billed_from_its_request_is_not_billed_for_time_that_its_reservation_paid_for(
    billing: BillingWorld, starts: BillingStart
) -> None:
    """It is still being built when the reservation ends."""
    reservation = await reserved(billing)
    cluster = await faulty(billing)
    await billing.execute(
        "UPDATE clusters SET state = 'creating', ready_at = NULL, billing_starts = :starts WHERE id = :id",
        id=cluster.cluster,
        starts=starts.value,
    )
    await billing.insert(
        sa.insert(operations).values(
            id=new_id(),
            project_id=billing.project.id,
            cluster_id=cluster.cluster,
            kind="cluster.create",
            state="running",
            request_id="asked",
            deadline_at=at("2026-04-01T02:00:00"),
        )
    )
    await billing.execute(
        "UPDATE allocations SET reservation_id = :reservation, block = 0 WHERE cluster_id = :id",
        id=cluster.cluster,
        reservation=reservation,
    )
    await followed(billing, "2026-04-01T00:50:00", "2026-04-01T01:00:04")
    open_since = "SELECT started_at, anchor_at FROM usage_intervals WHERE ended_at IS NULL"
    expected = [(ENDS, ENDS)] if starts is BillingStart.REQUESTED else []
    assert await billing.tuples(open_since) == expected
    assert await audit(billing.database, [ONCE]) == []
