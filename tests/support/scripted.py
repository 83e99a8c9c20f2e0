"""A real HTTP server that gives the answers a test sets, and keeps the requests.

It answers no request whose body the API's document forbids."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.support.filled_in import faults_of_body, filled_in
from tests.support.serving import Quiet, serving


@dataclass(frozen=True)
class Reply:
    """One answer: `body` is sent as JSON, with what the API's document requires of this answer and a test leaves out.

    `raw` is sent as it is; `hang_up` closes the connection without an answer.
    """

    status: int = 200
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    hang_up: bool = False

    def content(self, request: Request) -> bytes:
        if self.raw is not None or self.body is None:
            return self.raw or b""
        return json.dumps(filled_in(request.method, request.path, self.status, self.body)).encode()


def page(items: Sequence[object], cursor: str | None = None) -> Reply:
    return Reply(body={"items": list(items), "next_cursor": cursor})


HANG_UP = Reply(hang_up=True)
NO_SUCH_ROUTE = Reply(501, raw=b"the test has no answer for this request")


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class Service:
    """Answers by method and path: in the order given, the last one for ever."""

    url: str = ""
    requests: list[Request] = field(default_factory=list)
    _replies: dict[tuple[str, str], list[Reply]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def on(self, method: str, path: str, *replies: Reply) -> None:
        self._replies[method, path] = list(replies)

    def gives(self, path: str, body: object) -> None:
        """GET `path` answers 200 with `body`."""
        self.on("GET", path, Reply(body=body))

    def lists(self, path: str, items: Sequence[object]) -> None:
        """GET `path` answers the whole list as one page."""
        self.gives(path, {"items": list(items), "next_cursor": None})

    def calls(self) -> list[str]:
        return [f"{each.method} {each.path}" for each in self.requests]

    def bodies(self, method: str) -> list[Any]:
        """What the requests of this method sent, in order."""
        return [each.body for each in self.requests if each.method == method]

    def answer(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            replies = self._replies.get((request.method, request.path), [NO_SUCH_ROUTE])
            reply = replies[0] if len(replies) == 1 else replies.pop(0)
            faults = faults_of_body(request.method, request.path, request.body) if reply.status < 300 else []
            return problem(501, "impossible_body", f"The API does not accept this body: {faults}") if faults else reply


def problem(status: int, code: str, detail: str, **more: object) -> Reply:
    """A refusal as the API writes it."""
    body = {"type": f"https://docs/{code}", "title": code, "status": status, "code": code, "detail": detail}
    body |= {"request_id": "req-1", "retryable": False} | more
    return Reply(status, body, {"Content-Type": "application/problem+json", "Request-Id": "req-1"})


@contextmanager
def scripted_service() -> Iterator[Service]:
    service = Service()

    class Handler(Quiet):
        protocol_version = "HTTP/1.1"

        def do(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            content = self.rfile.read(length)
            parts = urlsplit(self.path)
            request = Request(
                self.command,
                parts.path,
                dict(parse_qsl(parts.query)),
                {name.lower(): value for name, value in self.headers.items()},
                json.loads(content) if content else None,
            )
            reply = service.answer(request)
            if reply.hang_up:
                self.close_connection = True
                return
            self.send_response_only(reply.status)
            standard = {"Date": self.date_time_string(), "Content-Type": "application/json"}
            for name, value in {**standard, **reply.headers}.items():
                self.send_header(name, value)
            answer = reply.content(request)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do  # noqa: N815 (the names http.server calls)

    with serving(Handler) as address:
        service.url = f"http://{address}"
        yield service
