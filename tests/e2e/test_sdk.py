"""The SDK against the real service: every call that reads, changes that need no hardware, and a cluster that rests."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ipucloud.client import (
    ApiError,
    AsyncClient,
    Client,
    billing,
    clusters,
    events,
    flavors,
    images,
    operations,
    prices,
    projects,
    quotas,
    regions,
    ssh_keys,
    tokens,
)
from ipucloud.client.clusters import NewCluster
from ipucloud.wire.site import Ssh
from tests.support.machine import Need, needs, program
from tests.support.openssh import KeyPair, OpenSsh, make_key
from tests.support.processes import Up

PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGsLsPG0tEBYgAJSQm/bNPNAkrF3HXFGDWmMvVWOWcU1"
IMAGE = "ubuntu-20.04-x64-poplar-1.18.0-3.0.0"
PATIENCE = 180.0
POD16 = NewCluster("bert", region="luxembourg-2", flavor="m2000-pod16", image=IMAGE)


@pytest.fixture
def client(system: Up) -> Iterator[Client]:
    with Client(system.facts["url"], system.facts["token"]) as client:
        yield client


def test_everything_that_can_be_read_is_understood(client: Client) -> None:
    me = client.run(tokens.whoami())
    assert me.project is not None
    assert client.run(projects.get(me.project.slug)).id == me.project.id
    region = client.run(regions.get("luxembourg-2"))
    assert region in list(client.items(regions.list()))
    pod16 = client.run(flavors.get("m2000-pod16"))
    assert pod16.ipus == 16
    assert pod16 in list(client.items(flavors.list(region="luxembourg-2")))
    assert max(client.items(images.list()), key=lambda image: image.release).name == IMAGE
    assert {price.sku for price in client.items(prices.list())} >= {"ipu-m2000"}
    room = {each.flavor: each.available for each in client.items(regions.capacity("luxembourg-2"))}
    assert room["m2000-pod16"] > 0
    assert {quota.machine_type for quota in client.items(quotas.list())} >= {"m2000"}
    assert [token.role for token in client.items(tokens.list())] == ["owner"]
    assert me.project in list(client.items(projects.list()))
    assert next(client.items(events.list(limit=1))).type in {kind.type for kind in client.items(events.types())}
    assert client.run(billing.usage()).minutes >= 0
    assert {cluster.state for cluster in client.items(clusters.list(state="active"))} <= {"active"}
    assert {each.target.type for each in client.items(operations.list())} <= {"cluster"}


def test_what_is_added_can_be_removed_and_is_added_once(client: Client) -> None:
    adding = ssh_keys.create("laptop", PUBLIC_KEY)
    key = client.run(adding)
    assert client.run(adding) == key, "the same call again has no second effect"
    assert [each.id for each in client.items(ssh_keys.list())] == [key.id]
    client.run(ssh_keys.delete(key.id))
    assert list(client.items(ssh_keys.list())) == []
    token = client.run(tokens.create("ci", "viewer"))
    client.run(tokens.delete(token.id))
    assert token.token is not None
    with Client(client.url, token.token) as revoked, pytest.raises(ApiError) as caught:
        revoked.run(tokens.whoami())
    assert caught.value.status == 401


def test_a_cluster_is_estimated_created_cancelled_and_deleted(client: Client) -> None:
    estimate = client.run(clusters.estimate(POD16))
    assert estimate.quota.allowed
    assert estimate.capacity.available
    operation = client.run(clusters.create(POD16))
    cluster = client.run_tagged(clusters.get(operation.target.id))
    assert cluster.value.price_per_minute == estimate.price_per_minute
    with pytest.raises(ApiError) as caught:
        client.run(clusters.create(POD16))
    assert caught.value.code == "name_taken"
    renamed = client.run(clusters.update(cluster.value.id, tags={"team": "nlp"}))
    assert renamed.tags == {"team": "nlp"}
    with pytest.raises(ApiError) as stale:
        client.run(clusters.delete(cluster.value.id, if_match=cluster.etag))
    assert stale.value.status == 412
    assert client.run(operations.cancel(operation.id)).state in {"cancelling", "cancelled"}
    assert client.run(clusters.usage(cluster.value.id)).minutes == 0
    assert all(server.ssh is None for server in client.items(clusters.poplar_servers(cluster.value.id)))
    client.wait(client.run(clusters.delete(cluster.value.id)), patience=120.0)
    assert client.run(clusters.get(cluster.value.id)).state == "deleted"


def check_copies(system: Up, key: KeyPair, folder: Path) -> None:
    """The command line copies files, completes names, and prints a configuration by which OpenSSH finds the server."""
    results, config = folder / "results", folder / "config"
    copy = ("clusters", "scp", "--identity", str(key.private), "resting:notes", str(results))
    with system.ipucloud.start(*copy, **system.environment) as copying:
        assert copying.wait(60) == 0
    assert results.read_text() == "kept\n"
    typed = {"_IPUCLOUD_COMPLETE": "complete_bash", "COMP_WORDS": "ipucloud clusters show rest", "COMP_CWORD": "3"}
    with system.ipucloud.start(**typed, **system.environment) as completing:
        assert completing.communicate(timeout=PATIENCE)[0].split() == ["resting"]
    printing = ("clusters", "ssh-config", "resting", "--identity", str(key.private))
    with system.ipucloud.start(*printing, **system.environment) as printed:
        config.write_text(printed.communicate(timeout=PATIENCE)[0])
    ssh = [program("ssh"), "-F", str(config), "-o", "BatchMode=yes", "resting", "cat", "notes"]
    assert subprocess.run(ssh, capture_output=True, timeout=PATIENCE, check=True).stdout == b"kept\n"


@needs(Need.OPENSSH)
def test_a_suspended_cluster_comes_back_with_its_files(system: Up, client: Client, tmp_path: Path) -> None:
    key = make_key(tmp_path)
    added = client.run(ssh_keys.create("resting", key.public_line))
    creation = client.run(clusters.create(replace(POD16, name="resting", flavor="m2000-pod4", ssh_keys=["resting"])))
    client.wait(creation, patience=PATIENCE)
    cluster = client.run(clusters.get(creation.target.id))
    [server] = cluster.poplar_servers
    assert server.ssh is not None
    login = OpenSsh(Ssh.model_validate({**server.ssh.model_dump(), "fingerprint": ""}), key, tmp_path / "known_hosts")
    assert login.ssh("echo kept > notes").returncode == 0
    check_copies(system, key, tmp_path)
    client.wait(client.run(clusters.suspend(cluster.id)), patience=PATIENCE)
    rests = client.run(clusters.get(cluster.id))
    assert (rests.state, rests.billing and rests.billing.status, rests.machines) == ("suspended", "paused", [])
    assert login.ssh("cat notes").returncode != 0
    client.wait(client.run(clusters.resume(cluster.id)), patience=PATIENCE)
    [again] = client.run(clusters.get(cluster.id)).poplar_servers
    assert (again.id, again.ssh) == (server.id, server.ssh)
    assert login.ssh("cat notes").stdout == b"kept\n"
    client.run(clusters.delete(cluster.id))
    client.run(ssh_keys.delete(added.id))


def test_the_async_client_reads_the_same(system: Up, client: Client) -> None:
    async def names() -> list[str]:
        async with AsyncClient(system.facts["url"], system.facts["token"]) as asynchronous:
            return [flavor.name async for flavor in asynchronous.items(flavors.list())]

    assert asyncio.run(names()) == [flavor.name for flavor in client.items(flavors.list())]
