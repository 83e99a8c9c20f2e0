"""Brings the programs of a cluster on: starts them, sees what they do, reads what they write, stops them."""

from __future__ import annotations

import asyncio
import base64
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.states import BILLABLE
from ipucloud.contract.clusters import ClusterState
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.sealing import Keys, SealingError, stored_plain
from ipucloud.programs.environment import password_place, plain_environment
from ipucloud.programs.observed import Due, Lost, Refused, Result, Silent
from ipucloud.programs.output import text_of
from ipucloud.programs.store import Record, Recorded
from ipucloud.reconcile.outcomes import Done, Go, Outcome, Wait
from ipucloud.reconcile.reconciler import WorkItem, inputs_of
from ipucloud.site.ports import Hosts, SiteError, SiteRefused, Sites
from ipucloud.wire.images import JobImage
from ipucloud.wire.site import Job as Seen
from ipucloud.wire.site import JobCheck, JobRequest

log = structlog.get_logger(__name__)

POLL_SECONDS = 2.0
"""Usually between two readings of a program that runs: its output is read as often, and its limits are applied."""
WAITING_SECONDS = 15.0
"""Between two passes over a cluster that is not in use."""
_OVER = frozenset({ClusterState.ERROR, ClusterState.DELETING, ClusterState.DELETED})


@dataclass(frozen=True, slots=True)
class Current:
    """A program that has not ended, as it was recorded, its `environment` and `registry_password` encrypted.

    `starts`: the site is to be asked to start it, once sent. `due`: it is time for that. `host` None: its server has
    none at present. `removed`: nor will it have one.
    """

    id: UUID
    state: str
    attempt: int
    sent: bool
    due: bool
    starts: bool
    stopping: bool
    log_bytes: int
    command: tuple[str, ...]
    directory: str | None
    environment: dict[str, str] = field(repr=False)
    image: str | None
    registry_username: str | None
    registry_password: str | None = field(repr=False)
    check: JobCheck | None
    server: str
    removed: bool
    generation: int
    host: str | None
    kind: str

    @property
    def name(self) -> str:
        """Of this start of the program, at the site."""
        return f"{self.kind}-{self.id}-{self.attempt}"


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs of one kind of a cluster that has the `network` of this name."""

    project_id: UUID
    cluster_id: UUID
    state: ClusterState
    network: str
    currency: str
    programs: tuple[Current, ...]


class _Row(NamedTuple):
    leased: bool
    project_id: UUID | None
    cluster_id: UUID | None
    state: ClusterState | None
    network: str | None
    currency: str | None
    programs: list[dict[str, Any]]


class Loaded(Query[_Row]):
    """What a reconciler of programs loads. `rows`: a query of the programs of a cluster `c`, with their own columns.

    The others are expressions about a program `p`; `first` is the state in which it is to be started, `ends` whether it
    is to be stopped, and `check` how it is to be checked.
    """

    def __init__(
        self,
        rows: str,
        *,
        first: str,
        due: str = "true",
        environment: str = "p.environment",
        ends: str = "p.stop_requested_at IS NOT NULL",
        check: str = "NULL::jsonb",
    ) -> None:
        super().__init__(
            f"""
            SELECT w.lease_until > app_now() AS leased, c.project_id, c.id AS cluster_id, c.state,
                   c.external_name AS network, c.currency,
                   (SELECT coalesce(json_agg(json_build_object(
                             'id', p.id, 'state', p.state, 'attempt', p.attempt, 'sent', p.sent_at IS NOT NULL,
                             'due', {due}, 'starts', p.state = '{first}' AND p.stop_requested_at IS NULL,
                             'stopping', {ends}, 'log_bytes', p.log_bytes, 'command', p.command,
                             'directory', p.directory, 'environment', {environment}, 'check', {check},
                             'image', p.image, 'registry_username', p.registry_username,
                             'registry_password', p.registry_password,
                             'server', s.name, 'removed', s.state = 'deleted', 'generation', s.generation,
                             'host', h.name) ORDER BY p.id), '[]')
                      FROM ({rows}) AS p
                      JOIN poplar_servers AS s ON (s.project_id, s.id) = (p.project_id, p.server_id)
                      LEFT JOIN allocations AS held
                        ON (held.project_id, held.cluster_id, held.ordinal) = (s.project_id, s.cluster_id, s.ordinal)
                       AND held.host_id IS NOT NULL AND held.released_at IS NULL
                      LEFT JOIN hosts AS h ON h.id = held.host_id) AS programs
              FROM work AS w LEFT JOIN clusters AS c ON c.id = CAST(w.key AS uuid)
             WHERE w.kind = :kind AND w.key = :key AND w.fence = :fence
            """,  # noqa: S608  # our own text
            _Row,
        )


Program = TypeVar("Program", bound=Recorded)


class ProgramReconciler(ABC, Generic[Program]):
    """Runs the programs of one kind of one cluster; their environments are decrypted with `keys`.

    `poll_interval`: seconds between two readings of one that runs.
    """

    kind: str
    noun: ClassVar[str]
    """Begins the name of each start of a program at the site."""
    table: ClassVar[str]
    loaded: ClassVar[Loaded]
    record: ClassVar[Record]

    def __init__(self, sites: Sites, *, keys: Keys | None, poll_interval: float) -> None:
        self._sites = sites
        self._keys = keys
        self._poll_interval = poll_interval

    async def load(self, connection: Statements, item: WorkItem) -> Programs | Outcome:
        row = await inputs_of(connection, self.loaded, item)
        if not row.programs or row.cluster_id is None or row.project_id is None or row.state is None:
            return Done()
        programs = tuple(
            Current(
                **each
                | {
                    "id": UUID(each["id"]),
                    "command": tuple(each["command"]),
                    "check": None if each["check"] is None else JobCheck(**each["check"]),
                    "kind": self.noun,
                }
            )
            for each in row.programs
        )
        state = ClusterState(row.state)
        return Programs(row.project_id, row.cluster_id, state, row.network or "", row.currency or "", programs)

    async def act(self, item: WorkItem, inputs: Programs) -> Sequence[Result]:
        structlog.contextvars.bind_contextvars(project_id=str(inputs.project_id), cluster_id=str(inputs.cluster_id))
        if inputs.state not in BILLABLE:
            return [self._meanwhile(inputs, each) for each in inputs.programs]
        hosts = self._sites.at(None, item.remaining).hosts
        return await asyncio.gather(*(self._read(hosts, inputs, each) for each in inputs.programs))

    async def apply(
        self, connection: AsyncConnection, item: WorkItem, inputs: Programs, result: Sequence[Result]
    ) -> Outcome:
        live = {each.id: each for each in await self.lock(connection, inputs)}
        if inputs.state in _OVER:
            for each in live.values():
                await self.end_with_cluster(connection, each, f"its cluster is {inputs.state}")
            return Done()
        more = False
        for current, program_result in zip(inputs.programs, result, strict=True):
            program = live.get(current.id)
            if program is not None:
                more |= await self.write(connection, inputs, current, program, program_result)
        self.written()
        if more:
            return Go()
        if inputs.state in BILLABLE:
            return Wait(f"{self.kind} run", recheck=self._poll_interval)
        return Wait(f"the cluster is {inputs.state}", recheck=WAITING_SECONDS)

    async def write_observed(
        self, connection: AsyncConnection, inputs: Programs, current: Current, program: Program, observed: Seen
    ) -> bool:
        """Write what the site showed of a program. True when more can be done now."""
        size, text = text_of(base64.b64decode(observed.log), final=observed.ended is not None)
        if size:
            await self.append_log(connection, program, size, text)
        more = size > 0 and observed.log_size > current.log_bytes + size
        if observed.ended is None or more:
            program = await self.mark_running(connection, program)
            limited = observed.ended is None and await self.limited(connection, inputs, program)
            return limited or more
        if observed.ended in {"exited", "interrupted"}:
            program = await self.mark_running(connection, program)
        await self.program_ended(connection, inputs, program, observed)
        return True

    async def append_log(self, connection: AsyncConnection, program: Program, size: int, text: str) -> None:
        """The next `size` bytes of what the program wrote."""
        await self.record.append_log(connection, program, size, text)

    @abstractmethod
    def without_asking(self, current: Current) -> Result | None:
        """What is known of a program of a cluster in use before the site is asked; None: ask it."""

    @abstractmethod
    def was_on(self, current: Current) -> bool:
        """Whether a program is lost when its server was switched off."""

    @abstractmethod
    async def lock(self, connection: AsyncConnection, inputs: Programs) -> Sequence[Program]:
        """The programs of the cluster that have not ended, locked."""

    @abstractmethod
    async def write(
        self, connection: AsyncConnection, inputs: Programs, current: Current, program: Program, result: Result
    ) -> bool:
        """Write what was found of a program. True when more can be done now."""

    @abstractmethod
    def written(self) -> None:
        """Everything that was found is written, and not committed."""

    @abstractmethod
    async def mark_running(self, connection: AsyncConnection, program: Program) -> Program:
        """The program was seen to run; as it is recorded then."""

    @abstractmethod
    async def program_ended(
        self, connection: AsyncConnection, inputs: Programs, program: Program, observed: Seen
    ) -> None:
        """This start of the program has ended, and all that it wrote was read."""

    @abstractmethod
    async def end_with_cluster(self, connection: AsyncConnection, program: Program, why: str) -> None:
        """The program ends because its cluster has."""

    def refused(self, current: Current, why: str) -> Result:
        """What it means that the site refused what it was asked for a program."""
        return Refused(why)

    async def limited(self, connection: AsyncConnection, inputs: Programs, program: Program) -> bool:
        """Whether it was recorded that the program, which runs, is to be stopped because it has reached a limit."""
        return False

    def _meanwhile(self, cluster: Programs, current: Current) -> Result:
        """What is known of a program while its cluster is not in use: a server that is off runs nothing."""
        if cluster.state is ClusterState.SUSPENDED and self.was_on(current):
            return Lost()
        return Silent(f"its cluster is {cluster.state}")

    async def _read(self, hosts: Hosts, inputs: Programs, current: Current) -> Result:
        """Bring a program on, and see what it does."""
        known = self.without_asking(current)
        if known is not None:
            return known
        if current.host is None:
            return Silent("its server has no host at present")
        if not current.sent:
            return Due()
        try:
            return await self._ask(hosts, inputs, current, current.host)
        except SiteRefused as error:
            return self.refused(current, str(error))
        except SiteError as error:
            log.info("program_not_seen", program=current.name, error=str(error))
            return Silent(f"the site does not show it: {error}")

    async def _ask(self, hosts: Hosts, inputs: Programs, current: Current, host: str) -> Result:
        at = {"server": current.server, "network": inputs.network}
        if current.starts:
            of = (self.table, current.id, inputs.project_id)
            try:
                environment = plain_environment(self._keys, current.environment, *of)
                image = self._image(current, password_place(*of))
            except SealingError as error:
                log.error("program_not_decrypted", program=current.name, error=str(error))
                return Silent("this worker cannot decrypt its secrets: IPUCLOUD_SECRETS_KEY lacks their key")
            request = JobRequest(
                **at,
                generation=current.generation,
                command=list(current.command),
                directory=current.directory,
                environment=environment,
                check=current.check,
                image=image,
            )
            return await hosts.put_job(host, current.name, request)
        if current.stopping:
            await hosts.stop_job(host, current.name, **at)
        return await hosts.get_job(host, current.name, **at, log_from=current.log_bytes) or Lost()

    def _image(self, current: Current, place: str) -> JobImage | None:
        """Raises SealingError."""
        if current.image is None:
            return None
        stored = current.registry_password
        password = None if stored is None else stored_plain(self._keys, stored, place)
        return JobImage(reference=current.image, username=current.registry_username, password=password)
