"""httpx clients for the exchange."""

from __future__ import annotations

import ipaddress
import os
import ssl
from typing import TypedDict
from urllib.parse import urlsplit

import httpx

from ipucloud.client.errors import UsageError
from ipucloud.client.exchange import Lost, Received

EVENT_STREAM = "text/event-stream"


class Options(TypedDict):
    """Arguments of every HTTP client of this package."""

    trust_env: bool
    follow_redirects: bool
    verify: bool | ssl.SSLContext


def options(url: str) -> Options:
    """No redirects, which would send the token elsewhere; the environment's proxies only for remote services.

    The authorities that the environment names (`SSL_CERT_FILE`) are trusted for all. Raises UsageError if they cannot
    be read.
    """
    # Without TLS nothing is verified, and loading the authorities is most of what a short command takes.
    verify = urlsplit(url).scheme != "http" and _authorities()
    return {"trust_env": not _is_local(url), "follow_redirects": False, "verify": verify}


def _authorities() -> ssl.SSLContext:
    try:
        return httpx.create_ssl_context()
    except OSError as error:
        set_ = next((name for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if os.environ.get(name)), None)
        where = "This system" if set_ is None else f"{set_} ({os.environ[set_]})"
        raise UsageError(f"{where} has no certificates of authorities that can be read: {error.strerror}.") from error


def received(response: httpx.Response) -> Received:
    return Received(response.status_code, {k.lower(): v for k, v in response.headers.items()}, response.content)


def is_stream(response: httpx.Response) -> bool:
    """Whether the answer is a stream of events."""
    return response.status_code == 200 and response.headers.get("content-type", "").startswith(EVENT_STREAM)


def lost(error: httpx.TransportError) -> Lost:
    return Lost(str(error) or type(error).__name__, isinstance(error, httpx.TimeoutException))


def _is_local(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
