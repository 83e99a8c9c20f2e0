"""Holding the database against every rule."""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.db.engine import Database
from ipucloud.invariants.registry import INVARIANTS
from ipucloud.invariants.rules import Finding, Invariant, violations


async def audit(database: Database, rules: Sequence[Invariant] = INVARIANTS) -> list[Finding]:
    """What breaks the rules, by rule. Every rule is looked at as of its own instant.

    Raises `Problem` unavailable.
    """
    async with database.read() as connection:
        return [Finding(rule, violation) for rule in rules for violation in await violations(connection, rule)]
