"""A whole system on this machine: database, simulated site, worker and API, as long as a block lasts.

Whatever of it ends meanwhile is started again, from the first moment on. Whatever becomes of this process, nothing of
it stays.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, TypeVar

import sqlalchemy as sa
from pydantic import SecretStr

from ipucloud.catalogue.load import load
from ipucloud.catalogue.queries import Catalogue
from ipucloud.cli.service.bootstrapping import PROJECT, bootstrap_keeping
from ipucloud.cli.service.connections import (
    CONNECTIONS,
    NOT_WRITTEN,
    SITE_SECRETS,
    database_of,
    revealed,
    sites_of,
)
from ipucloud.cli.service.failures import CommandError
from ipucloud.cli.service.simulated_site import SimulatedSite, SimulatorError
from ipucloud.client.profiles import DEFAULT, Profile
from ipucloud.config import Settings
from ipucloud.db.migrate import upgrade
from ipucloud.db.outages import is_unreachable
from ipucloud.identity.roles import Role
from ipucloud.inventory.sync import sync
from ipucloud.kernel.errors import UNAVAILABLE, Problem
from ipucloud.laboratory.keeper.keeper import Keeper, Kept, Say, keeping
from ipucloud.laboratory.keeper.readiness import ReadyFile
from ipucloud.laboratory.postgres import EmbeddedPostgres
from ipucloud.laboratory.postgres.locks import LockTakenError, take_lock
from ipucloud.laboratory.sample.make import Sample, sample_of
from ipucloud.laboratory.up import programs
from ipucloud.laboratory.up.ports import listen_kept, listen_near
from ipucloud.laboratory.up.programs import AS_USUAL, LOOPBACK, Published, SiteChoices
from ipucloud.laboratory.up.sampling import PROFILE, add_sample, refuse_others
from ipucloud.laboratory.up.terminal import write_terminal_files
from ipucloud.process.secret_files import kept_secret, write_secret
from ipucloud.site.ports import SiteBusy, SiteError, SiteUnknown

LOCK, POSTGRES, POSTGRES_READY = "lock", "postgres", "postgres-ready"
"""Where in the data directory it is noted who uses it, and where the database is."""

SITE, SITE_READY, SITE_TOKEN = "site", "site-ready.json", "site-token"
"""Where in the data directory the simulated site is, and how it is reached."""

VIPU_KEY = "vipu-access-key"
"""Where in the data directory the control plane's key to the simulated site's V-IPU controllers is."""

PORT = "port"
"""Where in the data directory the API's port is noted."""

SECRETS_KEY = "secrets-key"
"""Where in the data directory the key is that seals customers' secrets, unless the settings have one."""

SIMULATED_SITE = {
    "site_poll_interval": 0.2,
    "site_call_timeout": 2.0,
    "request_life": 3.0,
    "observation_interval": 1.0,
    "validation": frozenset({"repair"}),
}
"""What suits a site on this machine, where an answer takes milliseconds; settings that were given go first.

Its machines are validated after repairs only: they can be used at once, also after a cluster was deleted.
"""

FILES = ("site_token_file", "vipu_access_key_file", "vipu_client_certificate", "vipu_client_key")
REACHED_BY = (
    "database_url",
    *SITE_SECRETS,
    "site_url",
    "reached_at",
    "vipu_user",
    "vipu_plaintext",
    *FILES,
    *SIMULATED_SITE,
)
"""The settings with which another process finds the database and the site of a system that runs."""

PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds between the tries of a step of the start, during which a program that it needs may be ended."""

Result = TypeVar("Result")
Part: TypeAlias = tuple[Kept, Callable[[Settings], Awaitable[Settings]]]
"""A program of the system's own, and what waits for it and gives the settings with which others find it."""


class DataDirectoryTakenError(CommandError):
    """Another process runs a system from this data directory."""


@dataclass(frozen=True)
class System:
    """A system that runs. `token` is an owner's of project `project`, `admin_token` an administrator's.

    `env` is a file for a shell: with it, commands find the system. `sample` is what `--sample` once made.
    """

    url: str
    token: str = field(repr=False)
    admin_token: str = field(repr=False)
    project: str
    logs: Path
    env: Path
    sample: Sample | None = None


def migrate_given_database(settings: Settings, say: Say) -> None:
    """Bring the database that the settings name, if they name one, to the newest schema. Raises what it raises."""
    if settings.database_url is not None:
        _migrate(revealed(settings.migration_database_url or settings.database_url), say)


def _migrate(owner_url: str, say: Say) -> None:
    if adopted := upgrade(owner_url):
        say(adopted)


@asynccontextmanager
async def running(
    settings: Settings, *, time_scale: float, say: Say, sample: bool = False, site: SiteChoices = AS_USUAL
) -> AsyncIterator[System]:
    """A whole system; entered when the API answers, on the port that it had at its first start (`listen_kept`).

    `say` hears of each part that has started. A database that the settings name has to have the newest schema. The
    block is cancelled when something cannot be kept running. Raises ChildError then, CatalogueError,
    DataDirectoryTakenError, EmbeddedPostgresError, PortError, SiteError, Problem, and what a migration raises;
    SampleError if the `sample` is wanted and cannot be made. `site`: how its own simulated site is run.
    """
    if sample:
        refuse_others(settings)
    logs, catalogue = settings.data_dir / "logs", load(settings.catalogue)
    if settings.database_url is None:
        _embedded(settings).check()  # a refusal now, not by a program that is started again and again
    with _sole_user(settings.data_dir), ExitStack() as sockets:
        if settings.secrets_key is None:
            key = kept_secret(settings.data_dir / SECRETS_KEY)
            settings = settings.model_copy(update={"secrets_key": SecretStr(key)})
        public = sockets.enter_context(_public(settings, say))
        say(f"Starting; data and logs are in {settings.data_dir}.")
        async with keeping(say) as keeper:
            original = settings
            settings, needed = await _foundations(keeper, original, time_scale, say, site)
            if sample:
                await add_sample(_embedded(settings), settings, catalogue, logs=logs, say=say)
            sockets.enter_context(reachable(original, settings))
            tokens = await _through_restarts(needed, lambda: _prepare(settings, catalogue))
            say("Hardware, prices, quotas and tokens are registered.")
            internal, workers = (
                sockets.enter_context(listen_near(settings.internal_host, port))
                for port in (settings.internal_port, settings.worker_internal_port)
            )
            services = [
                keeper.keep(programs.worker(settings, logs, workers)),
                keeper.keep(programs.api(settings, logs, internal, public)),
            ]
            for service in services:
                await service.ready()
                say(f"{service.name} is running.")
            url, existing_sample = programs.url_of(public), await _sample(settings)
            profiles = {role.value: Profile(url, token, PROJECT, role.value) for role, token in tokens.items()}
            profiles[DEFAULT] = profiles.pop(Role.OWNER)
            if existing_sample is not None:
                profiles[PROFILE] = Profile(url, existing_sample.token, existing_sample.project, Role.BILLING)
            env = write_terminal_files(settings.data_dir, profiles, say)
            yield System(url, tokens[Role.OWNER], tokens[Role.ADMIN], PROJECT, logs, env, existing_sample)


def _public(settings: Settings, say: Say) -> socket.socket:
    """The API's listener; a port that the settings were given goes first."""
    port = settings.port if "port" in settings.model_fields_set else None
    return listen_kept(settings.host, port, settings.port, settings.data_dir / PORT, say)


@contextmanager
def _sole_user(data_dir: Path) -> Iterator[None]:
    data_dir.mkdir(parents=True, exist_ok=True)
    try:
        lock = take_lock(data_dir / LOCK)
    except LockTakenError as error:
        raise DataDirectoryTakenError(
            f"A system runs from {data_dir} already, started by process {error.holder}. Stop that one first, or choose "
            "another directory with IPUCLOUD_DATA_DIR."
        ) from None
    try:
        yield
    finally:
        os.close(lock)


@contextmanager
def reachable(original: Settings, settings: Settings) -> Iterator[None]:
    """While the block lasts, commands for operators find the system by its data directory.

    What `original` has set is written down too, so that a site of one's own is found, but no secret of it: of the
    site's only the names, and of another database nothing.
    """
    path = settings.data_dir / CONNECTIONS
    own = {name for name in REACHED_BY if getattr(settings, name) != getattr(original, name)}
    open_ = {name for name in original.model_fields_set.intersection(REACHED_BY) if not _is_secret(original, name)}
    written: dict[str, object] = {name: _plain(name, getattr(settings, name)) for name in sorted(own | open_)}
    withheld = sorted(name for name in SITE_SECRETS if name not in own and getattr(original, name) is not None)
    write_secret(path, json.dumps(written | {NOT_WRITTEN: withheld}))
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _is_secret(settings: Settings, name: str) -> bool:
    return isinstance(getattr(settings, name), SecretStr)


def _plain(name: str, value: object) -> object:
    if name in FILES and value is not None:
        return str(Path(str(value)).absolute())  # the reader may be in another directory
    if isinstance(value, frozenset):
        return ",".join(sorted(value))
    return value.get_secret_value() if isinstance(value, SecretStr) else value


async def _foundations(
    keeper: Keeper, settings: Settings, time_scale: float, say: Say, site: SiteChoices
) -> tuple[Settings, list[Kept]]:
    """The settings with a migrated database and a site, and what of it is kept here."""
    parts, logs = [], settings.data_dir / "logs"
    if settings.database_url is None:
        parts.append(_own_database(keeper, settings, logs, say))
    if settings.site_url is None:
        parts.append(_own_site(keeper, settings, time_scale, logs, say, choices=site))
    for program, join in parts:
        await program.ready()
        say(f"{program.name} is running.")
        settings = await join(settings)
    return settings, [kept for kept, _ in parts]


def _own_database(keeper: Keeper, settings: Settings, logs: Path, say: Say) -> Part:
    root, ready = settings.data_dir / POSTGRES, ReadyFile(settings.data_dir / POSTGRES_READY)
    kept = keeper.keep(programs.postgres(root, settings.pg_bindir, ready, logs))

    async def join(settings: Settings) -> Settings:
        server = _embedded(settings)
        await _through_restarts([kept], lambda: asyncio.to_thread(_migrate, server.owner_url(), say))
        say("The database's schema is up to date.")
        return _on(server, settings)

    return kept, join


def _own_site(
    keeper: Keeper, settings: Settings, time_scale: float, logs: Path, say: Say, *, choices: SiteChoices
) -> Part:
    token, ready = kept_secret(settings.data_dir / SITE_TOKEN), ReadyFile(settings.data_dir / SITE_READY)
    credentials = {
        "IPUCLOUD_SITE_TOKEN": token,
        "IPUCLOUD_VIPU_USER": settings.vipu_user,
        "IPUCLOUD_VIPU_ACCESS_KEY": kept_secret(settings.data_dir / VIPU_KEY),
    }
    folder = settings.data_dir / SITE
    kept = keeper.keep(programs.simulated_site(folder, time_scale, credentials, ready, logs, choices=choices))

    async def join(settings: Settings) -> Settings:
        await kept.ready()
        for sentence in await asyncio.to_thread(_confinement, json.loads(ready.text)["url"], token):
            say(sentence)
        return _at_simulated_site(settings, ready.text, token, choices.published)

    return kept, join


def _confinement(url: str, token: str) -> Sequence[str]:
    """What is to be said of the wall around the programs of servers; nothing of the best one."""
    site = SimulatedSite(url, token)
    try:
        confinement = site.confinement()
    except SimulatorError:  # it is asked again by whoever logs in
        return ()
    finally:
        site.close()
    if confinement.problem is not None:
        return (f"Logins and jobs will be refused: {confinement.problem}.",)
    return {
        "landlock": ("Programs of servers are confined by Landlock; `ipucloud sim show` says what that leaves open.",),
        "none": ("This machine cannot confine the programs of servers: they run WITHOUT A WALL, as your own would.",),
    }.get(confinement.wall or "", ())


async def _through_restarts(needed: list[Kept], step: Callable[[], Awaitable[Result]]) -> Result:
    """What the step gives; it is repeated when it fails as it does when a program it needs is ended under it."""
    pauses = iter(PAUSES if needed else ())
    while True:
        for program in needed:
            await program.ready()
        try:
            return await step()
        except (Problem, SiteError, sa.exc.DBAPIError) as error:
            pause = next(pauses, None)
            if pause is None or not _may_pass(error):
                raise
        await asyncio.sleep(pause)


def _may_pass(error: Problem | SiteError | sa.exc.DBAPIError) -> bool:
    if isinstance(error, sa.exc.DBAPIError):
        return is_unreachable(error)
    return error.kind is UNAVAILABLE if isinstance(error, Problem) else isinstance(error, SiteBusy | SiteUnknown)


def _embedded(settings: Settings) -> EmbeddedPostgres:
    return EmbeddedPostgres(settings.data_dir / POSTGRES, bindir=settings.pg_bindir)


def _on(server: EmbeddedPostgres, settings: Settings) -> Settings:
    return settings.model_copy(update={"database_url": SecretStr(server.app_url())})


def _at_simulated_site(settings: Settings, ready_line: str, token: str, published: Published | None) -> Settings:
    url = json.loads(ready_line)["url"]
    if published is not None:  # what it announces is for those outside
        url = url.replace(published.address, LOOPBACK, 1)
        settings = settings.model_copy(update={"reached_at": f"{published.address}={LOOPBACK}"})
    defaults = {name: value for name, value in SIMULATED_SITE.items() if name not in settings.model_fields_set}
    key = SecretStr(kept_secret(settings.data_dir / VIPU_KEY))
    client = programs.client_certificates(settings.data_dir / SITE)
    at = {
        "site_url": url,
        "site_token": SecretStr(token),
        "site_token_file": None,
        "vipu_access_key": key,
        "vipu_access_key_file": None,
        "vipu_client_certificate": client,
        "vipu_client_key": None,
    }
    return settings.model_copy(update=at | defaults)


async def _sample(settings: Settings) -> Sample | None:
    async with database_of(settings) as database:
        return await sample_of(database, settings)


async def _prepare(settings: Settings, catalogue: Catalogue) -> dict[Role, str]:
    """Register the site's hardware; answer the tokens kept in the data directory, or new ones if they are not known."""
    async with database_of(settings) as database, sites_of(settings) as sites:
        await sync(database, sites, validated="intake" in settings.validation)
        return await bootstrap_keeping(database, catalogue, settings.data_dir, env=settings.environment)
