"""httpx clients for the exchange."""

from __future__ import annotations

import ipaddress
import os
import ssl
from importlib.util import find_spec
from typing import TypedDict
from urllib.parse import urlsplit
from urllib.request import getproxies

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

    The authorities that the environment names (`SSL_CERT_FILE`) are trusted for all. Raises UsageError if they, or the
    variables of proxies, cannot be used.
    """
    local = _is_local(url)
    if not local:
        _check_proxies()
    # Without TLS nothing is verified, and loading the authorities is most of what a short command takes.
    verify = urlsplit(url).scheme != "http" and _authorities()
    return {"trust_env": not local, "follow_redirects": False, "verify": verify}


def check_environment() -> None:
    """Refuse what HTTP clients of this process could not use. Raises UsageError, which names the variable."""
    _check_proxies()
    _authorities()


def _check_proxies() -> None:
    """Values are not repeated: proxies have passwords."""
    known = getproxies()  # as httpx reads them
    for scheme in ("http", "https", "all"):
        if value := known.get(scheme):
            _check_proxy(_variable(f"{scheme}_proxy"), value if "://" in value else f"http://{value}")
    for entry in filter(None, map(str.strip, known.get("no", "").split(","))):
        if not _is_exception(entry):
            raise UsageError(
                f"{_variable('no_proxy')} has an entry that cannot be used: {entry}. Entries are names, addresses"
                " without brackets and IPv4 networks."
            )


def _check_proxy(name: str, value: str) -> None:
    if value.startswith(("socks5://", "socks5h://")) and find_spec("socksio") is None:
        raise UsageError(f"{name} names a SOCKS proxy, which needs one more package: pip install 'httpx[socks]'")
    try:
        url = httpx.Proxy(value).url
        sound = bool(url.host) and url.path in {"", "/"} and not url.query and "#" not in value
    except (ValueError, httpx.InvalidURL):
        sound = False
    if not sound:
        raise UsageError(
            f"{name} cannot be used: it must be like http://USER:PASSWORD@HOST:PORT, with https, socks5 or socks5h"
            " instead of http. In names and passwords write %23 for #, %2F for /, %3F for ?, %40 for @ and %25 for %."
        )


def _is_exception(entry: str) -> bool:
    try:
        ipaddress.ip_address(entry)
    except ValueError:
        pass
    else:
        return True
    try:
        return bool(httpx.URL(entry if "://" in entry else f"all://*{entry}").host)
    except httpx.InvalidURL:
        return False


def _variable(name: str) -> str:
    """The variable as it is set; small letters win, as in httpx."""
    return name if os.environ.get(name) else name.upper()


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
