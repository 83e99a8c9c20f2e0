"""Writes docs/ai-cloud-validation.md: which test shows which row of a public acceptance list.

A test names its rows: `@pytest.mark.acceptance("BFX01-02")`. Run this from anywhere after a change of such a mark:
python docs/generate_acceptance.py
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parent
PAGE = DOCS / "ai-cloud-validation.md"
TESTS = DOCS.parent / "tests"

INTRODUCTION = """<!-- Written by docs/generate_acceptance.py; do not edit. -->

# NVIDIA's ai-cloud-validation

For operators who compare clouds: rows of [NVIDIA/ai-cloud-validation](https://github.com/NVIDIA/ai-cloud-validation)
(read at `1207cb7`, v0.11.0), a public list of what a cloud for accelerators has to show, with *GPU* read as *IPU*, and
the tests of this product that show them. `./dev test --all -m acceptance` runs them all. NVIDIA's suite was not run.

| id | requirement | shown by |
|---|---|---|
"""
NOT_SHOWN = """
## Rows that nothing shows

| id | requirement | why |
|---|---|---|
"""


@dataclass(frozen=True)
class Row:
    """A row of the list; `missing`: why no test shows it."""

    requirement: str
    missing: str | None = None


_SITE = "the site's own: no protocol of the control plane carries it"
ROWS: Mapping[str, Row] = {
    "BFX01-01": Row("accelerators are reset"),
    "BFX01-02": Row("a node is given to maintenance"),
    "BFX01-03": Row("a rack is given to maintenance"),
    "BFX01-04": Row("a node is cordoned: it takes nothing new, and what runs goes on"),
    "BFX01-05": Row("a bad node is replaced"),
    "BFX02-01": Row("the history of maintenance can be queried"),
    "BFX02-02": Row("the history of retirements can be queried"),
    "BFX02-03": Row("the history of repairs can be queried"),
    "BFX03-01": Row("the serial numbers of a node's parts are known"),
    "BFX03-02": Row("the firmware of switches is known", _SITE),
    "BFX03-03": Row("the BMC's log is available"),
    "BFX04-01": Row("whatever watches health is seen to run"),
    "BFX05-01": Row("tenants are told of planned work"),
    "BFX06-01": Row("tenants are told of failures"),
    "CAP01-01": Row("delivered, healthy, reserved and active capacity is counted"),
    "CAP02-01": Row("each node has a record with its id, state, health and holder"),
    "CAP03-01": Row("new capacity is found in an index with stable ids"),
    "CAP04-01": Row("capacity can be reserved for an account"),
    "CAP04-02": Row("a block is given whole, and to one tenant"),
    "CAP05-01": Row("each node has live health"),
    "CAP05-02": Row("health is summed up by group"),
    "HWING01-01": Row("the hardware found is the hardware expected"),
    "HWING02-01": Row("a device can be removed"),
    "NET02-02": Row("a node has the id of its link domain"),
    "RESDB01-01": Row("what is expected is there, and healthy"),
    "SEC04-01": Row("a token does what it may, for one user and for one resource, and nothing else"),
    "SEC04-02": Row("the least role is refused elsewhere"),
    "SEC21-01": Row("a deleted instance is gone"),
    "SEC21-02": Row("disks are cleaned between tenants"),
    "SEC21-04": Row("a host's memory is cleaned between tenants", "its server is removed; memory is not observed"),
    "SEC21-05": Row("memory of accelerators is cleaned between tenants"),
    "SEC21-06": Row("TPM and BIOS are reset between tenants", _SITE),
    "STG02-01": Row("a repair that wipes nothing keeps the tenant"),
    "STG04-01": Row("failures are seen out of band, by the BMC"),
    "STG05-01": Row("a node has a failure domain"),
}


def shown() -> dict[str, list[str]]:
    """The tests that carry each id, as `path::name`. Raises LookupError when a test carries an id without a row."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text()
        if "mark.acceptance(" not in text:
            continue
        for test, row in _marked(ast.parse(text)):
            if row not in ROWS:
                raise LookupError(f"{path.name}::{test} carries {row}, which docs/generate_acceptance.py does not have")
            found.setdefault(row, []).append(f"{path.relative_to(DOCS.parent)}::{test}")
    return found


def _marked(module: ast.Module) -> Iterator[tuple[str, str]]:
    for node in module.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.acceptance":
                yield from ((node.name, str(ast.literal_eval(each))) for each in decorator.args)


def page() -> str:
    """The text of the page. Raises LookupError when a row has neither a test nor a reason."""
    tests = shown()
    lines = [INTRODUCTION]
    for row, names in sorted(tests.items()):
        linked = ", ".join(f"[`{name.split('::')[1]}`](../{name.split('::')[0]})" for name in names)
        lines.append(f"| {row} | {ROWS[row].requirement} | {linked} |\n")
    lines.append(NOT_SHOWN)
    for row in sorted(set(ROWS) - set(tests)):
        if ROWS[row].missing is None:
            raise LookupError(f"no test carries {row}")
        lines.append(f"| {row} | {ROWS[row].requirement} | {ROWS[row].missing} |\n")
    return "".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page())
