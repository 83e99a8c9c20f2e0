"""Files too large for one request go to a real S3 server in parts, and whatever breaks, none is there by half."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from ipucloud.billing.exports.process import CHUNK_BYTES, Deliver
from ipucloud.billing.exports.s3 import SMALL, DeliveryError, deliver
from ipucloud.egress.guard import Address, Guard
from tests.feature.billing.exports.test_delivery import target
from tests.feature.billing.world import BillingWorld
from tests.support.certificates import certify
from tests.support.exports import make_export
from tests.support.faultproxy import Ending, Fault, Proxy, Strike, proxy
from tests.support.postgres import Database as Scratch
from tests.support.s3 import S3Server, s3_server
from tests.support.waiting import eventually

pytestmark = pytest.mark.anyio

FENCE = 7
SIZE = 2 * SMALL + CHUNK_BYTES + 5
"""Three parts, the last of them short."""
NAME, MANIFEST = "large.parquet", "large.manifest.json"


@dataclass(frozen=True)
class Depot:
    """A large file that is kept, and where it is to go."""

    url: str
    export: UUID
    server: S3Server
    content: bytes

    def order(self, endpoint: str, *, private_too: bool = True) -> Deliver:
        ports = frozenset({self.server.port})
        return Deliver(
            database_url=self.url,
            export_id=self.export,
            fence=FENCE,
            name=NAME,
            size=SIZE,
            manifest={"rows": 1},
            target=target(self.server, endpoint=endpoint, prefix="", private_too=private_too, ports=ports),
        )

    def arrived(self) -> None:
        """Both files are there, whole; they are taken away again."""
        files = self.server.files("costs")
        assert sorted(files) == [MANIFEST, NAME]
        assert files[NAME] == self.content
        assert json.loads(files[MANIFEST]) == {"rows": 1}
        for name in files:
            (self.server.folder / "costs" / name).unlink()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with s3_server(tmp_path_factory.mktemp("s3"), "costs") as running:
        yield running


@pytest.fixture
def line(server: S3Server) -> Iterator[Proxy]:
    with proxy(("127.0.0.1", server.port)) as tcp_proxy:
        yield tcp_proxy


async def kept(billing: BillingWorld, database: Scratch, server: S3Server) -> Depot:
    async with billing.database.begin() as connection:
        export = await make_export(connection, billing.project.id)
    content = os.urandom(SIZE)
    pieces = [content[at : at + CHUNK_BYTES] for at in range(0, SIZE, CHUNK_BYTES)]
    with psycopg.connect(database.app_url) as writing, writing.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO export_chunks (export_id, fence, ordinal, data) VALUES (%s, %s, %s, %s)",
            [(export, FENCE, ordinal, piece) for ordinal, piece in enumerate(pieces)],
        )
    return Depot(database.app_url, export, server, content)


async def test_a_large_file_goes_in_parts_and_arrives_whole(
    billing: BillingWorld, database: Scratch, server: S3Server, line: Proxy
) -> None:
    depot = await kept(billing, database, server)
    line.strike = Strike(b"partNumber=", every=1000)  # counts
    deliver(depot.order(f"http://127.0.0.1:{line.port}"))
    assert line.strike.matched == 3
    depot.arrived()


async def test_one_that_is_broken_off_leaves_no_file(
    billing: BillingWorld, database: Scratch, server: S3Server, line: Proxy
) -> None:
    depot = await kept(billing, database, server)
    order = depot.order(f"http://127.0.0.1:{line.port}")
    line.strike = Strike(b"partNumber=2", lose="request", times=100)
    with pytest.raises(DeliveryError, match=r"^The bucket's service did not answer\.$"):
        deliver(order)
    assert line.strike.fired > 1, "it was tried again"
    assert line.up_bytes > SMALL, "a part arrived"
    assert server.files("costs") == {}
    line.repair()
    deliver(order)
    depot.arrived()


def killed_in_the_middle(order: Deliver, line: Proxy) -> None:
    """Deliver in a process of its own, which is killed once half a part is on its way."""
    command = [sys.executable, "-m", "ipucloud.billing.exports.child", "deliver"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        child.stdin.write(order.model_dump_json().encode() + b"\n")
        child.stdin.flush()
        eventually(lambda: line.up_bytes >= SMALL // 2, "half a part is on its way")
        child.kill()


async def test_one_whose_process_is_killed_leaves_no_file(
    billing: BillingWorld, database: Scratch, server: S3Server, line: Proxy
) -> None:
    depot = await kept(billing, database, server)
    order = depot.order(f"http://127.0.0.1:{line.port}")
    line.up = Fault(limit=SMALL // 2, then=Ending.HANG)
    await asyncio.to_thread(killed_in_the_middle, order, line)
    assert server.files("costs") == {}
    line.repair()
    deliver(order)
    depot.arrived()


async def test_a_file_of_which_a_piece_is_gone_is_not_delivered(
    billing: BillingWorld, database: Scratch, server: S3Server
) -> None:
    depot = await kept(billing, database, server)
    last = SIZE // CHUNK_BYTES
    for ordinal in (last, 1):  # in the last part; so that what is left would be small
        await billing.execute("DELETE FROM export_chunks WHERE ordinal = :ordinal", ordinal=ordinal)
        with pytest.raises(DeliveryError, match="could not be read"):
            deliver(depot.order(server.endpoint))
        assert server.files("costs") == {}


async def test_a_name_is_connected_to_by_an_address_that_was_judged(
    billing: BillingWorld, database: Scratch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certified = certify("s3.test", tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certified.authority))
    leads_to = ["127.0.0.2"]
    resolved: list[str] = []

    async def resolve(host: str, port: int) -> Sequence[str]:
        resolved.append(host)
        return leads_to

    def permits(address: Address) -> bool:
        return str(address) == "127.0.0.1"

    guard = Guard(permits, resolve)
    with s3_server(tmp_path / "s3", "costs", certified=certified) as server:
        depot = await kept(billing, database, server)
        order = depot.order(server.endpoint, private_too=False)
        with pytest.raises(DeliveryError, match=r"^The endpoint's address is not public\.$"):
            deliver(order, guard)
        assert server.files("costs") == {}
        leads_to[:] = ["127.0.0.1"]
        deliver(order, guard)
        depot.arrived()
        assert set(resolved) == {"s3.test"}
        monkeypatch.delenv("SSL_CERT_FILE")
        with pytest.raises(DeliveryError, match="did not answer"):
            deliver(order, guard)  # whoever is at the address needs the name's certificate


async def test_a_port_that_is_not_allowed_any_more_is_not_connected_to(
    billing: BillingWorld, database: Scratch, server: S3Server
) -> None:
    depot = await kept(billing, database, server)
    for endpoint in ("https://s3.example:22", f"https://s3.example:{server.port + 1}", "https://s3.example"):
        with pytest.raises(DeliveryError, match=rf"^Use port {server.port}\.$"):
            deliver(depot.order(endpoint, private_too=False))


async def test_an_address_is_refused_however_it_is_written(
    billing: BillingWorld, database: Scratch, server: S3Server
) -> None:
    depot = await kept(billing, database, server)
    for host in ("127.0.0.1", "2130706433", "0x7f000001", "127.1", "[::1]", "[::ffff:a9fe:a9fe]"):
        with pytest.raises(DeliveryError, match=r"The address is not public|Use a full DNS name"):
            deliver(depot.order(f"https://{host}:{server.port}", private_too=False))
    assert server.files("costs") == {}
