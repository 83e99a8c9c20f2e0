"""The API over TLS: its certificate, replaced while it runs, and clients that never end their handshake."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import ssl
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from ipucloud.client.errors import UsageError
from ipucloud.client.transport import options
from ipucloud.http.certificate import Certificate, CertificateError
from tests.support.api_process import ApiProcess, api_process
from tests.support.certificates import Certified, certify
from tests.support.waiting import eventually
from tests.support.wire import connected

NAME = "localhost"
CONNECTIONS = 8


@dataclass(frozen=True)
class Files:
    """The server's files, and two pairs that they are copied from, the first one at first."""

    certificate: Path
    key: Path
    pairs: tuple[Certified, Certified]

    def use(self, pair: Certified) -> None:
        shutil.copy(pair.certificate, self.certificate)
        shutil.copy(pair.key, self.key)

    def context(self) -> ssl.SSLContext:
        """A client's, which trusts the first pair and checks as strictly as Python 3.13 does by itself."""
        context = ssl.create_default_context(cafile=str(self.pairs[0].authority))
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folders = [tmp_path_factory.mktemp(name) for name in ("one", "other", "used")]
    one, other = (certify(NAME, folder) for folder in folders[:2])
    files = Files(folders[2] / "api.pem", folders[2] / "api.key", (one, other))
    files.use(one)
    return files


@pytest.fixture(scope="module")
def server(files: Files) -> Iterator[ApiProcess]:
    settings = {
        "tls_certificate": files.certificate,
        "tls_key": files.key,
        "connections_per_address": CONNECTIONS,
        "header_timeout": 600,
    }
    with api_process(settings, trust=files.context()) as server:
        yield server


def shown(server: ApiProcess) -> bytes:
    """The certificate that a new connection gets."""
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    with connected(server.port) as plain, trusting.wrap_socket(plain, server_hostname=NAME) as secured:
        return secured.getpeercert(binary_form=True) or b""


def test_requests_are_answered_over_tls_and_malformed_ones_are_refused(server: ApiProcess, files: Files) -> None:
    assert server.outside.get("/v1/flavors").json()["code"] == "unauthenticated"
    with connected(server.port) as plain, files.context().wrap_socket(plain, server_hostname=NAME) as secured:
        secured.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
        answer = b"".join(iter(lambda: secured.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"exactly once" in answer


def test_a_body_that_needs_many_reads_arrives_and_a_long_answer_does(server: ApiProcess) -> None:
    assert server.outside.post("/v1/projects/x/clusters", content=b"x" * 200_000).status_code == 401
    assert len(server.outside.get("/openapi.json").content) > 500_000


def test_other_protocols_are_counted_and_not_logged_one_by_one(server: ApiProcess) -> None:
    before = server.refused("tls")
    for hello in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"SSH-2.0-scan\r\n", b""):
        with connected(server.port) as plain:
            plain.sendall(hello)
            plain.shutdown(socket.SHUT_WR)
            while plain.recv(4096):
                pass
    eventually(lambda: server.refused("tls") == before + 3, "all three are counted")
    eventually(lambda: _events(server)["clients_refused"] >= 1, "that is logged")
    assert _events(server).keys() <= {"api_started", "request", "clients_refused"}


def test_who_says_nothing_gives_way_to_who_does(server: ApiProcess) -> None:
    with ExitStack() as silent:
        for _ in range(CONNECTIONS + 4):
            silent.enter_context(connected(server.port))
        eventually(lambda: server.refused("shed") >= 4, "the silent give way")
        assert server.connections() <= CONNECTIONS
        assert shown(server)


def test_a_replaced_certificate_is_shown_and_a_broken_one_never(server: ApiProcess, files: Files) -> None:
    first = shown(server)
    files.use(files.pairs[1])
    server.process.send_signal(signal.SIGHUP)
    eventually(lambda: shown(server) != first, "the new certificate is shown")
    second = shown(server)
    shutil.copy(files.pairs[0].certificate, files.certificate)  # without its key
    server.process.send_signal(signal.SIGHUP)
    eventually(lambda: _events(server)["certificate_not_read"] == 1, "that is logged")
    assert shown(server) == second


def test_a_client_on_the_same_machine_trusts_the_authorities_of_its_environment(
    server: ApiProcess, files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And uses no proxy for it."""
    url, authorities = f"https://{NAME}:{server.port}", tmp_path / "authorities.pem"
    authorities.write_text("".join(pair.authority.read_text() for pair in files.pairs))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("SSL_CERT_FILE", str(authorities))
    with httpx.Client(**options(url)) as client:
        assert client.get(f"{url}/livez").status_code == 200
    monkeypatch.delenv("SSL_CERT_FILE")
    with httpx.Client(**options(url)) as client, pytest.raises(httpx.ConnectError, match="CERTIFICATE"):
        client.get(f"{url}/livez")


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_authorities_that_cannot_be_read_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    file = tmp_path / "authorities.pem"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with pytest.raises(UsageError, match=re.escape(f"SSL_CERT_FILE ({file}) has no certificates")):
        options("https://localhost")


def _events(server: ApiProcess) -> Counter[str]:
    return Counter(line["event"] for line in server.lines())


def test_files_that_cannot_be_used_are_refused_at_the_start(tmp_path: Path, files: Files) -> None:
    one, other = files.pairs
    with pytest.raises(CertificateError, match="do not belong together"):
        Certificate(one.certificate, other.key)
    with pytest.raises(CertificateError, match=r"none\.pem: No such file"):
        Certificate(tmp_path / "none.pem", one.key)
    key = load_pem_private_key(one.key.read_bytes(), None)
    locked = tmp_path / "locked.key"
    locked.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")))
    with pytest.raises(CertificateError, match="without a password"):
        Certificate(one.certificate, locked)
    (tmp_path / "text.pem").write_text("no certificate")
    with pytest.raises(CertificateError, match=r"text\.pem"):
        Certificate(tmp_path / "text.pem", one.key)
