"""Writes docs/states/*.md from the tables that the code itself obeys.

Run it from anywhere, in the project's environment: python docs/generate_states.py
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ipucloud.clusters.plans import CLEAN_UP_PLAN, CREATE_PLAN, RESUME_PLAN, SUSPEND_PLAN
from ipucloud.clusters.states import CLUSTER_STATES
from ipucloud.kernel.transitions import State, TransitionTable
from ipucloud.operations.plan import PlannedStep
from ipucloud.operations.states import OPERATION_STATES

DIRECTORY = Path(__file__).with_name("states")
NOTICE = "<!-- Written by docs/generate_states.py; do not edit. -->"


def pages() -> dict[str, str]:
    """The text of every page by file name."""
    return {
        "cluster.md": _states(CLUSTER_STATES, "src/ipucloud/clusters/states.py"),
        "operation.md": _states(OPERATION_STATES, "src/ipucloud/operations/states.py"),
        "steps.md": _plans(),
    }


def _states(table: TransitionTable[State], source: str) -> str:
    rows = ((f"`{before}`", _listed(after) or "nothing: it is final") for before, after in table.moves.items())
    return "\n".join(
        [
            NOTICE,
            "",
            f"# States of {'an' if table.name[0] in 'aeiou' else 'a'} {table.name}",
            "",
            f"The table is `{source}`. It begins as `{table.initial}`.",
            "",
            "```mermaid",
            table.mermaid() + "```",
            "",
            *_table("state", "may be followed by", rows),
            "",
        ]
    )


def _plans() -> str:
    parts = [
        NOTICE,
        "",
        "# Steps of the operations on a cluster",
        "",
        "The plans are `src/ipucloud/clusters/plans.py`. The heal of a cluster in use takes those steps of its create",
        "that bring back what is missing.",
    ]
    for title, plan in (
        ("Create", CREATE_PLAN),
        (
            "Delete, the undoing of a create that failed or was cancelled, and the heal of a cluster that is gone",
            CLEAN_UP_PLAN,
        ),
        ("Suspend, and the undoing of a resume that failed or was cancelled", SUSPEND_PLAN),
        ("Resume", RESUME_PLAN),
    ):
        parts += ["", f"## {title}", "", *_table("step", "stage that the customer sees", map(_row, plan))]
    return "\n".join([*parts, ""])


def _row(step: PlannedStep) -> tuple[str, str]:
    return f"`{step.name}`", str(step.stage)


def _listed(states: Iterable[str]) -> str:
    return ", ".join(f"`{state}`" for state in sorted(states))


def _table(first: str, second: str, rows: Iterable[tuple[str, str]]) -> list[str]:
    return [f"| {first} | {second} |", "|---|---|", *(f"| {left} | {right} |" for left, right in rows)]


def main() -> None:
    DIRECTORY.mkdir(exist_ok=True)
    for name, text in pages().items():
        (DIRECTORY / name).write_text(text)


if __name__ == "__main__":
    main()
