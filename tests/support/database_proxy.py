"""A fault proxy in front of a database of the embedded server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit

from tests.support.faultproxy import Proxy, proxy


@contextmanager
def database_proxy(url: str) -> Iterator[tuple[Proxy, str]]:
    """A line to the server of a socket URL, and the URL of the same role and database by that line."""
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    socket = Path(unquote(query["host"][0])) / f".s.PGSQL.{query['port'][0]}"
    with proxy(socket) as line:
        yield line, through_proxy(line, url)


def through_proxy(line: Proxy, url: str) -> str:
    """`url` through the line. The server speaks no TLS."""
    parts = urlsplit(url)
    [passfile] = parse_qs(parts.query)["passfile"]
    options = f"passfile={quote(passfile)}&sslmode=disable&gssencmode=disable"
    return f"postgresql://{parts.username}@127.0.0.1:{line.port}{parts.path}?{options}"
