"""FOCUS's official validator over files of version 1.2, where `./dev focus` has made its environment."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from ipucloud.contract.exports import FileFormat, FocusVersion
from tests.feature.billing.exports.ledgers import APRIL, MAY, csv_of, furnish, selection
from tests.feature.billing.world import BillingWorld, at
from tests.focus_report import ACCEPTED, FEWEST, failures, validate
from tests.support.machine import FOCUS_PYTHON, Need, needs
from tests.support.postgres import Database as Scratch

REPORT = """<testsuites>
<testsuite><testcase name="BilledCost-C-001-M :: Type"/></testsuite>
<testsuite><testcase name="InvoiceId-C-004-C :: Nullability"><failure message="x"/></testcase></testsuite>
<testsuite><testcase name="Tags-C-001-C :: Format"><failure message="x"/></testcase></testsuite>
<testsuite><testcase name="SkuId-C-001-C :: Type"><skipped message="x"/></testcase></testsuite>
<testsuite><testcase name="ResourceName-C-002-M :: Format"><failure message="x"/></testcase></testsuite>
<testsuite><testcase name="ResourceName-C-000-C :: Composite"><failure message="x"/></testcase></testsuite>
</testsuites>"""


def test_a_report_is_read_rule_by_rule(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(REPORT)
    looked_at, failed = failures(tmp_path / "report.xml")
    assert looked_at == 5
    assert [rule for rule in failed if rule not in ACCEPTED] == ["Tags-C-001-C"]


def test_a_composite_rule_that_fails_alone_is_named(tmp_path: Path) -> None:
    case = '<testcase name="CostAndUsage-D-000-M :: Composite"><failure message="x"/></testcase>'
    (tmp_path / "report.xml").write_text(f"<testsuites><testsuite>{case}</testsuite></testsuites>")
    assert failures(tmp_path / "report.xml") == (1, ["CostAndUsage-D-000-M"])


@pytest.mark.anyio
@pytest.mark.parametrize("month", [APRIL, MAY])
@needs(Need.FOCUS)
async def test_the_official_validator_finds_nothing(
    billing: BillingWorld, database: Scratch, tmp_path: Path, month: date
) -> None:
    await furnish(billing)
    chosen = selection(account=billing.project.id, month=month, version=FocusVersion.V1_2, format=FileFormat.CSV)
    content = csv_of(database.app_url, chosen)
    assert not content.isascii(), "names of other scripts are what a locale would break"
    assert_passes(content, tmp_path / "file.csv")


@pytest.mark.anyio
@needs(Need.FOCUS)
async def test_quantities_that_are_all_whole_are_decimals(
    billing: BillingWorld, database: Scratch, tmp_path: Path
) -> None:
    """Of usage that is not posted yet, in which no other row has a fraction."""
    await billing.price("0.0625")
    await billing.used(await billing.make_cluster(), at("2026-05-20T08:00:00"), at("2026-05-20T09:24:00"), quantity=4)
    billing.now(at("2026-05-20T10:00:00"))
    chosen = selection(account=billing.project.id, version=FocusVersion.V1_2, provisional=True)
    content = csv_of(database.app_url, chosen)
    assert b",240.0," in content
    assert_passes(content, tmp_path / "file.csv")


def assert_passes(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    looked_at, failed = validate(file, str(FOCUS_PYTHON))
    assert looked_at >= FEWEST
    assert set(failed) <= ACCEPTED
