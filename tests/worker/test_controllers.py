"""What a V-IPU controller runs and can do is asked, and what cannot be worked with is left alone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from ipucloud.admin.hardware import CONTROLLERS
from ipucloud.kernel.errors import CAPACITY_EXHAUSTED
from ipucloud.site.ports import VipuAddress
from tests.support.breakable import open_emptied_world
from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite, running_site
from tests.support.waiting import PATIENCE, until
from tests.support.world import SiteWorld, open_site_world
from tests.worker.customers import refused

pytestmark = pytest.mark.anyio

WORLD = partial(open_emptied_world, observation_interval=0.05)

OPTIONS = ("--machines", "2", "--time-scale", "0")
OLD = "it runs V-IPU 1.13.2, which this release of ipucloud does not support: install V-IPU 1.14 or a later 1.x"


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), machines=2, options=["--no-cluster-test"]) as site:
        yield site


async def shown(world: SiteWorld, name: str = "luxembourg-2") -> dict[str, Any]:
    """A controller, as operators see it."""
    async with world.database.read() as connection:
        page = await CONTROLLERS.one(connection, {"after": "", "limit": 100})
    [controller] = [each for each in orjson.loads(page.items) if each["name"] == name]
    return dict(controller)


async def withheld(world: SiteWorld) -> bool:
    """Whether new clusters get nothing of a controller's machines."""
    return bool(await world.value("SELECT bool_or(withheld) FROM vipu_controllers WHERE region = 'luxembourg-2'"))


async def becomes(world: SiteWorld, state: str, name: str = "luxembourg-2") -> dict[str, Any]:
    async def is_so() -> bool:
        return str((await shown(world, name))["state"]) == state

    await until(is_so, f"the controller is {state}")
    return await shown(world, name)


async def test_a_controller_without_a_cluster_test_builds_clusters(world: SiteWorld) -> None:
    assert (await shown(world))["state"] == "unknown"
    async with world.worker():
        bert = await world.build()
        [detail] = await world.column(
            "SELECT s.detail FROM operation_steps s JOIN operations o ON o.id = s.operation_id"
            " WHERE o.cluster_id = :id AND s.name = 'test_cluster'",
            id=bert,
        )
        controller = await becomes(world, "answering")
    assert detail == "the V-IPU controller of luxembourg-2 has no cluster test"
    shown_of_it = [controller[what] for what in ("version", "cluster_test", "tls", "error")]
    assert shown_of_it == ["1.18.0", False, True, None]


async def test_an_unsupported_release_is_left_alone_until_it_was_upgraded(world: SiteWorld, site: RunningSite) -> None:
    site.restart(*OPTIONS, "--vipu-version", "1.13.2")
    async with world.worker():
        controller = await becomes(world, "unsupported")
        assert (controller["version"], controller["version_since"] is None) == ("1.13.2", False)

        async def said() -> bool:
            return OLD in str((await shown(world))["error"])

        await until(said, "readings are refused")
        await until(lambda: withheld(world), "nothing is offered under it")
        full = await refused(world.create("bert"))
        why: Any = full.extra["why_not"]
        assert (full.kind, why["reason"], why["numbers"]["silent"]) == (CAPACITY_EXHAUSTED, "health", 2)
        assert "under a V-IPU controller that does not answer or is not supported" in why["detail"]
        site.restart(*OPTIONS, "--vipu-version", "1.14.1")
        controller = await becomes(world, "answering")
        assert (controller["version"], controller["error"]) == ("1.14.1", None)
        await world.build()


BOTH = ("luxembourg-2-c1", "luxembourg-2-c2")
TWO = ("--machines", "8", "--time-scale", "0", "--pod-size", "4", "--pods-per-controller", "1")


async def allocated(world: SiteWorld) -> dict[str, list[str]]:
    """The names of the allocations at each of the region's controllers."""
    rows = await world.rows("SELECT host, admin_port, secure, authority, name FROM vipu_controllers")
    sites = {row.name: world.sites.at(VipuAddress(*row), lambda: PATIENCE) for row in rows if row.name in BOTH}
    return {name: [each.id for each in await site.vipu.list_allocations("")] for name, site in sorted(sites.items())}


async def outdate(world: SiteWorld, site: RunningSite, controller: str) -> None:
    """Let one controller run an unsupported release; return once new clusters get nothing under it."""
    site.restart(*TWO, "--controller-version", f"{controller}:1.13.2")
    assert (await becomes(world, "unsupported", controller))["version"] == "1.13.2"
    await until(lambda: withheld(world), "nothing is offered under it")


async def test_controllers_of_a_region_work_and_fail_one_by_one(database: Scratch, tmp_path: Path) -> None:
    """New clusters go to the other; what an outdated one has waits for it; work and readings at the other go on."""
    with running_site(tmp_path / "site", machines=8, options=TWO[4:]) as site:
        async with open_site_world(database, site, observation_interval=0.05) as world, world.worker():
            outdated, other = BOTH
            await outdate(world, site, outdated)
            used = await world.build("bert", "m2000-pod16")
            assert (await allocated(world))[other] == [await world.external_name(used)]
            why: Any = (await refused(world.create("gpt", "m2000-pod16"))).extra["why_not"]
            assert (why["reason"], why["numbers"]["silent"]) == ("health", 4)
            site.restart(*TWO)
            assert [(await becomes(world, "answering", each))["error"] for each in BOTH] == [None, None]
            cluster = await world.build("gpt", "m2000-pod16")
            assert (await allocated(world))[outdated] == [await world.external_name(cluster)]

            await outdate(world, site, outdated)
            waits = await world.remove_partition(cluster, await world.external_name(cluster))
            await world.succeeded(await world.remove_partition(used, await world.external_name(used)))
            await world.succeeded(await world.create_partition(used, "training", 8))
            assert (await becomes(world, "answering", other))["version"] == "1.18.0"
            assert await world.value("SELECT finished_at IS NULL FROM operations WHERE id = :id", id=waits.operation_id)
            audited = await world.audited()
            assert ([each.controller for each in audited.silent], audited.findings) == ([outdated], [])
            assert "1.13.2" in audited.silent[0].error

            site.restart(*TWO)
            await world.succeeded(waits)
            await becomes(world, "answering", outdated)
            assert not await withheld(world)
            await world.delete_all()
            assert list((await allocated(world)).values()) == [[], []]
