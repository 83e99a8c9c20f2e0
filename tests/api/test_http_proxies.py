"""Who a client is behind a proxy: believed from those that are named, and from nobody else."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pydantic import ValidationError

from ipucloud.config import Settings
from ipucloud.identity.tokens import new_token
from tests.support.api_process import ApiProcess, api_process
from tests.support.wire import answers, connected

BURST = 2
LIMIT = {"rate_limit_burst": BURST, "rate_limit_per_second": 0.001}
"""So that it shows whose request it is taken for: one address may ask twice."""


def status_of(
    server: ApiProcess, forwarded: Sequence[str], address: str = "127.0.0.1", *, token: str | None = None
) -> int:
    """The status of a request with these headers X-Forwarded-For."""
    fields = "".join(f"X-Forwarded-For: {value}\r\n" for value in forwarded)
    if token is not None:
        fields += f"Authorization: Bearer {token}\r\n"
    with connected(server.port, address) as connection:
        connection.sendall(f"GET /v1/whoami HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{fields}\r\n".encode())
        (answer,) = answers(connection)
    return answer.status


def test_nobody_is_believed_by_default() -> None:
    with api_process(LIMIT) as server:
        assert [status_of(server, [f"192.0.2.{number}"]) for number in range(BURST + 1)] == [401] * BURST + [429]


def test_a_trusted_proxy_is_believed_for_the_address_it_added_last() -> None:
    with api_process({"trusted_proxies": "127.0.3.0/24, 192.0.2.77", **LIMIT}) as server:
        proxy = "127.0.3.1"
        for forwarded in (["192.0.2.1"], ["192.0.2.2"], ["192.0.2.3, 192.0.2.77"]):
            assert [status_of(server, forwarded, proxy) for _ in range(BURST + 1)] == [401] * BURST + [429]
        # What the client itself put in front changes nothing.
        assert status_of(server, ["198.51.100.1, 192.0.2.1"], proxy) == 429
        assert status_of(server, ["198.51.100.1", "192.0.2.1"], proxy) == 429
        # A client that is no proxy speaks for itself alone.
        assert [status_of(server, [f"203.0.113.{number}"]) for number in range(BURST + 1)] == [401] * BURST + [429]


def test_made_up_tokens_count_against_the_client_behind_the_proxy() -> None:
    with api_process({"trusted_proxies": "127.0.3.1", **LIMIT}) as server:
        for forwarded in (["192.0.2.1"], ["192.0.2.2"]):
            tokens = [new_token("dev").secret for _ in range(BURST + 3)]
            statuses = [status_of(server, forwarded, "127.0.3.1", token=token) for token in tokens]
            assert 429 not in statuses[:BURST]
            assert statuses[BURST:] == [429] * 3


@pytest.mark.parametrize("text", ["10.0.0.1/8", "proxy.example", "*", "10.0.0.0/33"])
def test_what_is_no_network_is_refused_at_the_start(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPUCLOUD_TRUSTED_PROXIES", text)
    with pytest.raises(ValidationError, match="trusted_proxies"):
        Settings()
