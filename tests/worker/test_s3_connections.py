"""S3 connections on the servers of clusters: real buckets, reached with what a customer finds after logging in."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

import pytest

from ipucloud.billing.exports.connections import Bucket, Rules, change_connection, connect
from ipucloud.clusters import s3_access
from ipucloud.contract.s3_connections import S3ConnectionPatch
from ipucloud.identity.members import Home
from ipucloud.kernel.sealing import read_keys
from tests.support.machine import Need, needs
from tests.support.s3 import S3Server, rclone, s3_server
from tests.support.waiting import until
from tests.support.world import SiteWorld
from tests.support.world.site_world import SECRETS_KEY
from tests.worker.customers import Logins

pytestmark = [pytest.mark.anyio, needs(Need.OPENSSH)]

RULES = Rules(read_keys(SECRETS_KEY), private_too=True, ports=frozenset({443}))
RCLONE = ".config/rclone/rclone.conf"
SETTLED = """
SELECT bool_and(s.s3_revision IS NOT DISTINCT FROM c.s3_revision)
  FROM clusters c JOIN poplar_servers s ON s.cluster_id = c.id WHERE c.id = :id
"""


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with s3_server(tmp_path_factory.mktemp("s3"), "data") as server:
        (server.folder / "data" / "sample.txt").write_text("a sample\n")
        yield server


@dataclass
class Customer:
    """A customer who has buckets, and logs in to the only server."""

    world: SiteWorld
    s3: S3Server
    logins: Logins

    async def connected(self, name: str, *, secret: str | None = None) -> UUID:
        server = self.s3
        place = (name, server.endpoint, "us-east-1", "data", "")
        bucket = Bucket(*place, server.access_key_id, secret or server.secret, attachable=True)
        async with self.world.database.begin() as connection:
            document = await connect(connection, Home(self.world.project.id, None), bucket, RULES)
        return UUID(json.loads(document)["id"])

    async def rotated(self, connection_id: UUID, secret: str) -> None:
        project = self.world.project.id
        async with self.world.database.begin() as connection:
            body = S3ConnectionPatch(secret=secret)
            assert await change_connection(connection, Home(project, None), connection_id, body, RULES)
            await s3_access.roll_out(connection, project, connection_id)

    async def settled(self, cluster: UUID) -> list[str]:
        """Wait until the server was seen to have what the cluster is to have; the names."""
        await until(lambda: self.world.value(SETTLED, id=cluster), "the server has the connections of its cluster")
        names: list[str] = await self.world.value("SELECT s3_connections FROM poplar_servers")
        return names

    async def run(self, command: str) -> str:
        return await self.logins.run(await self.world.one("SELECT * FROM poplar_servers"), command)

    async def lists(self, remote: str) -> str:
        """What rclone lists with the server's own configuration."""
        copy = self.logins.folder / "rclone.conf"
        copy.write_text(await self.run(f"cat {RCLONE}"))
        command = [rclone(), "--config", str(copy), "--retries", "1", "--low-level-retries", "1", "lsf", remote]
        done = await asyncio.to_thread(subprocess.run, command, capture_output=True, timeout=120, check=False)
        return done.stdout.decode()


@pytest.fixture
def customer(world: SiteWorld, s3: S3Server, logins: Logins) -> Customer:
    return Customer(world, s3, logins)


async def test_a_bucket_is_reached_from_a_server_rotated_and_detached_while_it_runs(
    world: SiteWorld, customer: Customer
) -> None:
    lake = await customer.connected("lake", secret="an-old-secret")
    async with world.worker():
        cluster = await world.build(ssh_keys=["ours"], s3_connections=["lake"])
        assert await customer.settled(cluster) == ["lake"]
        assert await customer.lists("lake:data") == "", "the secret is not that of the bucket yet"
        own = "[mine]\\ntype = memory\\n"
        await customer.run(f"printf '{own}' >> {RCLONE}")
        # The answer of the site is lost: the request is repeated.
        world.fault(call="hosts.put_s3", action="drop_answer", times=1)
        await customer.rotated(lake, customer.s3.secret)
        await customer.settled(cluster)
        assert await customer.lists("lake:data") == "sample.txt\n"
        assert (await customer.run(f"ls -l {RCLONE} .aws/config .aws/credentials")).count("-rw-------") == 3
        shown = (await customer.run("env")).splitlines()
        assert f"AWS_ENDPOINT_URL_S3={customer.s3.endpoint}" in shown
        assert "AWS_REQUEST_CHECKSUM_CALCULATION=when_required" in shown
        assert f"AWS_SECRET_ACCESS_KEY={customer.s3.secret}" in shown
        # The site dies at once after it was told, and what it was told is there when it runs again.
        await customer.connected("second")
        await world.update(cluster, s3_connections=["lake", "second"])
        assert await customer.settled(cluster) == ["lake", "second"]
        world.site.kill()
        world.site.start()
        assert await customer.lists("second:data") == "sample.txt\n"
        assert "AWS_SECRET_ACCESS_KEY" not in await customer.run("env"), "of several, each has a profile"
        assert "[profile second]" in await customer.run("cat .aws/config")
        await world.update(cluster, s3_connections=[])
        assert await customer.settled(cluster) == []
        assert (await customer.run(f"cat {RCLONE}")).split() == ["[mine]", "type", "=", "memory"]
        assert await customer.run("ls .aws") == ""
        # A late copy of an earlier request brings nothing back.
        host = await world.value("SELECT h.name FROM hosts h JOIN allocations a ON a.host_id = h.id")
        row = await world.one("SELECT s.name, c.external_name FROM poplar_servers s JOIN clusters c ON true")
        late = {"server": row.name, "network": row.external_name, "connections": [], "revision": 1}
        assert world.http.put(f"/v1/hosts/{host}/server/s3", json=late).status_code == 409
    [stored] = await world.column("SELECT secret FROM s3_connections WHERE name = 'lake'")
    assert customer.s3.secret not in stored
    assert customer.s3.secret not in world.site.log.read_text()


async def test_a_server_has_its_connections_after_a_rebuild_and_a_resume(world: SiteWorld, customer: Customer) -> None:
    await customer.connected("lake")
    await customer.connected("sea")
    async with world.worker():
        cluster = await world.build(ssh_keys=["ours"], s3_connections=["lake"])
        await customer.settled(cluster)
        await world.succeeded(await world.rebuild(cluster, disk="wipe"))
        assert await customer.settled(cluster) == ["lake"]
        assert await customer.lists("lake:data") == "sample.txt\n"
        await world.succeeded(await world.suspend(cluster))
        await world.update(cluster, s3_connections=["sea"])
        assert await world.value("SELECT s3_connections FROM poplar_servers") == ["lake"]
        await world.succeeded(await world.resume(cluster))
        assert await customer.settled(cluster) == ["sea"]
        assert "lake" not in await customer.run(f"cat {RCLONE}")
