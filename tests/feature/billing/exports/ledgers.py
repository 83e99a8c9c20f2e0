"""A ledger with something of everything that an export may contain."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ipucloud.billing.exports.csv_rows import Progress, write_csv
from ipucloud.billing.exports.selection import Period, Selection, month_of, snapshot
from ipucloud.contract.exports import Dataset, FileFormat, FocusVersion
from tests.feature.billing.invoices.customers import transact
from tests.feature.billing.world import BillingWorld, at
from tests.support.factories import Project, make_project
from tests.support.invoices import add_tax_rate

if TYPE_CHECKING:
    import pyarrow.parquet as pq

APRIL, MAY = date(2026, 4, 1), date(2026, 5, 1)
NOW = at("2026-05-03T08:30:00")
HOSTILE = '=HYPERLINK("x"),\\N "quoted" \u2028 line'


@dataclass(frozen=True)
class Furnished:
    """Two projects; the second is paid for by the first one's account from 3 o'clock on 3 May on."""

    billing: BillingWorld
    other: Project
    clusters: tuple[UUID, UUID, UUID]


async def furnish(billing: BillingWorld) -> Furnished:
    """Usage over the end of April, which is sealed, a correction of it in May, a contract, a resize, odd names.

    Five machines of the first cluster fail on 3 May.
    """
    await billing.price("0.0625", valid_to=at("2026-05-02T08:30:30"))
    await billing.price("0.0710", at("2026-05-02T08:30:30"))
    other = await transact(billing, partial(make_project, quota=None))
    first, second, third = await billing.make_cluster(), await billing.make_cluster(), await billing.make_cluster(other)
    await transact(billing, add_tax_rate)
    await billing.price("0.05", at("2026-04-01T00:00:00"), account=other.id)
    await billing.execute(
        'UPDATE clusters SET name = :name, tags = \'{"team": "=1+1"}\' WHERE id = :id', id=first, name=HOSTILE
    )
    start, resized = at("2026-04-30T20:12:13"), at("2026-05-02T09:00:01")
    await billing.used(first, start, resized, quantity=4)
    failed, gone = at("2026-05-03T03:30:00"), at("2026-05-03T05:17:00")
    await billing.used(first, resized, failed, quantity=16, anchor_at=start)
    credited = await billing.used(first, failed, gone, quantity=16, credited=5, anchor_at=start)
    await billing.execute(
        "INSERT INTO usage_credits (project_id, interval_id, report_id) VALUES (:project, :interval, :report)",
        project=billing.project.id,
        interval=credited,
        report=await billing.reported(failed),
    )
    await billing.used(second, at("2026-04-30T22:00:00"), at("2026-04-30T23:10:10"))
    await billing.used(third, at("2026-05-02T10:10:10"), quantity=2, project=other)
    await billing.pays(billing.project.id, at("2026-05-03T03:00:00"), other)
    await billing.keep(at("2026-05-02T00:30:00"))
    await billing.used(
        second, at("2026-04-30T23:20:20"), at("2026-04-30T23:30:00"), anchor_at=at("2026-04-30T22:00:00")
    )
    await billing.keep(NOW)
    return Furnished(billing, other, (first, second, third))


def selection(
    *,
    project: UUID | None = None,
    account: UUID | None = None,
    month: date = MAY,
    period: Period | None = None,
    version: FocusVersion = FocusVersion.V1_4,
    format: FileFormat = FileFormat.CSV,  # noqa: A002  # as the product calls it
    dataset: Dataset = Dataset.COST_AND_USAGE,
    provisional: bool = False,
) -> Selection:
    regions = {"luxembourg-2": "Luxembourg-2"}
    days = period or month_of(month)
    return Selection(dataset, version, format, days, project, account, "IPU Cloud", regions, provisional)


def csv_of(url: str, chosen: Selection) -> bytes:
    """The file as it would be stored."""
    with snapshot(url) as connection:
        return b"".join(bytes(piece) for piece in write_csv(connection, chosen, Progress()))


Rows = list[dict[str, str]]


def rows_of(content: bytes) -> Rows:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


class Held(io.RawIOBase):
    """A file in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.content = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.content += data
        return memoryview(data).nbytes


def parquet_of(url: str, chosen: Selection, *, at_hand: int | None = None) -> bytes:
    from ipucloud.billing.exports.parquet_rows import AT_HAND, write_parquet  # Arrow takes 45 MB

    out = Held()
    with snapshot(url) as connection:
        write_parquet(connection, chosen, Progress(), out, at_hand=AT_HAND if at_hand is None else at_hand)
    return bytes(out.content)


def parquet_file(content: bytes) -> pq.ParquetFile:
    import pyarrow.parquet as pq

    return pq.ParquetFile(io.BytesIO(content))
