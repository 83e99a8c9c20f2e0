"""What the environment says of proxies and redirects: what cannot be used is named, in a sentence."""

from __future__ import annotations

import pytest

from ipucloud.client.errors import UnexpectedAnswerError, UsageError
from ipucloud.client.exchange import Received, problem
from ipucloud.client.retry import retry_after_seconds
from ipucloud.client.sync import Client
from ipucloud.client.transport import options

VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NO_PROXY", "localhost,fe80::/10"),
        ("no_proxy", "[::1]:x"),
        ("HTTPS_PROXY", "http://ann:secret#word@proxy.example:3128"),
        ("HTTPS_PROXY", "http://ann:#secretword@proxy.example:3128"),
        ("https_proxy", "http://ann:secret/word@proxy.example:3128"),
        ("ALL_PROXY", "socks://proxy.example:1080"),
        ("ALL_PROXY", "socks4://proxy.example:1080"),
        ("HTTP_PROXY", "http://proxy.example:port"),
        ("HTTP_PROXY", "http://"),
    ],
)
def test_a_variable_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=name) as caught:
        Client("https://api.example.com", "ipc_x")
    assert "secret" not in str(caught.value)
    Client("https://localhost:8443", "ipc_x").close()  # this machine is reached without proxies


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
def test_a_socks_proxy_needs_a_package(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    monkeypatch.setenv("ALL_PROXY", f"{scheme}://proxy.example:1080")
    monkeypatch.setattr("ipucloud.client.transport.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"ALL_PROXY.*httpx\[socks\]"):
        options("http://api.example.com")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NO_PROXY", "localhost, .example.com,10.0.0.0/8,::1,fe80::1,http://a.example,*,"),
        ("HTTPS_PROXY", "proxy.example:3128"),
        ("ALL_PROXY", "http://ann:secret%23@[fd00::1]:3128/"),
    ],
)
def test_what_httpx_takes_is_taken(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    Client("https://api.example.com", "ipc_x").close()


def test_a_redirect_says_where_to() -> None:
    error = problem(Received(308, {"location": "https://api.example.com/v1/me"}, b"<html>"))
    assert isinstance(error, UnexpectedAnswerError)
    assert "redirect to https://api.example.com." in error.detail
    for nowhere in ("/login", "http://[", ""):
        assert "not from this service" in problem(Received(301, {"location": nowhere}, b"")).detail


@pytest.mark.parametrize(
    "header",
    ["Fri, 31 Dec 99999999999999999999 23:59:59 GMT", "Fri, 31 Dec 2026 23:59:59 +99999999999999999999", "-", " ", "²"],
)
def test_a_retry_after_that_is_neither_seconds_nor_a_date_asks_nothing(header: str) -> None:
    assert retry_after_seconds(header) is None
