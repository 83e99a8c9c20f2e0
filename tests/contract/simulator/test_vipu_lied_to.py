"""`vipu` at a user endpoint that lies: each command ends with a status and a cause, and nothing unfit is shown."""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import grpc
import pytest

from ipucloud.vipu_cli import show
from ipucloud.vipu_cli.controller import Channels, Controller
from ipucloud.vipu_cli.files import LocalFiles, files_of
from ipucloud.vipu_cli.run import run
from ipucloud.vipu_cli.world import World
from ipucloud.wire import vipu_pb2 as user
from ipucloud.wire import vipu_tenant_pb2 as tenant
from tests.support.hostile import HostileController, hostile_controller
from tests.support.site import RunningSite, running_site
from tests.support.vipu import PodDriver

SERVICES = (
    user.DESCRIPTOR.services_by_name["UserService"],
    user.DESCRIPTOR.services_by_name["VersionService"],
    tenant.DESCRIPTOR.services_by_name["TenantService"],
)
LINES = (
    "create partition p1 --size 2 --timeout 1",
    "create partition p2 --size 4 --num-gcds 2 --timeout 1",
    "get partition p1",
    "get partition p1 --showjson",
    "get partition p2 --gcd 1 --ipuof-configs",
    "list partitions",
    "list partitions --showjson",
    "list allocations",
    "list allocations --showjson",
    "list ipu-attrs",
    "list ipu-attrs --showjson",
    "reset partition p1 --timeout 1",
    "remove partition p1 --timeout 1",
    "remove partition p2 --force --timeout 1",
    "--server-version",
)
ANSWERS = 120
OWN_FILE = re.compile(r"p[12](_gcd\d+)?_ipuof\.conf", re.ASCII)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[RunningSite]:
    with running_site(tmp_path / "site", machines=2, options=["--machines-on"]) as site:
        vipu = PodDriver.at(site)
        vipu.allocate("mine", vipu.cluster, vipu.pod)
        yield site


async def _at_once(_: float) -> None:
    """Nobody waits here."""


def test_no_answer_names_a_file_elsewhere() -> None:
    config = user.PartitionConfig()
    for gcd in ("../../../.profile", "1", ""):
        config.gcd_configs.add().attributes["GCD Id"] = gcd
    named = [name for name, _ in files_of("p1", config, 3)]
    assert named == ["p1_gcd0_ipuof.conf", "p1_gcd1_ipuof.conf", "p1_gcd2_ipuof.conf"]


def test_a_table_shows_a_value_of_a_later_release_and_no_control_characters() -> None:
    partition = user.Partition(id="p\x1b[2J" + "x" * 1000, ready_state=9)  # type: ignore[arg-type]  # none of ours
    *_, row, _ = show.partitions([partition]).splitlines()
    name, *_, state = row.split(" | ")
    assert (name[:6], len(name), state) == (" p?[2J", 1 + show.LONGEST_CELL, "9")


@pytest.mark.anyio
async def test_every_command_ends_with_a_cause_and_nothing_unfit_is_shown(
    site: RunningSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    draw = random.Random(ANSWERS)  # noqa: S311  # repeatable, not secret
    endpoint, authority = site.user_endpoint("mine"), site.authority()
    trusted = grpc.ssl_channel_credentials(authority.certificate.encode())
    honest = grpc.aio.secure_channel(f"{endpoint.host}:{endpoint.port}", trusted)
    hostile, channels, statuses = HostileController(honest, draw, spoils=0.4), Channels(), Counter[int]()
    async with hostile_controller([hostile], authority, SERVICES) as (port,):
        where = ["-H", "127.0.0.1", "-P", str(port), "--api-ca-file", str(site.authority_file())]
        while hostile.spoiled < ANSWERS:
            said: list[str] = []
            line = draw.choice(LINES)
            world = World({}, said.append, said.append, LocalFiles(), _at_once)
            status = await asyncio.wait_for(
                run([*where, *line.split()], world, partial(Controller, channels=channels)), 60
            )
            statuses[status] += 1
            shown = "".join(said)
            assert all(each.isprintable() or each == "\n" for each in shown), (line, shown[:500])
            assert (status == 1) == ("failed: " in shown), (line, shown[:500])
            written = [str(file.relative_to(home)) for file in home.rglob("*") if file.is_file()]
            assert all(OWN_FILE.fullmatch(each.removeprefix(".ipuof.conf.d/")) for each in written), written
        await channels.close()
    await honest.close(None)
    assert set(statuses) == {0, 1}
