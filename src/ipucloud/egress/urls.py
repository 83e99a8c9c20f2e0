"""Validation of customers' URLs. Pure: addresses of a name are checked when connecting."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass
from urllib.parse import urlsplit

from ipucloud.contract.webhooks import LONGEST_URL
from ipucloud.egress.guard import is_public, parse

PORTS = frozenset({443, 8443})
"""Of HTTPS servers."""
_NAME = re.compile(r"(?=.{1,253}\Z)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
_TEXT = re.compile(r"[\x21-\x7e]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Target:
    """A parsed URL. `host` without brackets."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = {"https": 443, "http": 80}[self.scheme]
        return host if self.port == usual else f"{host}:{self.port}"


class UrlRefused(Exception):
    """The reason, as a stable code and a message that repeats nothing of the URL."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


def target_of(url: str, *, private: bool, ports: Set[int] = PORTS) -> Target:
    """Parse a URL. `private`: plain HTTP, any port, any address and names without a dot are accepted.

    A host is a name with a dot, or an address in its usual form: `2130706433`, `0x7f.1` and `127.1` are neither.
    Raises UrlRefused.
    """
    if not _TEXT.fullmatch(url) or len(url) > LONGEST_URL or "\\" in url:
        raise UrlRefused("not_a_url", f"Send a URL of at most {LONGEST_URL} visible ASCII characters.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise UrlRefused("not_a_url", "Send a URL.") from None
    if parts.scheme != "https" and not (private and parts.scheme == "http"):
        raise UrlRefused("not_https", "Send a URL that begins with https://.")
    if "@" in parts.netloc or parts.fragment or not parts.hostname:
        raise UrlRefused("not_a_url", "Omit user, password and fragment, and include a host.")
    host = parts.hostname.lower()
    if port is None:
        port = {"https": 443, "http": 80}[parts.scheme]
    address = parse(host)
    if address is None and not (_NAME.fullmatch(host) and (private or "." in host)):
        raise UrlRefused("not_a_host", "Use a full DNS name or an IP address in its usual form as the host.")
    if not private and address is not None and not is_public(address):
        raise UrlRefused("not_public", "The address is not public.")
    if not private and port not in ports:
        raise UrlRefused("not_a_port", f"Use port {' or '.join(map(str, sorted(ports)))}.")
    query = f"?{parts.query}" if parts.query else ""
    return Target(parts.scheme, host, port, (parts.path or "/") + query)


def endpoint_of(url: str, *, private: bool, ports: Set[int]) -> Target:
    """Parse a URL that has neither path nor query. Raises UrlRefused."""
    target = target_of(url, private=private, ports=ports)
    if target.path.strip("/"):
        raise UrlRefused("not_an_endpoint", "Send only scheme, host and port: https://host or https://host:port.")
    return target
