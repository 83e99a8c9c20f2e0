"""Logins to Poplar servers by SSH with a key made for one login, which a worker has the site let in for a minute."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import structlog

from ipucloud.db.engine import Database
from ipucloud.programs.terminals import store
from ipucloud.programs.terminals.store import Terminal

if TYPE_CHECKING:
    import asyncssh

log = structlog.get_logger(__name__)

KEY_POLL_SECONDS = 0.1
LOGIN_SECONDS = 45.0
"""For the key to be let in and the login."""
KEEPALIVE_SECONDS = 15.0

Reached = Callable[[str], str]
"""Where this process reaches an address that the site announces: `Settings.reached`."""


class LoginFailed(Exception):
    """No login: the server did not let it in, does not answer, or shows another host key than the observed one."""

    def __init__(self, why: Literal["not_let_in", "silent", "stranger"]) -> None:
        super().__init__(why)
        self.why = why


def new_key() -> asyncssh.SSHKey:
    """For one login; it stays in the memory of this process."""
    import asyncssh

    return asyncssh.generate_private_key("ssh-ed25519")


def public_text(key: asyncssh.SSHKey) -> str:
    return key.export_public_key().decode().strip()


async def log_in(
    database: Database, there: Terminal, key: asyncssh.SSHKey, reached: Reached
) -> asyncssh.SSHClientConnection:
    """Wait until the recorded key is let in, and log in with it. Raises LoginFailed."""
    try:
        async with asyncio.timeout(LOGIN_SECONDS):
            await _key_is_let_in(database, there)
            return await _connect(there, key, reached(there.host))
    except TimeoutError as error:
        raise LoginFailed("silent") from error


async def _key_is_let_in(database: Database, there: Terminal) -> None:
    while True:
        async with database.read() as reading:
            present = await store.key_is_seen(reading, there.id)
        if present is None:
            raise LoginFailed("not_let_in")
        if present:
            return
        await asyncio.sleep(KEY_POLL_SECONDS)


async def _connect(there: Terminal, key: asyncssh.SSHKey, host: str) -> asyncssh.SSHClientConnection:
    import asyncssh

    try:
        return await asyncssh.connect(
            host,
            there.port,
            username=there.user,
            client_keys=[key],
            known_hosts=([asyncssh.import_public_key(there.host_key)], [], []),
            preferred_auth="publickey",
            agent_path=None,
            config=None,
            compression_algs=None,
            keepalive_interval=KEEPALIVE_SECONDS,
        )
    except asyncssh.HostKeyNotVerifiable as error:
        log.warning("terminal_host_key", poplar_server=there.server)
        raise LoginFailed("stranger") from error
    except asyncssh.PermissionDenied as error:
        raise LoginFailed("not_let_in") from error
    except (OSError, asyncssh.Error) as error:
        raise LoginFailed("silent") from error
