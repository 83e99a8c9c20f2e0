"""A controller that lies in every answer ends no worker, and nothing that was not checked reaches a customer."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
from prometheus_client import REGISTRY

from ipucloud.contract.partitions import IpuofConfigOut, PartitionDetailOut
from ipucloud.kernel.vipu import PARTITION_ID, PartitionShape
from ipucloud.partitions.queries import GET_PARTITION
from ipucloud.site.ports import Site, SiteError
from tests.support.hostile import HostileController, hostile_controller
from tests.support.selection import Figures
from tests.support.site import address_of, running_site
from tests.support.vipu import VipuDriver
from tests.support.world import SiteWorld, authentication, open_site_world

pytestmark = pytest.mark.anyio

SITE = {"machines": 16}
WORLD = partial(open_site_world, partitions_quiet_interval=0.002, partitions_change_interval=0.001, poll_seconds=0.004)
PLAIN = re.compile(r"[\x20-\x7e]{0,300}", re.ASCII)
ID = re.compile(PARTITION_ID, re.ASCII)
MAX_BYTES = 200_000


def _failed() -> float:
    """Looks that ended with an exception nobody foresaw, or parked their work item."""
    labels = [{"kind": "partitions", "outcome": outcome} for outcome in ("Retry", "Park")]
    return sum(REGISTRY.get_sample_value("reconcile_outcomes_total", each) or 0.0 for each in labels)


async def test_a_worker_goes_on_observing_and_shows_only_what_it_checked(
    world: SiteWorld, full: bool, figures: Figures
) -> None:
    answers = 10_000 if full else 150
    region = world.site.region().vipu
    assert region is not None
    async with world.worker():
        await world.build(flavor="m2000-pod4")
    honest = grpc.aio.secure_channel(f"{region.host}:{region.admin_port}", world.site.credentials())
    # A controller that fails pass after pass is asked ever more seldom: now and then one is answered truly.
    hostile = HostileController(honest, random.Random(answers), spoils=0.5, truths=10, about="virmgrpc")  # noqa: S311  # repeatable, not secret
    async with hostile_controller([hostile], world.site.authority()) as (port,):
        await _set_port(world, port)
        before = _failed()
        async with world.worker():
            while hostile.spoiled < answers:
                await asyncio.sleep(0.05)
                await _set_port(world, port)  # the site goes on reporting where its controller really is
                await _shown_is_checked(world)
            hostile.spoils = 0.0
            await _calm(world)
        assert _failed() == before
        await _set_port(world, region.admin_port)
    await honest.close(None)
    async with world.worker():
        await world.delete_all()
    figures(**hostile.answers_given)


async def _set_port(world: SiteWorld, port: int) -> None:
    await world.execute("UPDATE vipu_controllers SET admin_port = :port WHERE region = 'luxembourg-2'", port=port)


async def _calm(world: SiteWorld) -> None:
    """Once the controller tells the truth again, so do we."""
    async with asyncio.timeout(180):
        while [(p["state"], p["size"]) for p in await _documents(world)] != [("active", 4)]:
            await asyncio.sleep(0.02)


async def _documents(world: SiteWorld) -> list[dict[str, Any]]:
    """Every living partition as a customer reads it."""
    shown = []
    for row in await world.rows("SELECT cluster_id, external_name FROM partitions WHERE removed_at IS NULL"):
        parameters = authentication(world.project) | {"cluster_id": row.cluster_id, "ref": row.external_name}
        async with world.database.read() as connection:
            document = (await GET_PARTITION.one(connection, parameters)).document
        if document is not None:
            assert len(document) < MAX_BYTES
            shown.append(PartitionDetailOut.model_validate_json(document).model_dump(mode="json"))
    return shown


async def _shown_is_checked(world: SiteWorld) -> None:
    for shown in await _documents(world):
        assert ID.fullmatch(shown["partition_id"])
        _all_plain(shown)
        assert shown["size"] is None or 0 < shown["size"] <= 65_536
        assert len(shown["ipus"]) in {0, shown["size"]}
    for config in await world.column("SELECT ipuof FROM partitions WHERE ipuof IS NOT NULL"):
        for gcd in config:
            _all_plain(IpuofConfigOut.model_validate(gcd).model_dump())
    assert await world.value("SELECT count(*) FROM work WHERE kind = 'partitions' AND parked_at IS NOT NULL") == 0


def _all_plain(value: object) -> None:
    """Every text in there is short and printable."""
    if isinstance(value, str):
        assert PLAIN.fullmatch(value), value[:80]
    elif isinstance(value, dict):
        for each in (*value.keys(), *value.values()):
            _all_plain(each)
    elif isinstance(value, list | tuple | frozenset):
        for each in value:
            _all_plain(each)


async def test_every_call_ends_in_a_checked_value_or_in_an_error_of_ours(
    tmp_path: Path, full: bool, figures: Figures
) -> None:
    answers = 10_000 if full else 600
    draw = random.Random(answers)  # noqa: S311  # repeatable, not secret
    with running_site(tmp_path / "site", machines=16, options=["--machines-on"]) as site:
        region = site.region().vipu
        assert region is not None
        driver, pod = VipuDriver(site.channel()), site.region().pods[0]
        assert pod.cluster_id is not None
        driver.allocate("a", pod.cluster_id, [pod.machines[0].name])
        driver.create("a-1", 4, allocation_id="a")
        channel = grpc.aio.secure_channel(f"{region.host}:{region.admin_port}", site.credentials())
        hostile = HostileController(channel, draw)
        async with hostile_controller([hostile], site.authority()) as (port,):
            sites = site.clients(call_timeout=30.0)
            client = sites.at(address_of(site.region())._replace(admin_port=port), lambda: 10.0)
            errors = 0
            while hostile.answers_given.total() < answers:
                try:
                    _all_plain(await draw.choice(CALLS)(client))
                except SiteError as error:
                    errors += 1
                    _all_plain(str(error))
            await sites.close()
        await channel.close(None)
    figures(errors=errors, **hostile.answers_given)


async def _values(answer: Any) -> object:
    """Texts and numbers of an answer, as plain containers."""
    return _plain(await answer)


def _plain(value: object) -> object:
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, list | tuple | frozenset):
        return [_plain(each) for each in value]
    return value


CALLS: tuple[Callable[[Site], Any], ...] = (
    lambda site: _values(site.vipu.partition_status("a", "a-1")),
    lambda site: _values(site.vipu.list_partitions("a")),
    lambda site: _values(site.vipu.all_partitions()),
    lambda site: _values(site.vipu.partitions_of("a")),
    lambda site: _values(site.vipu.ipuof_config("a", "a-1", PartitionShape(4))),
    lambda site: _values(site.vipu.reset_partition("a", "a-1", relocatable=False)),
    lambda site: _values(site.vipu.remove_partition("b", "b-1")),
    lambda site: _values(site.vipu.allocation("a")),
    lambda site: _values(site.vipu.list_allocations("")),
    lambda site: _values(site.vipu.list_users()),
    lambda site: _values(site.vipu.cluster_test("t")),
    lambda site: _values(site.vipu.remove_partitions("b")),
)
