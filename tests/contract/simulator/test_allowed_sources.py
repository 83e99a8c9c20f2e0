"""From where SSH to a Poplar server is let in: real connections from several addresses of this machine."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path

import asyncssh
import httpx
import pytest

from ipucloud.wire.site import HostState
from tests.contract.simulator.outcomes import assert_refused
from tests.support.openssh import KeyPair, make_key
from tests.support.site import RunningSite, running_site
from tests.support.tenant import REGION, Tenant
from tests.support.waiting import PATIENCE

CONTROL_PLANE, OFFICE, HOME, LABORATORY = "127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"


@pytest.fixture
def ours(tmp_path: Path) -> KeyPair:
    return make_key(tmp_path, "ours")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[RunningSite]:
    options = ["--machines", "4", "--time-scale", "0", "--addresses", "127.65.8.0/30", "--address-port", "2224"]
    with running_site(tmp_path / "site", options=options) as site:
        yield site


@pytest.fixture
def tenant(site: RunningSite, ours: KeyPair) -> Tenant:
    """With a server that runs."""
    tenant = Tenant(site, machines=0)
    tenant.deploy([ours.public_line])
    tenant.wait_for(HostState.RUNNING)
    return tenant


def put(tenant: Tenant, revision: int, sources: Sequence[str]) -> httpx.Response:
    named = {"server": f"{tenant.name}-h1", "network": tenant.name}
    body = named | {"revision": revision, "allowed_sources": [*sources]}
    return tenant.site.http().put(f"/v1/hosts/{tenant.host}/server/sources", json=body)


def greeted(where: tuple[str, int], source: str) -> bool:
    """Whether a client with this address hears of a server of SSH at all."""
    try:
        with socket.create_connection(where, timeout=PATIENCE, source_address=(source, 0)) as client:
            return client.recv(64).startswith(b"SSH-2.0-")
    except ConnectionResetError:
        return False


async def logs_in(where: tuple[str, int], source: str, key: str) -> bool:
    try:
        async with asyncssh.connect(
            *where, local_addr=(source, 0), username="ubuntu", known_hosts=None, client_keys=[key]
        ):
            return True
    except (OSError, asyncssh.ConnectionLost, asyncssh.PermissionDenied):
        return False


def test_only_clients_in_the_networks_are_let_in_until_there_are_none(
    site: RunningSite, tenant: Tenant, ours: KeyPair
) -> None:
    at = tenant.ssh()
    where, key = (at.host, at.port), str(ours.private)
    host = site.http().get(f"/v1/hosts/{tenant.host}").json()
    assert host["sources"] is None
    assert greeted(where, HOME)
    seen = put(tenant, 1, [OFFICE]).raise_for_status().json()["sources"]
    assert seen == {"revision": 1, "allowed_sources": ["127.0.0.2/32"]}
    assert (greeted(where, OFFICE), greeted(where, HOME)) == (True, False)
    assert asyncio.run(logs_in(where, OFFICE, key))
    put(tenant, 2, ["127.0.0.3/32", "2001:db8::/32"]).raise_for_status()
    assert (greeted(where, OFFICE), greeted(where, HOME)) == (False, True)
    assert_refused(put(tenant, 1, [OFFICE]), 409, "revision 2")
    assert_refused(put(tenant, 3, ["127.0.0.3/8"]), 422, "host bits")
    site.revive()
    assert (greeted(where, OFFICE), greeted(where, HOME)) == (False, True)
    put(tenant, 3, []).raise_for_status()
    assert all(greeted(where, each) for each in (OFFICE, HOME))


def test_open_connections_stay_open(tenant: Tenant, ours: KeyPair) -> None:
    async def run() -> None:
        at = tenant.ssh()
        where = (at.host, at.port)
        async with asyncssh.connect(
            *where, local_addr=(HOME, 0), username="ubuntu", known_hosts=None, client_keys=[str(ours.private)]
        ) as open_one:
            (await asyncio.to_thread(put, tenant, 1, [OFFICE])).raise_for_status()
            assert not await logs_in(where, HOME, str(ours.private))
            assert not open_one.is_closed()

    asyncio.run(run())


def test_the_control_plane_is_let_in_with_its_own_keys_only(tenant: Tenant, ours: KeyPair, tmp_path: Path) -> None:
    at = tenant.ssh()
    where = (at.host, at.port)
    put(tenant, 1, [OFFICE]).raise_for_status()
    assert greeted(where, CONTROL_PLANE)
    assert not asyncio.run(logs_in(where, CONTROL_PLANE, str(ours.private)))
    own = make_key(tmp_path, "own")
    named = {"server": f"{tenant.name}-h1", "network": tenant.name}
    login = named | {"public_key": own.public_line, "seconds": 60}
    tenant.site.http().put(f"/v1/hosts/{tenant.host}/server/login-keys/k1", json=login).raise_for_status()
    assert asyncio.run(logs_in(where, CONTROL_PLANE, str(own.private)))
    assert not asyncio.run(logs_in(where, HOME, str(own.private)))


def test_the_networks_of_a_server_hold_at_its_address(site: RunningSite, tenant: Tenant, ours: KeyPair) -> None:
    shown = site.http().put("/v1/addresses/a1", json={"region": REGION}).raise_for_status().json()
    server = {"host": tenant.host, "server": f"{tenant.name}-h1", "network": tenant.name}
    attachment = {"revision": 1, "server": server}
    site.http().put("/v1/addresses/a1/attachment", json=attachment).raise_for_status()
    where = (shown["ip"], shown["port"])
    assert greeted(where, HOME)
    put(tenant, 1, [OFFICE]).raise_for_status()
    assert (greeted(where, OFFICE), greeted(where, HOME)) == (True, False)
    assert asyncio.run(logs_in(where, OFFICE, str(ours.private)))
    # Its own networks are asked for beside.
    own = attachment | {"revision": 2, "allowed_sources": [HOME, LABORATORY]}
    shown = site.http().put("/v1/addresses/a1/attachment", json=own).raise_for_status().json()
    assert shown["attachment"]["allowed_sources"] == [f"{HOME}/32", f"{LABORATORY}/32"]
    assert not any(greeted(where, each) for each in (OFFICE, HOME, LABORATORY))
    put(tenant, 2, [OFFICE, HOME]).raise_for_status()
    assert [greeted(where, each) for each in (OFFICE, HOME, LABORATORY)] == [False, True, False]
    site.revive()
    assert [greeted(where, each) for each in (OFFICE, HOME, LABORATORY)] == [False, True, False]
    wrong = own | {"revision": 3, "allowed_sources": ["10.1.2.3/8"]}
    assert_refused(site.http().put("/v1/addresses/a1/attachment", json=wrong), 422, "host bits")
