"""Data of one request, from the edge to its handler and back to the access log."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from uuid import UUID

from starlette.requests import HTTPConnection
from starlette.types import Scope

from ipucloud.identity.access import unauthenticated
from ipucloud.identity.roles import PLATFORM_ROLES, Role
from ipucloud.kernel.actor import BY_CLUSTER, Origin
from ipucloud.kernel.ids import new_id

_KEY = "ipucloud.trace"
_ADDRESS = 64
_AGENT = 200
"""Characters that are recorded of an address and of a `User-Agent`."""
_WELL_FORMED = re.compile(rb"[A-Za-z0-9_-]{16,64}")


@dataclass(slots=True)
class Trace:
    """The request's id, its credential and the objects it concerns.

    `token_hash` is the hash of the token, or of a browser session's secret when `by_cookie`; None when neither was
    sent, or what cannot be one. `admitted`: it is valid and has the route's permission. `home`: the project that it is
    of. `bodiless`: it is a HEAD request. `forwarded`: the answer is that of a customer's program.
    """

    request_id: str
    token_hash: bytes | None = None
    by_cookie: bool = False
    admitted: bool = False
    home: UUID | None = None
    bodiless: bool = False
    forwarded: bool = False
    ids: dict[str, str] = field(default_factory=dict)

    def credential(self) -> bytes:
        """The token's hash. Raises `Problem` 401."""
        if self.token_hash is None:
            raise unauthenticated()
        return self.token_hash

    def admit(self, role: Role | None = None, **ids: UUID | None) -> None:
        """Note that the caller is authorised, with which role in a project, and the project or token."""
        self.admitted = True
        if role is not None and role not in PLATFORM_ROLES:
            self.home = ids["project_id"]
        self.concerns(**ids)

    def concerns(self, **ids: UUID | None) -> None:
        """Add ids of objects (`project_id`, `cluster_id`, `operation_id`, …) to the request's log line."""
        self.ids.update((name, str(value)) for name, value in ids.items() if value is not None)


def start_trace(scope: Scope) -> Trace:
    """Start a trace. The caller's `Request-Id` is kept if it is 16 to 64 letters, digits, `_` or `-`; else one is made.

    A kept id lets callers find their requests in logs and operations; it is never used as a key.
    """
    for name, value in scope["headers"]:
        if name == b"request-id" and _WELL_FORMED.fullmatch(value):
            request_id = value.decode("ascii")
            break
    else:
        request_id = str(new_id())
    trace = Trace(request_id)
    scope[_KEY] = trace
    return trace


def trace_of(request: HTTPConnection) -> Trace:
    return scope_trace(request.scope)


def scope_trace(scope: Scope) -> Trace:
    trace: Trace = scope[_KEY]
    return trace


def origin_of(request: HTTPConnection) -> Origin:
    """Where the request came from, as it is recorded: without control characters, and cut.

    The address is that of the connection, or what a trusted proxy says. With it goes what the request is about: the
    cluster in its path, which may still be a name, or clusters only, as its route declares.
    """
    address, *_ = request.scope.get("client") or ("",)
    agent = request.headers.get("user-agent", "")
    by_cluster = BY_CLUSTER if getattr(request.scope.get("route"), "by_cluster", False) else None
    about = request.path_params.get("cluster", by_cluster)
    return Origin(_recorded(address, _ADDRESS), _recorded(agent, _AGENT), about)


def _recorded(text: str, length: int) -> str:
    return "".join(each if each.isprintable() else "?" for each in text[:length])
