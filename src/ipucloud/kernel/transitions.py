"""State machines as data: one table for decisions, checks and diagrams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

State = TypeVar("State", bound=StrEnum)


class IllegalTransition(Exception):
    """A transition that the table does not have: a defect of ours, never a response to a customer."""


@dataclass(frozen=True)
class TransitionTable(Generic[State]):
    """`moves[a]` is the set of states that may follow `a`; a state without moves is terminal."""

    name: str
    initial: State
    moves: Mapping[State, frozenset[State]]

    def allows(self, before: State, after: State) -> bool:
        return after in self.moves.get(before, frozenset())

    def require(self, before: State, after: State) -> State:
        """`after`, or IllegalTransition."""
        if not self.allows(before, after):
            raise IllegalTransition(f"{self.name}: {before} → {after} is not in the transition table")
        return after

    def terminal(self) -> frozenset[State]:
        return frozenset(state for state, after in self.moves.items() if not after)

    def mermaid(self) -> str:
        """The table as a Mermaid state diagram, for the documentation."""
        lines = ["stateDiagram-v2", f"    [*] --> {self.initial}"]
        for before, after in self.moves.items():
            lines += [f"    {before} --> {state}" for state in sorted(after)]
        lines += [f"    {state} --> [*]" for state in sorted(self.terminal())]
        return "\n".join(lines) + "\n"
