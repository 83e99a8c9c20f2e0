"""docs/architecture.md names what is there: every package, step and table, and the way between them."""

from __future__ import annotations

import re
from pathlib import Path

from ipucloud.clusters.operations.create import CREATE
from ipucloud.clusters.operations.delete import TEARDOWN
from ipucloud.schema import metadata

CHECKOUT = Path(__file__).parents[3]
PAGE = (CHECKOUT / "docs" / "architecture.md").read_text()


def test_the_tree_has_a_line_for_every_part() -> None:
    block = PAGE.split("src/ipucloud/\n", 1)[1].split("tests/", 1)[0]
    documented = set(re.findall(r"^  ([a-z_]+(?:/|\.py)) ", block, re.MULTILINE))
    source = CHECKOUT / "src" / "ipucloud"
    packages = {f"{path.name}/" for path in source.iterdir() if (path / "__init__.py").exists()}
    modules = {path.name for path in source.glob("*.py")} - {"__init__.py"}
    assert documented == packages | modules


def test_the_journey_has_every_step_under_its_stage() -> None:
    journey = PAGE.split("## A create, a delete", 1)[1].split("## ", 1)[0]
    stage, documented = "", []
    for word in re.findall(r"[A-Za-z_]+", journey):
        if word in {step.stage.name for step in (*CREATE.steps, *TEARDOWN)}:
            stage = word
        elif word in {step.name for step in (*CREATE.steps, *TEARDOWN)}:
            documented.append((word, stage))
    assert documented == [(step.name, step.stage.name) for step in (*CREATE.steps, *TEARDOWN)]


def test_the_data_model_shows_tables_and_references_that_there_are() -> None:
    references = {
        (constraint.referred_table.name, table.name)
        for table in metadata.tables.values()
        for constraint in table.foreign_key_constraints
    }
    diagrams = re.findall(r"erDiagram\n(.*?)```", PAGE, re.DOTALL)
    assert len(diagrams) == 5
    for diagram in diagrams:
        edges = set(re.findall(r"(\w+) \|\|--[o|][{|] (\w+) :", diagram))
        shown = {name for edge in edges for name in edge} | set(re.findall(r"^  (\w+) \{", diagram, re.MULTILINE))
        assert len(shown) <= 15
        assert shown <= metadata.tables.keys()
        assert edges <= references


def test_the_tree_has_a_line_for_every_part_of_the_tests() -> None:
    block = PAGE.split("\ntests/ ", 1)[1].split("```", 1)[0]
    documented = set(re.findall(r"^  ([a-z0-9_]+/) ", block, re.MULTILINE))
    parts = {f"{path.name}/" for path in (CHECKOUT / "tests").iterdir() if path.is_dir() and path.name[0] not in "._"}
    assert documented == parts
