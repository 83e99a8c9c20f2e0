"""Reserved minutes in the ledger: all of them, once, however late a worker is, and whoever uses the machines."""

from __future__ import annotations

import csv
import io
from datetime import date, datetime
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
from tests.feature.billing.books import REGION, Books, at
from tests.feature.billing.exports.ledgers import csv_of, selection
from tests.feature.billing.faulty import faulty
from tests.support.factories import make_price
from tests.support.postgres import Database as Scratch
from tests.support.reservations import RESERVED

pytestmark = pytest.mark.anyio

STARTS, ENDS = at("2026-03-31T22:00:00"), at("2026-04-01T01:00:00")


@pytest.fixture(autouse=True)
def nothing_held(books: Books) -> None:
    """These books have no hardware."""
    books.broken_on_purpose.add("reservation_is_held")


async def reserved(books: Books, starts: datetime = STARTS, ends: datetime = ENDS) -> UUID:
    made = new_id()
    await books.insert(
        sa.insert(reservations).values(
            id=made,
            project_id=books.project.id,
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
            starts_at=starts,
            ends_at=ends,
            created_by=new_id(),
        )
    )
    async with books.database.begin() as connection:
        await make_price(connection, RESERVED, REGION, Decimal("0.05"), valid_to=at("2026-04-01T00:00:00"))
        await make_price(connection, RESERVED, REGION, Decimal("0.06"), valid_from=at("2026-04-01T00:00:00"))
    return made


BY_MONTH = """
SELECT billing_month::text, sku, sum(minutes)::integer, sum(cost) FROM usage_charges
 GROUP BY 1, 2 ORDER BY 1, 2
"""
EXPECTED = [
    ("2026-03-01", RESERVED, 120, Decimal("0.05") * 120 * 8),
    ("2026-04-01", RESERVED, 60, Decimal("0.06") * 60 * 8),
]


async def test_every_reserved_minute_is_charged_over_a_month_and_a_price(books: Books) -> None:
    books.now(at("2026-03-31T21:00:00"))
    await reserved(books)
    for instant in ("2026-03-31T22:00:03", "2026-04-01T01:00:04"):
        books.now(at(instant))
        await follow_reservations(books.database)
    await books.keep(at("2026-04-01T03:00:00"))
    assert [tuple(row) for row in await books.rows(BY_MONTH)] == EXPECTED


async def test_a_worker_that_comes_late_changes_nothing_of_the_bill(books: Books) -> None:
    books.now(at("2026-03-31T21:00:00"))
    await reserved(books)
    await books.keep(at("2026-04-01T02:00:00"))  # closes the hours without it
    await follow_reservations(books.database)  # begins it four hours late
    await follow_reservations(books.database)  # and ends it
    await books.keep(at("2026-04-01T03:00:00"))
    assert [tuple(row) for row in await books.rows(BY_MONTH)] == EXPECTED


_REPORT = """
SELECT u.started_at, u.ended_at, u.quantity, u.credited,
       ARRAY(SELECT c.report_id FROM usage_credits c WHERE c.interval_id = u.id ORDER BY 1) AS reports
  FROM usage_intervals u WHERE u.ended_at > u.started_at ORDER BY u.started_at
"""


async def holds(books: Books, reservation: UUID, report: UUID, block: int = 0) -> None:
    """The host that the report is about is the only one of this block of four machines."""
    await books.execute(
        "INSERT INTO allocations (id, project_id, host_id, ordinal, reservation_id, block)"
        " SELECT :id, :project, host_id, :block, :reservation, :block FROM health_reports WHERE id = :report",
        id=new_id(),
        project=books.project.id,
        reservation=reservation,
        report=report,
        block=block,
    )


async def test_machines_that_do_not_work_are_not_billed_from_the_first_sight_of_the_fault(
    books: Books, database: Scratch
) -> None:
    books.now(at("2026-03-31T21:00:00"))
    reservation = await reserved(books)
    books.now(at("2026-03-31T22:00:03"))
    await follow_reservations(books.database)
    seen, gone = at("2026-03-31T22:10:30"), at("2026-03-31T22:40:30")
    report = await books.reported(seen)
    await holds(books, reservation, report)
    books.now(at("2026-03-31T22:10:41"))
    await follow_reservations(books.database)
    await follow_reservations(books.database)
    await books.execute("UPDATE health_reports SET good_since = :gone, cleared_at = :gone", gone=gone)
    books.now(at("2026-03-31T22:40:47"))
    await follow_reservations(books.database)
    books.now(at("2026-04-01T01:00:04"))
    await follow_reservations(books.database)
    await books.keep(at("2026-04-01T03:00:00"))
    assert [tuple(row) for row in await books.rows(_REPORT)] == [
        (STARTS, seen, 8, 0, []),
        (seen, gone, 8, 4, [report]),
        (gone, ENDS, 8, 0, []),
    ]
    async with books.database.read() as connection:
        [credit] = await credited(connection, Bill(books.project.id, "EUR", date(2026, 3, 1)))
    assert (credit.cluster_id, credit.cluster, credit.machine_minutes) == (reservation, "may", 120)
    assert [(each.report_id, each.ended_at) for each in credit.credited_for] == [(report, gone)]
    content = csv_of(database.app_url, selection(project=books.project.id, month=date(2026, 3, 1)))
    rows = csv.DictReader(io.StringIO(content.decode()))
    given = [row for row in rows if row["ChargeCategory"] == "Credit"]
    assert sum(Decimal(row["BilledCost"]) for row in given) == Decimal("-6")
    assert {(row["ResourceId"], row["ResourceName"]) for row in given} == {(f"urn:ipu:cluster:{reservation}", "may")}
    # The minutes that begin from 22:11 to 22:40, of the four machines that the dead host drives.
    march, april = EXPECTED
    assert [tuple(row) for row in await books.rows(BY_MONTH)] == [
        (*march[:3], march[3] - Decimal("0.05") * 30 * 4),
        april,
    ]


async def test_a_worker_that_comes_late_credits_what_did_not_work_before_the_end(books: Books) -> None:
    books.now(at("2026-03-31T21:00:00"))
    reservation = await reserved(books)
    before, after = at("2026-04-01T00:30:10"), at("2026-04-01T01:05:00")
    for block, seen in enumerate((before, after)):
        await holds(books, reservation, await books.reported(seen), block)
    books.now(at("2026-04-01T01:10:00"))
    await follow_reservations(books.database)  # begins it
    await follow_reservations(books.database)  # and ends it
    await books.keep(at("2026-04-01T03:00:00"))
    assert [tuple(row)[:4] for row in await books.rows(_REPORT)] == [(STARTS, before, 8, 0), (before, ENDS, 8, 4)]
    march, april = EXPECTED
    assert [tuple(row) for row in await books.rows(BY_MONTH)] == [
        march,
        (*april[:3], april[3] - Decimal("0.06") * 29 * 4),
    ]


async def test_a_fault_that_is_the_customers_earns_nothing(books: Books) -> None:
    books.now(at("2026-03-31T21:00:00"))
    reservation = await reserved(books)
    await holds(books, reservation, await books.reported(at("2026-03-31T22:10:30"), credited=False))
    for instant in ("2026-03-31T22:00:03", "2026-03-31T22:11:00", "2026-04-01T01:00:04"):
        books.now(at(instant))
        await follow_reservations(books.database)
    await books.keep(at("2026-04-01T03:00:00"))
    assert [tuple(row) for row in await books.rows(BY_MONTH)] == EXPECTED


@pytest.mark.parametrize("starts", BillingStart)
async def test_a_cluster_that_is_billed_from_its_request_is_not_billed_for_time_that_its_reservation_paid_for(
    books: Books, starts: BillingStart
) -> None:
    """It is still being built when the reservation ends."""
    books.now(at("2026-03-31T21:00:00"))
    reservation = await reserved(books)
    cluster = await faulty(books)
    await books.execute(
        "UPDATE clusters SET state = 'creating', ready_at = NULL, billing_starts = :starts WHERE id = :id",
        id=cluster.cluster,
        starts=starts.value,
    )
    await books.insert(
        sa.insert(operations).values(
            id=new_id(),
            project_id=books.project.id,
            cluster_id=cluster.cluster,
            kind="cluster.create",
            state="running",
            request_id="asked",
            deadline_at=at("2026-04-01T02:00:00"),
        )
    )
    await books.execute(
        "UPDATE allocations SET reservation_id = :reservation, block = 0 WHERE cluster_id = :id",
        id=cluster.cluster,
        reservation=reservation,
    )
    for moment in ("2026-04-01T00:50:00", "2026-04-01T01:00:04"):
        books.now(at(moment))
        await follow_reservations(books.database)
    open_since = "SELECT started_at, anchor_at FROM usage_intervals WHERE ended_at IS NULL"
    expected = [(ENDS, ENDS)] if starts is BillingStart.REQUESTED else []
    assert [tuple(row) for row in await books.rows(open_since)] == expected
    assert await audit(books.database, [ONCE]) == []
