"""The registry of event types has what the code emits: every state with events, and every type that stands in SQL."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from ipucloud.billing.budgets.tables import MEASURES
from ipucloud.clusters.states import CLUSTER_STATES
from ipucloud.contract.clusters import ClusterState
from ipucloud.contract.event_payloads.clusters import OverBudget
from ipucloud.contract.event_payloads.projects import WebhookStopped
from ipucloud.contract.event_types.names import PATTERNS, REGISTRY, TYPES, EventTypeName, EventTypePattern
from ipucloud.contract.operations import OperationState
from ipucloud.contract.partitions import PartitionState
from ipucloud.contract.webhooks import Disabled
from ipucloud.operations.states import TERMINAL

SOURCE = Path(__file__).parents[3] / "src" / "ipucloud"
EMITTED: dict[str, frozenset[StrEnum]] = {
    "cluster": frozenset(ClusterState) - {CLUSTER_STATES.initial},
    "operation": TERMINAL | {OperationState.CANCELLING},
    "partition": frozenset(PartitionState),
}
"""The states that SQL makes types of, by noun. A cluster's and an operation's first one has the type `created`."""
_LOG = re.compile(r"\b(?:INTO|FROM|JOIN) events\b")
_LITERAL = re.compile(r"'(?!ipucloud\.)([a-z_]+\.[a-z_]*)'")
"""Names of settings of a transaction, such as `ipucloud.actor`, have the form of a type."""


def in_sql() -> Iterator[tuple[str, str]]:
    """Module and literal, of statements that write or read the log; `cluster.` begins a derived type."""
    for path in SOURCE.rglob("*.py"):
        source = path.read_text()
        if "events" not in source and "RECORD" not in source:
            continue
        nodes = list(ast.walk(ast.parse(source)))
        texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        records = any(isinstance(node, ast.Name) and node.id == "RECORD" for node in nodes)
        if records or any(_LOG.search(text) for text in texts):
            for text in texts:
                yield from ((path.relative_to(SOURCE).as_posix(), literal) for literal in _LITERAL.findall(text))


IN_SQL = sorted(set(in_sql()))


def test_the_types_in_sql_are_found() -> None:
    assert {literal for _, literal in IN_SQL} >= {"cluster.updated", "cluster.", "operation.", "partition."}


@pytest.mark.parametrize(("module", "literal"), IN_SQL)
def test_a_type_in_sql_is_registered(module: str, literal: str) -> None:
    noun, _, rest = literal.partition(".")
    assert literal in REGISTRY if rest else noun in EMITTED


@pytest.mark.parametrize("noun", EMITTED)
def test_every_state_with_events_has_its_type(noun: str) -> None:
    of_clusters = {"created", "updated", "suspend_forced", "delete_forced", "recovered"}
    of_clusters |= {"hardware_isolated", "hardware_replaced", "repair_scheduled", "repair_started", "repair_ended"}
    of_clusters |= {"repair_waiting", "expiring", "idle_suspended", "resized", "servers_rebuilt"}
    of_clusters |= {"preempted", "preemption_scheduled", "preemption_withdrawn"}
    of_clusters |= {"schedule_started", "schedule_waiting", "schedule_missed"}
    others = {"cluster": of_clusters, "operation": {"created"}}.get(noun, set())
    names = {name.partition(".")[2] for name in REGISTRY if name.startswith(f"{noun}.")}
    assert names - others == {state.value for state in EMITTED[noun]}


def test_a_type_is_explained_in_a_sentence_and_so_are_its_data() -> None:
    for name, kind in REGISTRY.items():
        assert name == kind.name
        assert kind.meaning.endswith(".")
        if kind.payload is not None:
            shapes = kind.payload.model_json_schema()
            for shape in [shapes, *shapes.get("$defs", {}).values()]:
                assert all(member.get("description") for member in shape.get("properties", {}).values()), name


def test_words_of_payloads_are_those_of_the_code() -> None:
    assert set(get_args(WebhookStopped.model_fields["reason"].annotation)) == {reason.value for reason in Disabled}
    assert set(get_args(OverBudget.model_fields["on"].annotation)) == set(MEASURES)


def test_a_pattern_that_matches_a_type_is_taken() -> None:
    patterns = TypeAdapter(list[EventTypePattern])
    assert patterns.validate_python(PATTERNS) == list(PATTERNS)


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ("cluster.actve", "`cluster.active`"),
        ("operation.suceeded", "`operation.succeeded`"),
        ("clusters.*", "`cluster.*`"),
    ],
)
def test_a_misspelt_pattern_is_refused_with_the_nearest(sent: str, meant: str) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(EventTypePattern).validate_python(sent)
    [error] = refused.value.errors()
    assert error["type"] == "unknown_event_type"
    assert f"`{sent}`" in error["msg"]
    assert meant in error["msg"]


@pytest.mark.parametrize(
    "sent", ["", "*", "*.*", "cluster", "cluster.", "cluster.*.*", "webhook.ping", "zzz.qqq", "Cluster.active"]
)
def test_what_is_no_pattern_is_refused(sent: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(EventTypePattern).validate_python(sent)


def test_a_filter_takes_types_and_no_patterns() -> None:
    names = TypeAdapter(EventTypeName)
    assert [names.validate_python(name) for name in TYPES] == TYPES
    with pytest.raises(ValidationError):
        names.validate_python("cluster.*")
