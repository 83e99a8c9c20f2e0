"""TLS to the controllers, with real certificates: what the control plane trusts, and what it does not."""

from __future__ import annotations

import asyncio
import itertools
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import grpc
import pytest

from ipucloud.laboratory.simulator.tls import Authority, Pair
from ipucloud.site.connect import SiteClients, VipuAccess
from ipucloud.site.ports import Site, SiteUnknown, VipuAddress
from ipucloud.site.tls import ClientFiles, Credentials, Identities
from ipucloud.wire import vipu_pb2 as pb
from tests.support.site import RunningSite, address_of, running_site
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.anyio

NAME = "luxembourg-2"
KEY = "vipu_secret-key"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), machines=1) as site:
        yield site


@asynccontextmanager
async def called(address: VipuAddress, files: str | None = None, *, plaintext: bool = False) -> AsyncIterator[Site]:
    """The controller at an address, by a control plane that has a key for it."""
    access = VipuAccess(lambda: Credentials("ipucloud", KEY), ClientFiles(files), plaintext)
    sites = SiteClients("http://127.0.0.1:1", call_timeout=PATIENCE, vipu=access)
    try:
        yield sites.at(address._replace(secure=True), lambda: PATIENCE)
    finally:
        await sites.close()


async def test_an_announced_address_may_be_reached_at_another_one(tmp_path: Path) -> None:
    """Certificate and name are those of the announced address, which leads nowhere from here."""
    announced = "192.0.2.7"
    with running_site(tmp_path, machines=1, options=["--advertise", announced]) as site:
        site.url = site.url.replace(announced, "127.0.0.1")
        address = address_of(site.region())
        assert address.host == announced
        access = VipuAccess(client=ClientFiles(site.client_files))
        sites = SiteClients(site.url, call_timeout=PATIENCE, vipu=access, reached={announced: "127.0.0.1"}.__getitem__)
        try:
            assert await sites.at(address, lambda: PATIENCE).vipu.all_partitions() == []
        finally:
            await sites.close()


async def refusal(site: Site) -> str:
    """Why a call has no outcome: it counts as unknown, whatever is wrong with the connection."""
    with pytest.raises(SiteUnknown) as unknown:
        await site.vipu.all_partitions()
    assert f"the V-IPU controller {NAME} at 127.0.0.1:" in str(unknown.value)
    assert KEY not in str(unknown.value)
    return str(unknown.value)


class RecordingHandler(grpc.GenericRpcHandler):  # type: ignore[type-arg]  # generic in the stubs only
    """A service that hears everything and answers nothing of use."""

    def __init__(self) -> None:
        self.received: list[object] = []

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[bytes, bytes]:
        self.received.append(dict(details.invocation_metadata or ()))

        async def answer(request: bytes, context: object) -> bytes:
            return pb.ListPartitionsReply().SerializeToString()

        return grpc.unary_unary_rpc_method_handler(answer)


@asynccontextmanager
async def listening(credentials: grpc.ServerCredentials | None) -> AsyncIterator[tuple[int, RecordingHandler]]:
    """Somebody else's server; without credentials it speaks plaintext."""
    server, handler = grpc.aio.server(), RecordingHandler()
    server.add_generic_rpc_handlers([handler])
    where = "127.0.0.1:0"
    port = server.add_insecure_port(where) if credentials is None else server.add_secure_port(where, credentials)
    await server.start()
    try:
        yield port, handler
    finally:
        await server.stop(None)


def test_keys_are_for_this_user_alone(site: RunningSite) -> None:
    for folder in ("authorities", "clients"):
        (file,) = (site.data / folder).glob(f"{NAME}.pem")
        assert file.stat().st_mode & 0o777 == 0o600
        assert b"PRIVATE KEY" in file.read_bytes()
    assert "PRIVATE KEY" not in (site.endpoint().authority or "")


async def test_a_listener_that_cannot_prove_itself_gets_no_key(site: RunningSite, tmp_path: Path) -> None:
    own, address = site.authority(), address_of(site.region())
    expired = Authority(site.data / "authorities", NAME, tmp_path / "expired", life=-60.0, fsync=False)
    foreign = Authority(tmp_path, NAME, tmp_path / "foreign", fsync=False)
    for credentials, sentence in (
        (foreign.server("127.0.0.1"), "its certificate is not of the authority"),
        (expired.server("127.0.0.1"), "its certificate has expired"),
        (own.server("10.0.0.1", "vipu.example.com"), "its certificate is for another name or address"),
        (None, "it does not speak TLS on this port"),
    ):
        async with (
            listening(credentials) as (port, handler),
            called(address._replace(admin_port=port), site.client_files) as wrong,
        ):
            assert sentence in await refusal(wrong)
            assert handler.received == []


async def test_a_client_that_cannot_prove_itself_is_not_administered_to(site: RunningSite, tmp_path: Path) -> None:
    address = address_of(site.region())
    expired = Authority(site.data / "authorities", NAME, tmp_path / "expired", life=-60.0, fsync=False)
    Authority(tmp_path, NAME, tmp_path / "foreign", fsync=False)
    async with called(address) as nameless:
        assert "set IPUCLOUD_VIPU_CLIENT_CERTIFICATE" in await refusal(nameless)
    for folder in ("expired", "foreign"):
        async with called(address, str(tmp_path / folder / "{controller}.pem")) as wrong:
            assert "does not accept the client certificate" in await refusal(wrong)
    async with called(address, str(tmp_path / "nowhere.pem")) as wrong:
        assert "cannot be read" in await refusal(wrong)
    assert expired.name == NAME


async def test_plaintext_is_spoken_only_where_it_is_allowed(site: RunningSite) -> None:
    plain = address_of(site.region())._replace(authority=None)
    async with called(plain, site.client_files) as forbidden:
        assert "set IPUCLOUD_VIPU_PLAINTEXT=true" in await refusal(forbidden)
    async with called(plain, site.client_files, plaintext=True) as mistaken:
        assert "it takes no plaintext" in await refusal(mistaken)
    async with listening(None) as (port, handler):
        address = plain._replace(admin_port=port)
        async with called(address) as forbidden:
            await refusal(forbidden)
            assert handler.received == []
        async with called(address, plaintext=True) as allowed:
            assert await allowed.vipu.all_partitions() == []
            assert KEY in str(handler.received)


async def test_certificates_and_authorities_change_without_a_lost_call(site: RunningSite) -> None:
    stopped, calls = asyncio.Event(), 0

    async def go_on(address: VipuAddress, *, fresh: bool) -> None:
        """Call, over one connection or a fresh one each time, as who trusts the authority of the beginning."""
        nonlocal calls
        while not stopped.is_set():
            async with called(address, site.client_files) as used:
                while not stopped.is_set():
                    await used.vipu.list_allocations("")
                    await used.vipu.all_partitions()
                    calls += 1
                    if fresh:
                        break

    before, http = address_of(site.region()), site.http()
    callers = [asyncio.create_task(go_on(before, fresh=fresh)) for fresh in (False, True, True)]
    for verb in ("rotate-certificates", "replace-authority", "rotate-certificates"):
        answer = await asyncio.to_thread(http.post, f"/v1/controllers/{NAME}:{verb}")
        assert answer.status_code == 204
        reached = calls + 10
        while calls < reached and not any(caller.done() for caller in callers):
            await asyncio.sleep(0)
    stopped.set()
    await asyncio.gather(*callers)
    after = address_of(site.region())
    assert after.authority != before.authority
    async with called(after, site.client_files) as renewed:
        assert await renewed.vipu.list_allocations("") == []


async def test_a_new_authority_and_new_files_make_a_new_connection(site: RunningSite, tmp_path: Path) -> None:
    """The process that had the ones before goes on, without a restart."""
    file = tmp_path / "client.pem"
    foreign = Authority(tmp_path / "foreign", NAME, tmp_path / "clients", fsync=False)
    own = site.authority()
    pair, wrong = own.client("somebody"), foreign.client("somebody")
    right = address_of(site.region())
    access = VipuAccess(client=ClientFiles(str(file)))
    sites = SiteClients("http://127.0.0.1:1", call_timeout=PATIENCE, vipu=access)
    file.write_bytes(wrong.certificate + wrong.key)
    await refusal(sites.at(right, lambda: PATIENCE))
    file.write_bytes(pair.certificate + pair.key)
    used = sites.at(right, lambda: PATIENCE)
    assert await used.vipu.list_allocations("") == []
    file.write_bytes(pair.certificate + wrong.key)  # they do not belong together: the pair before stays
    assert await sites.at(right, lambda: PATIENCE).vipu.list_allocations("") == []
    mistaken = sites.at(right._replace(authority=foreign.certificate), lambda: PATIENCE)
    assert "not of the authority" in await refusal(mistaken)
    assert await used.vipu.list_allocations("") == [], "a pass keeps the connection that it began with"
    await sites.close()


def test_a_file_that_is_replaced_while_it_is_read_gives_one_pair(tmp_path: Path) -> None:
    authority, file = Authority(tmp_path, NAME, tmp_path / "clients", fsync=False), tmp_path / "client.pem"
    pairs = [pair.certificate + pair.key for pair in (authority.client("first"), authority.client("second"))]
    file.write_bytes(pairs[0])
    stopped = threading.Event()

    def replace() -> None:
        for pair in itertools.cycle(pairs):
            (tmp_path / "next").write_bytes(pair)
            (tmp_path / "next").replace(file)
            if stopped.is_set():
                return

    with ThreadPoolExecutor(1) as pool:
        replacing = pool.submit(replace)
        try:
            read = {Identities(ClientFiles(str(file))).of(NAME).certificate for _ in range(500)}
        finally:
            stopped.set()
            replacing.result()
    assert read <= set(pairs)


def strict(protocol: int, own: Pair, trusted: str, folder: Path) -> ssl.SSLContext:
    """One end of a connection, which checks the other one's certificate as Python 3.13 does by itself."""
    context = ssl.SSLContext(protocol)
    context.verify_mode, context.verify_flags = ssl.CERT_REQUIRED, ssl.VERIFY_X509_STRICT
    context.load_verify_locations(cadata=trusted)
    (folder / "own.pem").write_bytes(own.certificate + own.key)
    context.load_cert_chain(folder / "own.pem")
    return context


@pytest.mark.parametrize("replaced", [False, True])
def test_certificates_of_controllers_and_clients_pass_a_strict_check(tmp_path: Path, *, replaced: bool) -> None:
    authority = Authority(tmp_path, NAME, tmp_path / "clients", fsync=False)
    trusted = authority.certificate
    if replaced:
        authority.replace()
    listener, client = authority.listener(["127.0.0.1"]), authority.client("ada")
    there = strict(ssl.PROTOCOL_TLS_SERVER, listener, authority.client_roots.decode(), tmp_path)
    here = strict(ssl.PROTOCOL_TLS_CLIENT, client, trusted, tmp_path)
    out, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [here.wrap_bio(back, out, server_hostname="127.0.0.1"), there.wrap_bio(out, back, server_side=True)]
    for end in (*ends, *ends):  # a client speaks first and last, and the server reads its certificate at the end
        with suppress(ssl.SSLWantReadError):
            end.do_handshake()
    assert [end.getpeercert() is not None for end in ends] == [True, True]


async def test_a_site_may_speak_plaintext(tmp_path: Path) -> None:
    with running_site(tmp_path / "site", machines=1, options=["--plaintext"]) as plain:
        address = address_of(plain.region())
        assert address.authority is None
        async with called(address, plaintext=True) as allowed:
            assert await allowed.vipu.list_allocations("") == []
