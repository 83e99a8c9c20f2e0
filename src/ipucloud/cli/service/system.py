"""A whole system on this machine: database, simulated site, worker and API, as long as a block lasts.

It is entered in that order and left in the reverse one. Whatever becomes of this process, nothing of it stays.
"""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from pydantic import SecretStr

from ipucloud.catalogue.load import load
from ipucloud.cli.service.bootstrapping import PROJECT, bootstrap, knows
from ipucloud.cli.service.child import Program, Say, kept
from ipucloud.cli.service.connections import database_of, sites_of
from ipucloud.cli.service.ports import listen_near
from ipucloud.config import Settings
from ipucloud.db.embedded import EmbeddedPostgres
from ipucloud.db.embedded.secret_files import kept_secret, read_secret, write_secret
from ipucloud.db.migrate import upgrade
from ipucloud.inventory.sync import sync

PROBE_SECONDS = 2.0

POSTGRES, SITE_READY, SITE_TOKEN = "postgres", "site-ready.json", "site-token"
"""Where in the data directory the database is, and how the simulated site is reached."""

VIPU_KEY = "vipu-access-key"
"""Where in the data directory the control plane's key to the simulated site's V-IPU controllers is."""

SECRETS_KEY = "secrets-key"
"""Where in the data directory the key is that seals customers' secrets, unless the settings have one."""

SIMULATED_SITE = {"site_poll_interval": 0.2, "site_call_timeout": 2.0, "request_life": 3.0}
"""What suits a site on this machine, where an answer takes milliseconds; settings that were given go first."""


@dataclass(frozen=True)
class System:
    """A system that runs. `token` is an owner's of project `project`."""

    url: str
    token: str = field(repr=False)
    project: str
    logs: Path


@contextmanager
def migrated_database(settings: Settings) -> Iterator[Settings]:
    """The settings with a database at the newest schema: the given one, else an embedded one while the block lasts.

    Raises EmbeddedPostgresError and what a migration raises.
    """
    if settings.database_url is not None:
        owner = settings.migration_database_url or settings.database_url
        upgrade(owner.get_secret_value())
        yield settings
        return
    with EmbeddedPostgres(settings.data_dir / POSTGRES, bindir=settings.pg_bindir) as server:
        upgrade(server.owner_url())
        yield settings.model_copy(update={"database_url": SecretStr(server.app_url())})


def running_here(settings: Settings) -> Settings | None:
    """The settings with database and site of the `ipucloud up` that runs from this data directory, if one does."""
    ready_file, token = settings.data_dir / SITE_READY, read_secret(settings.data_dir / SITE_TOKEN)
    if not ready_file.exists() or token is None:
        return None
    server = EmbeddedPostgres(settings.data_dir / POSTGRES, bindir=settings.pg_bindir)
    return _at_simulated_site(settings, ready_file, token).model_copy(
        update={"database_url": SecretStr(server.app_url())}
    )


@asynccontextmanager
async def running(settings: Settings, *, time_scale: float, say: Say) -> AsyncIterator[System]:
    """Everything above the database; on other ports where the wanted ones are taken; entered when the API answers.

    Raises ChildError, PortError, SiteError, Problem, CatalogueError.
    """
    if settings.database_url is None:
        raise ValueError("a system runs on a database")
    logs = settings.data_dir / "logs"
    if settings.secrets_key is None:
        key = kept_secret(settings.data_dir / SECRETS_KEY)
        settings = settings.model_copy(update={"secrets_key": SecretStr(key)})
    async with AsyncExitStack() as stack:
        if settings.site_url is None:
            settings = await stack.enter_async_context(_simulated_site(settings, time_scale, logs, say))
        token = await _prepare(settings)
        public, internal, workers = (
            stack.enter_context(listen_near(host, port))
            for host, port in (
                (settings.host, settings.port),
                (settings.internal_host, settings.internal_port),
                (settings.internal_host, settings.worker_internal_port),
            )
        )
        services = (
            _service("worker", settings, logs, internal=workers),
            _service("api", settings, logs, public=public, internal=internal),
        )
        for started in [await stack.enter_async_context(kept(service, say)) for service in services]:
            await started.ready()
        yield System(_url(public), token, PROJECT, logs)


@asynccontextmanager
async def _simulated_site(settings: Settings, time_scale: float, logs: Path, say: Say) -> AsyncIterator[Settings]:
    folder = settings.data_dir / "site"
    ready_file = settings.data_dir / SITE_READY
    ready_file.unlink(missing_ok=True)
    token = kept_secret(settings.data_dir / SITE_TOKEN)

    async def ready() -> bool:
        return ready_file.exists()

    key = kept_secret(settings.data_dir / VIPU_KEY)
    arguments = ("--data", str(folder), "--time-scale", str(time_scale), "--ready-file", str(ready_file), "--secure")
    program = Program(
        "simulated site",
        "ipucloud.simulator.main",
        arguments,
        {"IPUCLOUD_SITE_TOKEN": token, "IPUCLOUD_VIPU_USER": settings.vipu_user, "IPUCLOUD_VIPU_ACCESS_KEY": key},
        logs / "site.log",
        ready,
    )
    async with kept(program, say) as started:
        await started.ready()
        yield _at_simulated_site(settings, ready_file, token)


def _at_simulated_site(settings: Settings, ready_file: Path, token: str) -> Settings:
    url = json.loads(ready_file.read_text())["url"]
    mine = {name: value for name, value in SIMULATED_SITE.items() if name not in settings.model_fields_set}
    key = SecretStr(kept_secret(settings.data_dir / VIPU_KEY))
    at = {"site_url": url, "site_token": SecretStr(token), "vipu_access_key": key}
    return settings.model_copy(update=at | mine)


async def _prepare(settings: Settings) -> str:
    """Register the site's hardware; answer the token kept in the data directory, or a new one if it is not known."""
    path, catalogue = settings.data_dir / "token", load(settings.catalogue)
    async with database_of(settings) as database, sites_of(settings) as sites:
        await sync(database, sites)
        token = read_secret(path)
        known = token is not None and await knows(database, token)
        made = await bootstrap(database, catalogue, env=settings.environment, another_owner=not known)
        if made.owner_token is not None:
            token = made.owner_token
            write_secret(path, token)
    return token or ""


def _url(bound: socket.socket) -> str:
    """Where a program on this machine reaches a listener."""
    host, port, *_ = bound.getsockname()
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 (only compared)
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"


def _service(
    name: str, settings: Settings, logs: Path, *, internal: socket.socket, public: socket.socket | None = None
) -> Program:
    """A program of this package that answers on the sockets; they stay open while it is started again."""
    handed = {"internal_listen_fd": internal.fileno(), "listen_fd": None if public is None else public.fileno()}
    url = _url(public or internal)

    async def ready() -> bool:
        return await _answers(f"{url}/livez")

    return Program(
        name,
        "ipucloud.cli.main",
        (name,),
        environment(settings.model_copy(update=handed)),
        logs / f"{name}.log",
        ready,
        tuple(descriptor for descriptor in handed.values() if descriptor is not None),
    )


async def _answers(url: str) -> bool:
    async with httpx.AsyncClient(trust_env=False, timeout=PROBE_SECONDS) as client:
        try:
            return (await client.get(url)).is_success
        except httpx.HTTPError:
            return False


def environment(settings: Settings) -> Mapping[str, str]:
    """The settings as variables that make another process have them."""
    values = {}
    for name in Settings.model_fields:
        value = getattr(settings, name)
        if value is not None:
            values[f"IPUCLOUD_{name.upper()}"] = (
                value.get_secret_value() if isinstance(value, SecretStr) else str(value)
            )
    return values
