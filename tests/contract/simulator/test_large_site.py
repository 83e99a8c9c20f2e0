"""A site of the largest size: it starts, and it keeps of it only what was touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from ipucloud.vipu_cli.controller import Channels, Controller
from ipucloud.vipu_cli.endpoint import Endpoint
from ipucloud.wire import vipu_pb2 as pb
from tests.support.site import running_site
from tests.support.vipu import CALL_SECONDS, VipuDriver
from tests.support.waiting import PATIENCE

MACHINES = 16384


def test_16384_machines_are_one_site(tmp_path: Path) -> None:
    with running_site(tmp_path, machines=MACHINES, options=["--machines-on", "--hosts", "1"]) as site:
        region = site.region()
        assert sum(len(pod.machines) for pod in region.pods) == MACHINES
        vipu = VipuDriver(site.channel())
        last = region.pods[-1]
        vipu.allocate("a", last.cluster_id or "", [machine.name for machine in last.machines])
        vipu.create("p", 64, allocation_id="a")
        assert vipu.status("p").ready_state == pb.PS_ACTIVE
        assert {device.ip for device in vipu.config("p").gcd_configs[0].devices} == {m.rnic for m in last.machines}
        request = pb.ListIPUAttributesRequest(agents=[last.machines[0].name])
        reply = vipu.user.ListIPUAttributes(request, timeout=CALL_SECONDS)
        assert reply.entries[0].ipu_attributes[0].attributes["ipuof routing id"] == "3"
        assert (tmp_path / "vipu-luxembourg-2.json").stat().st_size < 10_000


@pytest.mark.anyio
async def test_the_attributes_of_all_machines_are_one_answer(tmp_path: Path) -> None:
    """More than gRPC takes by default; a client with the default asks for some agents at a time."""
    with running_site(tmp_path, machines=2304, options=["--hosts", "1"]) as site:
        endpoint, channels = site.endpoint(), Channels()
        controller = Controller(
            Endpoint(endpoint.host, endpoint.admin_port, security=site.security()), channels, call_seconds=60.0
        )
        entries = await controller.attributes()
        await channels.close()
        assert sum(entry.ByteSize() for entry in entries) > 4 * 1024 * 1024
        assert {len(entry.ipu_attributes) for entry in entries} == {4}
        assert len({entry.agent for entry in entries}) == 2304
        vipu = VipuDriver(site.channel())
        some = pb.ListIPUAttributesRequest(agents=[entry.agent for entry in entries[:1024]])
        assert len(vipu.user.ListIPUAttributes(some, timeout=PATIENCE).entries) == 1024
