"""Reports of operators and operations, and what follows from them for a machine or host."""

from __future__ import annotations

from typing import TypedDict
from uuid import UUID, uuid4

import pytest

from ipucloud.inventory.health.codes import CODES, Allocation, Code, Health, Kind, Source, declaration
from ipucloud.inventory.health.reports import clear, clear_code, report
from tests.support.world import World

pytestmark = pytest.mark.anyio


class _Asked(TypedDict):
    kind: Kind
    object_id: UUID
    source: Source
    code: Code


async def object_of(world: World, kind: Kind) -> UUID:
    object_id: UUID
    [object_id] = await world.column(f"SELECT id FROM {kind}s ORDER BY name LIMIT 1")  # noqa: S608
    return object_id


async def condition(world: World, kind: Kind, object_id: UUID) -> tuple[str, bool, bool]:
    """Its health, whether it is in maintenance, and whether new clusters may get it."""
    [row] = await world.rows(f"SELECT health, maintenance, allocatable FROM {kind}s WHERE id = :id", id=object_id)  # noqa: S608
    return (row.health, row.maintenance, row.allocatable)


@pytest.mark.parametrize("kind", ["machine", "host"])
async def test_each_code_has_its_declared_effect_until_it_is_cleared(world: World, kind: Kind) -> None:
    object_id = await object_of(world, kind)
    for code, declared in CODES[kind].items():
        source = min(declared.sources)
        async with world.database.begin() as connection:
            report_id = await report(
                connection, kind=kind, object_id=object_id, source=source, code=code, detail="as seen"
            )
        allocatable = declared.allocation is Allocation.ALLOWED
        assert await condition(world, kind, object_id) == (declared.health, declared.maintenance, allocatable), code
        async with world.database.begin() as connection:
            assert await clear(connection, report_id=report_id)
            assert not await clear(connection, report_id=report_id)
        assert await condition(world, kind, object_id) == (Health.OK, False, True)


async def test_the_worst_of_several_reports_is_the_health(world: World) -> None:
    machine = await object_of(world, "machine")
    async with world.database.begin() as connection:
        for source, code in (
            (Source.BMC, Code.NOT_OBSERVED),
            (Source.VIPU, Code.LINK_DEGRADED),
            (Source.OPERATOR, Code.DRAIN),
            (Source.BMC, Code.BMC_CRITICAL),
        ):
            await report(connection, kind="machine", object_id=machine, source=source, code=code, detail="as seen")
    assert await condition(world, "machine", machine) == (Health.FAILED, True, False)
    async with world.database.begin() as connection:
        assert await clear_code(
            connection, kind="machine", object_id=machine, source=Source.BMC, code=Code.BMC_CRITICAL
        )
    assert await condition(world, "machine", machine) == (Health.DEGRADED, True, False)


async def test_a_repeated_report_is_the_same_one_and_a_cleared_one_is_history(world: World) -> None:
    machine = await object_of(world, "machine")
    key: _Asked = {"kind": "machine", "object_id": machine, "source": Source.OPERATOR, "code": Code.QUARANTINE}
    async with world.database.begin() as connection:
        first = await report(connection, detail="noisy fan", created_by="op-1", **key)
        assert await report(connection, detail="louder now", **key) == first
        assert await clear_code(connection, **key)
        assert not await clear_code(connection, **key)
        second = await report(connection, detail="again", **key)
    assert second != first
    reports = await world.rows(
        "SELECT detail, created_by, region, cleared_at IS NULL AS live FROM health_reports ORDER BY first_seen_at, id"
    )
    assert [(each.detail, each.created_by, each.live) for each in reports] == [
        ("louder now", "op-1", False),
        ("again", None, True),
    ]
    assert {each.region for each in reports} <= set(await world.column("SELECT region FROM pods"))


async def test_what_nobody_declared_is_refused(world: World) -> None:
    with pytest.raises(ValueError, match="operator does not report powered_off of a machine"):
        declaration("machine", Source.OPERATOR, Code.POWERED_OFF)
    with pytest.raises(ValueError, match="bmc does not report bmc_critical of a host"):
        declaration("host", Source.BMC, Code.BMC_CRITICAL)
    async with world.database.begin() as connection:
        assert not await clear(connection, report_id=uuid4())
