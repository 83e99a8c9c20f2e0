"""A program at another port of 127.0.0.1, as one that `ssh` forwards: it serves a page at every path."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Neighbour:
    """`cookies`: what browsers have sent it, by the paths."""

    url: str = ""
    cookies: list[tuple[str, str]] = field(default_factory=list)


@contextmanager
def neighbour() -> Iterator[Neighbour]:
    record = Neighbour()

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            record.cookies.append((self.path, self.headers.get("Cookie", "")))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Set-Cookie", "neighbour=was-here; Path=/")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Neighbour</title>")

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        record.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield record
        finally:
            server.shutdown()
            thread.join()
