"""The SDK against the real service: every call that reads, changes that need no hardware, and a cluster that rests."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ipucloud.client import (
    ApiError,
    AsyncClient,
    Client,
    activity,
    catalogue,
    clusters,
    identity,
    operations,
)
from ipucloud.client.clusters import NewCluster
from ipucloud.wire.site import Ssh
from tests.support.openssh import OpenSsh, make_key
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
    me = client.run(identity.whoami())
    assert me.project is not None
    assert client.run(identity.project(me.project.slug)).id == me.project.id
    region = client.run(catalogue.region("luxembourg-2"))
    assert region in list(client.items(catalogue.regions()))
    pod16 = client.run(catalogue.flavor("m2000-pod16"))
    assert pod16.ipus == 16
    assert pod16 in list(client.items(catalogue.flavors(region="luxembourg-2")))
    assert max(client.items(catalogue.images()), key=lambda image: image.age).name == IMAGE
    assert {price.sku for price in client.items(catalogue.prices())} >= {"ipu-m2000"}
    room = {each.flavor: each.available for each in client.items(catalogue.capacity("luxembourg-2"))}
    assert room["m2000-pod16"] > 0
    assert {quota.machine_type for quota in client.items(identity.quotas())} >= {"m2000"}
    assert [token.role for token in client.items(identity.tokens())] == ["owner"]
    assert me.project in list(client.items(identity.projects()))
    assert next(client.items(activity.events(limit=1))).type in {
        kind.type for kind in client.items(activity.event_types())
    }
    assert client.run(activity.usage()).minutes == 0
    assert list(client.items(clusters.page(state="active"))) == []
    assert list(client.items(operations.page())) == []


def test_what_is_added_can_be_removed_and_is_added_once(client: Client) -> None:
    adding = identity.add_ssh_key("laptop", PUBLIC_KEY)
    key = client.run(adding)
    assert client.run(adding) == key, "the same call again has no second effect"
    assert [each.id for each in client.items(identity.ssh_keys())] == [key.id]
    client.run(identity.remove_ssh_key(key.id))
    assert list(client.items(identity.ssh_keys())) == []
    token = client.run(identity.create_token("ci", "viewer"))
    client.run(identity.revoke_token(token.id))
    assert token.token is not None
    with Client(client.url, token.token) as revoked, pytest.raises(ApiError) as caught:
        revoked.run(identity.whoami())
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
    renamed = client.run(clusters.change(cluster.value.id, tags={"team": "nlp"}))
    assert renamed.tags == {"team": "nlp"}
    with pytest.raises(ApiError) as stale:
        client.run(clusters.delete(cluster.value.id, if_match=cluster.etag))
    assert stale.value.status == 412
    assert client.run(operations.cancel(operation.id)).state in {"cancelling", "cancelled"}
    assert client.run(clusters.usage(cluster.value.id)).minutes == 0
    assert all(server.ssh is None for server in client.items(clusters.poplar_servers(cluster.value.id)))
    gone = client.wait(client.run(clusters.delete(cluster.value.id)).id, patience=120.0)
    assert gone.succeeded
    assert client.run(clusters.get(cluster.value.id)).state == "deleted"


@pytest.mark.skipif(shutil.which("ssh") is None, reason="the OpenSSH client is not installed")
def test_a_suspended_cluster_comes_back_with_its_files(client: Client, tmp_path: Path) -> None:
    key = make_key(tmp_path)
    added = client.run(identity.add_ssh_key("resting", key.public_line))
    made = client.run(clusters.create(replace(POD16, name="resting", flavor="m2000-pod4", ssh_keys=["resting"])))
    assert client.wait(made.id, patience=PATIENCE).succeeded
    cluster = client.run(clusters.get(made.target.id))
    [server] = cluster.poplar_servers
    assert server.ssh is not None
    login = OpenSsh(Ssh.model_validate({**server.ssh.model_dump(), "fingerprint": ""}), key, tmp_path / "known_hosts")
    assert login.ssh("echo kept > notes").returncode == 0
    assert client.wait(client.run(clusters.suspend(cluster.id)).id, patience=PATIENCE).succeeded
    rests = client.run(clusters.get(cluster.id))
    assert (rests.state, rests.billing and rests.billing.status, rests.machines) == ("suspended", "paused", [])
    assert login.ssh("cat notes").returncode != 0
    assert client.wait(client.run(clusters.resume(cluster.id)).id, patience=PATIENCE).succeeded
    assert client.run(clusters.get(cluster.id)).poplar_servers == [server]
    assert login.ssh("cat notes").stdout == b"kept\n"
    client.run(clusters.delete(cluster.id))
    client.run(identity.remove_ssh_key(added.id))


def test_the_async_client_reads_the_same(system: Up, client: Client) -> None:
    async def flavors() -> list[str]:
        async with AsyncClient(system.facts["url"], system.facts["token"]) as asynchronous:
            return [flavor.name async for flavor in asynchronous.items(catalogue.flavors())]

    assert asyncio.run(flavors()) == [flavor.name for flavor in client.items(catalogue.flavors())]
