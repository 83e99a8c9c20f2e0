"""A program at another port of 127.0.0.1, as one that `ssh` forwards: it serves a page at every path."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.support.serving import Quiet, serving


@dataclass
class Neighbour:
    """`cookies`: what browsers have sent it, by the paths."""

    url: str = ""
    cookies: list[tuple[str, str]] = field(default_factory=list)


@contextmanager
def neighbour() -> Iterator[Neighbour]:
    record = Neighbour()

    class Page(Quiet):
        def do_GET(self) -> None:  # noqa: N802  # the name http.server calls
            record.cookies.append((self.path, self.headers.get("Cookie", "")))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Set-Cookie", "neighbour=was-here; Path=/")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Neighbour</title>")

    with serving(Page) as address:
        record.url = f"http://{address}"
        yield record
