"""Faults that overlap at random, against a count second by second: found late, over late, and through suspensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from ipucloud.billing.metering.intervals import close_interval, open_interval
from ipucloud.inventory.health.codes import Code
from tests.feature.billing.faulty import faulty
from tests.feature.billing.test_oracle import EXAMPLES, anew
from tests.feature.billing.timelines import ONE_DATABASE, SECOND
from tests.feature.billing.world import BillingWorld, at
from tests.support.postgres import Database as Scratch

MACHINES = 4
BASE = at("2026-03-31T22:15:07")
SPAN = 3 * 3600
PRICE = Decimal("0.0625")
OF_MACHINES = (Code.BMC_CRITICAL, Code.POWERED_OFF)


@dataclass(frozen=True, slots=True)
class Fault:
    """In seconds: it lasts from `since` until `until`, is confirmed at `known`, and seen to be over at `cleared`."""

    part: int
    code: Code
    since: int
    known: int
    until: int
    cleared: int


@dataclass(frozen=True, slots=True)
class Life:
    """A cluster for `SPAN` seconds. `turns`: when it is suspended and resumed, in turn."""

    servers: int
    faults: tuple[Fault, ...]
    turns: tuple[int, ...]


_DELAY = st.one_of(st.integers(0, 90), st.integers(0, 90), st.integers(0, SPAN // 2))


@st.composite
def lives(draw: st.DrawFn) -> Life:
    servers = draw(st.sampled_from([1, 1, 2]))
    faults: list[Fault] = []
    for _ in range(draw(st.integers(0, 8))):
        part = draw(st.integers(0, MACHINES + servers - 1))
        code = draw(st.sampled_from(OF_MACHINES)) if part < MACHINES else Code.HOST_FAILED
        since = draw(st.integers(-600, SPAN))
        known = max(since + draw(_DELAY), 0)
        until = known + draw(st.integers(0, SPAN // 4))
        fault = Fault(part, code, since, known, until, until + draw(_DELAY))
        same = [each for each in faults if (each.part, each.code) == (part, code)]
        if all(fault.since > each.cleared or fault.cleared < each.since for each in same):
            faults.append(fault)
    turns = draw(st.lists(st.integers(1, SPAN - 1), max_size=3, unique=True))
    return Life(servers, tuple(faults), tuple(sorted(turns)))


def not_working(life: Life, lasting: Sequence[Fault]) -> int:
    machines = {each.part for each in lasting if each.part < MACHINES}
    hosts = {each.part for each in lasting if each.part >= MACHINES}
    return min(MACHINES, len(machines) + math.ceil(MACHINES / life.servers * len(hosts)))


def counted(life: Life) -> tuple[int, int, Decimal]:
    """Minutes, credited machine-minutes and cost: what each second of the life says when a minute begins in it.

    At every look the seconds since the last change are counted again, by what is known by then.
    """
    billed, credited = [True] * SPAN, [0] * SPAN
    running, behind = True, 0
    for now in moments(life):
        if now in life.turns:
            running, behind = not running, now
            billed[now:] = [running] * (SPAN - now)
            credited[now:] = [0] * (SPAN - now)
        if running:
            known = [each for each in life.faults if each.known <= now]
            for second in range(behind, SPAN):
                lasting = [
                    each for each in known if each.since <= second and (each.cleared > now or second < each.until)
                ]
                credited[second] = not_working(life, lasting)
            behind = max((s for s in range(behind + 1, now + 1) if credited[s] != credited[s - 1]), default=behind)
    minutes = [second for second in range(0, SPAN, 60) if billed[second]]
    total = sum(credited[second] for second in minutes)
    return len(minutes), total, (len(minutes) * MACHINES - total) * PRICE


def moments(life: Life) -> list[int]:
    """When something is seen or asked for."""
    changes = {second for each in life.faults for second in (each.known, each.cleared)}
    return sorted(second for second in {*changes, *life.turns} if second < SPAN)


async def live(billing: BillingWorld, life: Life, closes: list[int]) -> list[str]:
    """Each change at its time, and the books kept in between; what the audit says in the end."""
    cluster = await faulty(billing, MACHINES, life.servers)
    owner: dict[str, Any] = {"project_id": billing.project.id, "cluster_id": cluster.cluster}
    reports: dict[Fault, UUID] = {}
    running = True
    billing.now(BASE)
    async with billing.database.begin() as connection:
        await open_interval(connection, **owner)
    for now in sorted({*moments(life), *closes}):
        billing.now(BASE + now * SECOND)
        if now in life.turns:
            running = not running
            async with billing.database.begin() as connection:
                await (open_interval if running else close_interval)(connection, **owner)
        for fault in life.faults:
            if fault.known == now:
                reports[fault] = await cluster.fails(fault.part, BASE + fault.since * SECOND, fault.code, settled=False)
            if fault.cleared == now:
                await cluster.works(reports[fault], BASE + fault.until * SECOND, settled=False)
        if now in moments(life):
            await cluster.settle()
        if now in closes:
            await billing.keep()
    billing.now(BASE + SPAN * SECOND)
    if running:
        async with billing.database.begin() as connection:
            await close_interval(connection, **owner)
    await billing.keep(BASE + SPAN * SECOND + timedelta(hours=2))
    return await cluster.violations()


async def example(billing: BillingWorld, life: Life, closes: list[int]) -> None:
    await billing.price(PRICE)
    assert await live(billing, life, closes) == []
    posted = await billing.one(
        "SELECT coalesce(sum(minutes), 0), coalesce(sum(minutes * credited), 0), coalesce(sum(cost), 0)"
        " FROM usage_charges"
    )
    assert tuple(posted) == counted(life)


@settings(ONE_DATABASE, max_examples=EXAMPLES)
@given(life=lives(), closes=st.lists(st.integers(0, SPAN), max_size=2, unique=True))
def test_what_is_credited_is_what_each_second_says(database: Scratch, life: Life, closes: list[int]) -> None:
    anew(database, lambda billing: example(billing, life, closes), "TRUNCATE allocations, health_reports CASCADE")
