"""A rule: a sentence that always holds, the query that finds violations, and the possible repair."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, TypeAlias
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.site.ports import Site

LISTED = 1000
"""Most violations of one rule that an audit lists."""


class Violation(NamedTuple):
    """An object that breaks a rule. `region` and `host` locate objects at a site.

    `recorded`: the database shows that the object is ours, although it is no project's.
    """

    object_id: str
    project_id: UUID | None
    detail: str
    region: str | None = None
    host: str | None = None
    recorded: bool = False


class Refused(Exception):
    """A repair must not or need not proceed; the message is a sentence for the operator."""


@dataclass(frozen=True, slots=True)
class RepairDone:
    """A completed repair. `operation_id`: the operation in which a worker does the rest.

    `did` completes "The audit …" where the repair did more than it says of itself.
    """

    operation_id: UUID | None = None
    did: str | None = None


@dataclass(frozen=True)
class DatabaseRepair:
    """A repair inside the database: one transaction, which checks again before it changes anything.

    `does` completes "The audit …". `run` raises `Refused` when there is nothing left to repair.
    """

    does: str
    run: Callable[[AsyncConnection, Violation], Awaitable[RepairDone]]


@dataclass(frozen=True)
class SiteRemoval:
    """A repair that removes an object at a site. It needs two observations, `request_life` apart.

    `run` requests the removal once and returns whether the object is gone. It can be repeated.
    """

    does: str
    run: Callable[[Site, Violation], Awaitable[bool]]


@dataclass(frozen=True)
class Decision(DatabaseRepair):
    """A repair of the objects that a person names with `--decide`, and of no others, for `reason`."""

    reason: str

    def command(self, rule: str, object_id: str) -> str:
        """What carries it out for this object."""
        return f"ipucloud admin audit --repair --apply --decide {shlex.quote(f'{rule}:{object_id}')}"


@dataclass(frozen=True)
class Adjustment(Decision):
    """A decision for which a person gives a reason too; `preview` says what it would post."""

    preview: Callable[[Statements, Violation], Awaitable[Sequence[str]]]
    adjust: Callable[[AsyncConnection, Violation, str], Awaitable[RepairDone]]

    def command(self, rule: str, object_id: str) -> str:
        return f"{super().command(rule, object_id)} --reason REASON"


@dataclass(frozen=True, slots=True)
class Refusal:
    """No repair: the reason why a person must decide."""

    reason: str


Repair: TypeAlias = DatabaseRepair | Decision | SiteRemoval | Refusal


@dataclass(frozen=True)
class Rule:
    """`name` is stable: a label of metrics. `remedy` tells the operator what to do about a violation."""

    name: str
    sentence: str
    object_type: str
    remedy: str
    repair: Repair


@dataclass(frozen=True)
class Invariant(Rule):
    """A rule about the database.

    `statement` returns a row for each violation: `object_id` (text), `project_id` and `detail`.
    """

    statement: str
    parameters: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    limited: Query[Violation] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        placed = "NULL AS region, NULL AS host, false AS recorded"
        text = f"SELECT *, {placed} FROM ({self.statement}) AS broken LIMIT {LISTED}"  # noqa: S608
        object.__setattr__(self, "limited", Query(text, Violation))


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation and its rule."""

    rule: Rule
    violation: Violation

    @property
    def key(self) -> tuple[str, str, str | None, str | None]:
        """Equal for the same violation found twice."""
        return self.rule.name, self.violation.object_id, self.violation.region, self.violation.host


async def violations(connection: Statements, rule: Invariant) -> list[Violation]:
    """Current violations of the rule, at most `LISTED`."""
    return await rule.limited.all(connection, dict(rule.parameters))


def by(does: str, *statements: str) -> DatabaseRepair:
    """A repair by statements with the parameters `:object_id` and `:project_id`.

    The last one changes a row if something was repaired. Those before it take the locks that it needs.
    """
    texts = [sa.text(statement) for statement in statements]

    async def run(connection: AsyncConnection, violation: Violation) -> RepairDone:
        values = {"object_id": violation.object_id, "project_id": violation.project_id}
        changed = 0
        for text in texts:
            changed = (await connection.execute(text, values)).rowcount
        if changed == 0:
            raise Refused("Nothing was left to repair.")
        return RepairDone()

    return DatabaseRepair(does, run)


def decided(does: str, reason: str, *statements: str) -> Decision:
    """As `by`, once a person has decided."""
    return Decision(does, by(does, *statements).run, reason)
