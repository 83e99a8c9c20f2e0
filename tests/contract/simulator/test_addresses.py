"""Public addresses over the site's HTTP interface: what they lead to, what is refused, and what a restart keeps."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from ipucloud.wire.site import HostState
from tests.contract.simulator.outcomes import assert_refused
from tests.support.openssh import make_key
from tests.support.site import RunningSite, running_site
from tests.support.tenant import REGION, Tenant
from tests.support.waiting import PATIENCE

_NAMES = count(1)
OTHER_REGION = "amsterdam-2"
FEW = "127.65.7.0/30"
"""A network of two addresses."""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[RunningSite]:
    options = ["--machines", "4", "--time-scale", "0", "--addresses", FEW, "--address-port", "2223"]
    with running_site(tmp_path / "site", options=options) as site:
        yield site


@pytest.fixture
def tenant(site: RunningSite, tmp_path: Path) -> Tenant:
    """With a server that runs."""
    tenant = Tenant(site, machines=0)
    tenant.deploy([make_key(tmp_path, "ours").public_line])
    tenant.wait_for(HostState.RUNNING)
    return tenant


def put(site: RunningSite, name: str, region: str = REGION) -> httpx.Response:
    return site.http().put(f"/v1/addresses/{name}", json={"region": region})


def attach(site: RunningSite, name: str, revision: int, tenant: Tenant | None, **changes: str) -> httpx.Response:
    server = None
    if tenant is not None:
        server = {"host": tenant.host, "server": f"{tenant.name}-h1", "network": tenant.name} | changes
    return site.http().put(f"/v1/addresses/{name}/attachment", json={"revision": revision, "server": server})


def new_address(site: RunningSite) -> tuple[str, tuple[str, int]]:
    """A new address: its name, and where it is."""
    name = f"a{next(_NAMES)}"
    shown = put(site, name).raise_for_status().json()
    return name, (shown["ip"], shown["port"])


def greeting(where: tuple[str, int]) -> str | None:
    """What a client hears first; None: it is refused."""
    try:
        with socket.create_connection(where, timeout=PATIENCE) as client:
            return client.recv(64).decode()
    except ConnectionRefusedError:
        return None


def test_the_site_chooses_an_address_of_its_network_and_keeps_it(site: RunningSite) -> None:
    name, (ip, port) = new_address(site)
    assert IPv4Address(ip) in IPv4Network(FEW).hosts()
    assert port == 2223
    shown: Any = {"name": name, "spec": {"region": REGION}, "ip": ip, "port": port, "attachment": None}
    assert put(site, name).json() == shown, "asked again"
    site.revive()
    assert site.http().get(f"/v1/addresses/{name}").json() == shown
    assert_refused(put(site, name, OTHER_REGION), 409, REGION)
    assert_refused(put(site, "b1", "nowhere"), 404, "nowhere")
    assert_refused(put(site, "-", REGION), 422, "not the name")
    other = new_address(site)[1]
    assert other[0] != ip
    assert_refused(put(site, "third"), 422, "no address left")


def test_it_leads_to_the_server_that_has_it_while_that_runs(site: RunningSite, tenant: Tenant) -> None:
    name, where = new_address(site)
    assert greeting(where) is None
    attach(site, name, 1, tenant).raise_for_status()
    assert str(greeting(where)).startswith("SSH-2.0-")
    attach(site, name, 1, tenant).raise_for_status()
    power = f"/v1/hosts/{tenant.host}/power"
    site.http().post(power, json={"action": "off"}).raise_for_status()
    assert greeting(where) is None, "its server is off"
    site.http().post(power, json={"action": "on"}).raise_for_status()
    tenant.wait_for(HostState.RUNNING)
    assert str(greeting(where)).startswith("SSH-2.0-")
    site.revive()
    assert str(greeting(where)).startswith("SSH-2.0-"), "after the site was killed"
    assert_refused(site.http().delete(f"/v1/addresses/{name}"), 409, "is attached")
    attach(site, name, 2, None).raise_for_status()
    assert greeting(where) is None
    assert_refused(attach(site, name, 1, tenant), 409, "revision 2")
    assert site.http().delete(f"/v1/addresses/{name}").status_code == 204
    assert site.http().delete(f"/v1/addresses/{name}").status_code == 404
    assert_refused(put(site, name), 422, "was deleted")


def test_open_connections_end_when_it_is_detached(site: RunningSite, tenant: Tenant) -> None:
    name, where = new_address(site)
    attach(site, name, 1, tenant).raise_for_status()
    with socket.create_connection(where, timeout=PATIENCE) as client:
        assert client.recv(8) == b"SSH-2.0-"
        attach(site, name, 2, None).raise_for_status()
        try:
            while client.recv(4096):
                pass
        except ConnectionResetError:
            pass


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"server": "another"}, "another server"),
        ({"network": "another"}, "not in network"),
        ({"host": "lux2-h002"}, "no server that runs"),
    ],
)
def test_a_server_that_cannot_have_it_is_refused(
    site: RunningSite, tenant: Tenant, changes: dict[str, str], words: str
) -> None:
    name, where = new_address(site)
    assert_refused(attach(site, name, 1, tenant, **changes), 409, words)
    assert site.http().get(f"/v1/addresses/{name}").json()["attachment"] is None
    assert greeting(where) is None
    elsewhere = f"a{next(_NAMES)}"
    put(site, elsewhere, OTHER_REGION).raise_for_status()
    assert_refused(attach(site, elsewhere, 1, tenant), 409, f"not in {OTHER_REGION!r}")


def test_an_ip_at_which_another_program_listens_is_not_attached(site: RunningSite, tenant: Tenant) -> None:
    name, where = new_address(site)
    with socket.create_server(where):
        assert_refused(attach(site, name, 1, tenant), 409, "another program listens")
        assert site.http().get(f"/v1/addresses/{name}").json()["attachment"] is None
    attach(site, name, 1, tenant).raise_for_status()
    assert str(greeting(where)).startswith("SSH-2.0-")


def test_a_server_that_is_wiped_loses_it(site: RunningSite, tenant: Tenant) -> None:
    name, where = new_address(site)
    attach(site, name, 3, tenant).raise_for_status()
    site.http().delete(f"/v1/hosts/{tenant.host}/server").raise_for_status()
    shown = site.http().get(f"/v1/addresses/{name}").json()
    assert shown["attachment"] == {"revision": 3, "server": None, "allowed_sources": []}
    assert greeting(where) is None


def test_a_name_that_was_deleted_before_it_was_used_is_not_used(site: RunningSite) -> None:
    assert site.http().delete("/v1/addresses/late").status_code == 404
    assert_refused(put(site, "late"), 422, "was deleted")
    assert site.http().get("/v1/addresses/late").status_code == 404
