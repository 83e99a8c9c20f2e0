"""What a rule is: a sentence that always holds, the query that finds what breaks it, and what may be done then."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.statements import Statements
from ipucloud.site.ports import Site

LISTED = 1000
"""Violations of one rule that an audit lists; whoever has more needs no longer list."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One object that breaks a rule. `region` and `host` say where, for objects of a site."""

    object_id: str
    project_id: UUID | None
    detail: str
    region: str | None = None
    host: str | None = None


class Refused(Exception):
    """A repair that must not, or need not, go on; the message is a sentence for the operator."""


@dataclass(frozen=True, slots=True)
class RepairDone:
    """A repair is done. `operation_id`: the operation in which a worker does the rest."""

    operation_id: UUID | None = None


@dataclass(frozen=True)
class DatabaseRepair:
    """A repair inside the database: one transaction, which checks again before it changes anything.

    `does` completes "The audit …". `run` raises `Refused` when there is nothing left to repair.
    """

    does: str
    run: Callable[[AsyncConnection, Violation], Awaitable[RepairDone]]


@dataclass(frozen=True)
class SiteRemoval:
    """A repair that removes something at a site. It needs two observations, `request_life` apart.

    `run` asks once to remove what is still there, and answers whether it is gone. It can be repeated.
    """

    does: str
    run: Callable[[Site, Violation], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Refusal:
    """No repair: the reason why a program must not decide this."""

    reason: str


Repair: TypeAlias = DatabaseRepair | SiteRemoval | Refusal


@dataclass(frozen=True)
class Rule:
    """`name` is stable: a label of metrics. `remedy` says what a person does about a violation."""

    name: str
    sentence: str
    object_type: str
    remedy: str
    repair: Repair


@dataclass(frozen=True)
class Invariant(Rule):
    """A rule about the database.

    `statement` gives the columns `object_id` (text), `project_id` and `detail`, a row for each violation.
    """

    statement: str
    parameters: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    limited: sa.TextClause = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        limited = sa.text(f"SELECT * FROM ({self.statement}) AS broken LIMIT {LISTED}")  # noqa: S608  # our own text
        object.__setattr__(self, "limited", limited)


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation, and of which rule."""

    rule: Rule
    violation: Violation

    @property
    def key(self) -> tuple[str, str, str | None, str | None]:
        """The same for the same violation seen twice."""
        return self.rule.name, self.violation.object_id, self.violation.region, self.violation.host


async def violations(connection: Statements, rule: Invariant) -> list[Violation]:
    """What breaks the rule now, at most `LISTED` of it."""
    found = await connection.execute(rule.limited, dict(rule.parameters))
    return [Violation(row.object_id, row.project_id, row.detail) for row in found]


def by(does: str, *statements: str) -> DatabaseRepair:
    """A repair by statements with the parameters `:object_id` and `:project_id`; the last one says whether it did.

    Those before it take the locks it relies on.
    """
    texts = [sa.text(statement) for statement in statements]

    async def run(connection: AsyncConnection, violation: Violation) -> RepairDone:
        values = {"object_id": violation.object_id, "project_id": violation.project_id}
        changed = 0
        for text in texts:
            changed = (await connection.execute(text, values)).rowcount
        if changed == 0:
            raise Refused("There was nothing left to repair.")
        return RepairDone()

    return DatabaseRepair(does, run)
