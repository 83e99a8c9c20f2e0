"""A simulated site on which everything is immediate, shared by a module's tests and emptied after each.

A module whose servers need keys or sandboxes has a folder, a key and a site of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.machine import Need, need
from tests.support.openssh import KeyPair, make_key
from tests.support.site import RunningSite, running_site
from tests.support.vipu import PodDriver

REGION = "luxembourg-2"


@pytest.fixture(scope="module")
def shared_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), options=["--machines-on"]) as site:
        yield site


@pytest.fixture(scope="module")
def shared_vipu(shared_site: RunningSite) -> PodDriver:
    return PodDriver.at(shared_site, REGION)


@pytest.fixture(scope="module")
def shared_http(shared_site: RunningSite) -> httpx.Client:
    return shared_site.http()


@pytest.fixture
def vipu(shared_vipu: PodDriver) -> Iterator[PodDriver]:
    yield shared_vipu
    shared_vipu.clear()


@pytest.fixture
def http(shared_http: httpx.Client, shared_vipu: PodDriver) -> Iterator[httpx.Client]:
    """A client of the site, which is left without faults, broken hardware, servers, partitions and networks."""
    yield shared_http
    shared_http.delete("/v1/faults").raise_for_status()
    for machine in shared_vipu.silent_agents():
        shared_http.post(f"/v1/machines/{machine}:repair")
        shared_http.post(f"/redfish/v1/Systems/{machine}/Actions/ComputerSystem.Reset", json={"ResetType": "On"})
    shared_vipu.clear()
    for host in shared_http.get("/v1/hosts", params={"region": REGION}).json()["hosts"]:
        if host["state"] != "clean":
            shared_http.post(f"/v1/hosts/{host['name']}:repair").raise_for_status()
            shared_http.delete(f"/v1/hosts/{host['name']}/server")
    for network in shared_http.get("/v1/networks").json()["networks"]:
        shared_http.delete(f"/v1/networks/{network['name']}").raise_for_status()


@pytest.fixture(scope="module")
def pod(shared_vipu: PodDriver) -> list[str]:
    """The machines of the region's first pod, in the order of their slots."""
    return shared_vipu.pod


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("module")


@pytest.fixture(scope="module")
def key(folder: Path) -> KeyPair:
    return make_key(folder)


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[RunningSite]:
    """A site of the module's own, whose servers' programs are in sandboxes."""
    need(Need.SANDBOX)
    with running_site(folder / "site", options=["--machines-on"]) as site:
        yield site
