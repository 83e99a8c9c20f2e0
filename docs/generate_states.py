"""Writes docs/states/*.md from the tables that the code itself obeys.

Run it from anywhere, in the project's environment: python docs/generate_states.py
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

from ipucloud.clusters.addresses.tables import ADDRESS_STATES
from ipucloud.clusters.operations.kind import ClusterKind
from ipucloud.clusters.states import BILLABLE, CLUSTER_STATES
from ipucloud.clusters.volumes.snapshots.tables import SNAPSHOT_STATES
from ipucloud.clusters.volumes.tables import VOLUME_STATES
from ipucloud.contract.clusters import ClusterState
from ipucloud.invariants.states import KINDS
from ipucloud.inventory.reservations import RESERVATION_STATES
from ipucloud.kernel.transitions import State, TransitionTable
from ipucloud.operations.kind import Billing, Kind, Repeated
from ipucloud.operations.states import OPERATION_STATES
from ipucloud.operations.step import Step
from ipucloud.programs.services.states import SERVICE_STATES

_WHEN_BILLED = {
    ClusterState.CREATING: "no; in a region that bills from the request: from when it has its machines, for at most the"
    " announced time, unless the build fails",
    ClusterState.DEGRADED: "yes, without the machines that do not work",
}
DIRECTORY = Path(__file__).with_name("states")
NOTICE = "<!-- Written by docs/generate_states.py; do not edit. -->"


def pages() -> dict[str, str]:
    """The text of every page by file name."""
    return {
        "address.md": _states(ADDRESS_STATES, "src/ipucloud/clusters/addresses/tables.py"),
        "cluster.md": _states(CLUSTER_STATES, "src/ipucloud/clusters/states.py") + _billed(),
        "operation.md": _states(OPERATION_STATES, "src/ipucloud/operations/states.py"),
        "operations.md": _operations(),
        "reservation.md": _states(RESERVATION_STATES, "src/ipucloud/inventory/reservations.py"),
        "service.md": _states(SERVICE_STATES, "src/ipucloud/programs/services/states.py"),
        "snapshot.md": _states(SNAPSHOT_STATES, "src/ipucloud/clusters/volumes/snapshots/tables.py"),
        "volume.md": _states(VOLUME_STATES, "src/ipucloud/clusters/volumes/tables.py"),
    }


def _states(table: TransitionTable[State], source: str) -> str:
    return "\n".join(
        [
            NOTICE,
            "",
            f"# States of {'an' if table.name[0] in 'aeiou' else 'a'} {table.name}",
            "",
            f"For developers and operators: which state can follow which (`{source}`).",
            "",
            "```mermaid",
            table.mermaid() + "```",
            "",
        ]
    )


def _billed() -> str:
    usual = {state: "yes" if state in BILLABLE else "no" for state in ClusterState}
    rows = [f"| `{state}` | {billed} |" for state, billed in (usual | _WHEN_BILLED).items()]
    return "\n".join(["", "## Which states are billed", "", "| state | billed |", "|---|---|", *rows, ""])


def _operations() -> str:
    parts = [
        NOTICE,
        "",
        "# Operations",
        "",
        "For developers and operators: the steps of each kind of operation, after the stage that the customer sees. A",
        "step marked * is repeated until it succeeds.",
    ]
    for kind in KINDS.values():
        parts += ["", f"## `{kind.name}`", "", _sentence(kind), "", *_steps(kind.steps)]
        if kind.preceding:
            parts += ["", "First, if the request asks for it:", "", *_steps(kind.preceding)]
        if kind.undo is not None:
            parts += _replacing(kind)
            parts += ["", "If it fails or is cancelled:", "", *_steps(kind.undo.steps)]
    return "\n".join([*parts, ""])


def _sentence(kind: Kind[Any, Any]) -> str:
    states = [str(state) for state in (kind.during, kind.success) if state is not None]
    facts = [
        f"State: `{'`, `'.join(states)}`." if states else "",
        _BILLING[kind.billing],
        "Can be cancelled." if kind.cancellable else "",
        _BESIDE if isinstance(kind, ClusterKind) and kind.beside_partitions else "",
        "A repeated request joins it." if kind.repeated is Repeated.JOINS else "",
    ]
    return " ".join(fact for fact in facts if fact)


_BESIDE = "Runs beside operations on partitions."
_BILLING = {
    Billing.STARTS: "Billing starts when it succeeds.",
    Billing.ENDS: "Billing ends when it is requested.",
    Billing.PAUSES: "Billing stops when it is requested, until it succeeds.",
    Billing.UNCHANGED: "Billing does not change.",
}


def _replacing(kind: Kind[Any, Any]) -> list[str]:
    if not kind.replacing:
        return []
    again = kind.again if isinstance(kind, ClusterKind) else ()
    before = again[: again.index(kind.replacing[-1]) + 1] if again else kind.replacing
    return ["", "Before it starts again on other hardware:", "", *_steps(before)]


def _steps(steps: Iterable[Step[Any, Any]]) -> list[str]:
    """A line for each stage."""
    return [
        f"- {stage}: {', '.join(f'`{step.name}`' + ('*' if step.endures else '') for step in of_stage)}"
        for stage, of_stage in groupby(steps, lambda step: step.stage.name)
    ]


def main() -> None:
    DIRECTORY.mkdir(exist_ok=True)
    for name, text in pages().items():
        (DIRECTORY / name).write_text(text)


if __name__ == "__main__":
    main()
