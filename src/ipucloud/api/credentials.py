"""Who sends a request: the `Authorization` header, or the cookie of a browser session."""

from __future__ import annotations

from urllib.parse import urlsplit

import structlog
from starlette.requests import cookie_parser
from starlette.types import Scope

from ipucloud.db.engine import Database
from ipucloud.identity.token_store import touch
from ipucloud.identity.tokens import Kind, secret_hash, token_hash
from ipucloud.kernel.clock import Clock
from ipucloud.kernel.errors import CROSS_SITE_REQUEST, Problem

log = structlog.get_logger(__name__)


PLAIN_COOKIE = "ipucloud-session"
SECURE_COOKIE = f"__Host-{PLAIN_COOKIE}"
"""Over TLS: a browser accepts it only with `Secure`, from this very host, so that no neighbour can plant one."""
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_TLS = frozenset({"https", "wss"})
_SCHEMES = frozenset({b"bearer", b"apikey"})


def credentials(scope: Scope) -> tuple[bytes | None, bool]:
    """The hash of the token or session secret, and whether it came by cookie.

    With an `Authorization` header (`Bearer <token>`, or `APIKey <token>` as gcore clients send it) cookies do not
    count. The hash is None for no or several headers, another scheme, or text that cannot be a token or secret.
    """
    values = _headers(scope, b"authorization")
    if not values:
        return _session(scope), True
    if len(values) != 1:
        return None, False
    scheme, _, token = values[0].partition(b" ")
    if scheme.lower() not in _SCHEMES:
        return None, False
    return token_hash(token.strip(b" ").decode("latin-1")), False


def require_same_site(scope: Scope, *, browser: bool) -> None:
    """Refuse a request that another site's page may have caused; `browser`: only a browser can have sent it.

    Browsers say where a request comes from, in `Sec-Fetch-Site` where the connection is trustworthy, and in `Origin`.
    Raises `Problem` cross_site_request.
    """
    site, origin = _headers(scope, b"sec-fetch-site"), _headers(scope, b"origin")
    if site:
        allowed = site == [b"same-origin"]
    elif origin:
        allowed = len(origin) == 1 and _is_ours(origin[0].decode("latin-1"), scope)
    else:
        allowed = not browser
    if not allowed:
        raise Problem(
            CROSS_SITE_REQUEST,
            "A browser session changes things only from pages of this service, as Sec-Fetch-Site or Origin say. "
            "A program sends its token as `Authorization: Bearer <token>`.",
        )


def over_tls(scope: Scope) -> bool:
    """Whether the browser uses TLS: as the connection or a trusted proxy says, or the page that sent the request."""
    return scope["scheme"] in _TLS or _headers(scope, b"origin")[:1] == [
        b"https://" + host for host in _headers(scope, b"host")
    ]


def _session(scope: Scope) -> bytes | None:
    # Browsers send the cookie of the longest path first: one for all paths may be of a program at another port.
    sent = b";".join(_headers(scope, b"cookie")).decode("latin-1")
    cookies = cookie_parser(";".join(reversed(sent.split(";"))))  # the last of a name counts
    secret = cookies.get(SECURE_COOKIE)
    if secret is None and scope["scheme"] not in _TLS:
        secret = cookies.get(PLAIN_COOKIE)
    return None if secret is None else secret_hash(Kind.SESSION, secret)


def _is_ours(origin: str, scope: Scope) -> bool:
    parts = urlsplit(origin)
    host = [value.decode("latin-1").lower() for value in _headers(scope, b"host")]
    return [parts.netloc.lower()] == host and not (scope["scheme"] in _TLS and parts.scheme != "https")


def _headers(scope: Scope, field: bytes) -> list[bytes]:
    return [value for name, value in scope["headers"] if name == field]


FLUSH_SECONDS = 60.0
MOST = 10_000
"""Maximum number of hashes between two writes; others are noted at the token's next use."""


class UsedTokens:
    """Tokens and browser sessions used since the last write; sessions end after `idle` seconds without use."""

    def __init__(self, idle: float) -> None:
        self._idle = idle
        self._hashes: set[bytes] = set()

    def note(self, token_hash: bytes) -> None:
        if len(self._hashes) < MOST:
            self._hashes.add(token_hash)

    async def keep(self, database: Database, clock: Clock) -> None:
        """Write periodically until cancelled."""
        while True:
            await clock.sleep(FLUSH_SECONDS)
            await self.flush(database)

    async def flush(self, database: Database) -> None:
        hashes, self._hashes = sorted(self._hashes), set()
        if not hashes:
            return
        try:
            await database.transact(lambda connection: touch(connection, hashes, self._idle))
        except Problem as problem:
            log.warning("last_use_not_kept", error=problem.kind.code, tokens=len(hashes))
