"""Every table belongs to the package whose `tables` module defines it, and only that package writes it.

Others may read it, in the direction of the imports; or they use what the owner offers: a `db.documents.Fragment`, a
view, a function of the database. The rules of `invariants` are the exception by design: what an audit repairs is
another package's.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import sqlalchemy as sa
import sqlglot
from sqlglot import exp

import ipucloud
from ipucloud.db.documents import Fragment
from tests.support.own_process import own_process
from tests.support.statements import statements

REPAIRS = "invariants"
EXTRAS = "extras"
FILLED = {"bill_proofs", "found_reversals", "month_proofs", "payment_charges", "payment_methods"}
"""Tables of the one schema that only optional parts write, whether these are there or not."""
_MADE = re.compile(
    r"CREATE (VIEW|FUNCTION) (?P<name>\w+)( WITH \(security_invoker = true\))?"
    r"( AS\s(?P<view>.*)|\(.*LANGUAGE sql\b[^$]*AS \$\$(?P<body>.*)\$\$)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Offered:
    """A view or function of the database, of the package whose `tables` module makes it."""

    package: str
    name: str
    sql: str


@cache
def modules() -> Mapping[str, list[object]]:
    """What the modules of each package hold."""
    values_by_package: dict[str, list[object]] = {}
    for module in pkgutil.walk_packages(ipucloud.__path__, "ipucloud."):
        package = module.name.split(".")[1]
        values_by_package.setdefault(package, []).extend(vars(importlib.import_module(module.name)).values())
    return values_by_package


@cache
def fragments() -> Mapping[str, set[Fragment]]:
    """What each package offers of its tables, to be put into statements of others."""
    return {
        package: {value for value in values if isinstance(value, Fragment)} for package, values in modules().items()
    }


@cache
def owners() -> Mapping[str, str]:
    """Packages by table."""
    owner_of: dict[str, str] = {}
    for module in pkgutil.walk_packages(ipucloud.__path__, "ipucloud."):
        if module.name.endswith("tables"):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, sa.Table):
                    owner_of.setdefault(value.name, module.name.split(".")[1])
    return owner_of


@cache
def ranks() -> Mapping[str, int]:
    """How high each package stands in the layers of the import contract; the laboratory stands on all of them."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    [layers] = [each["layers"] for each in project["tool"]["importlinter"]["contracts"] if each["id"] == "layers"]
    in_layers = {name.strip(): -number for number, layer in enumerate(layers) for name in layer.split("|")}
    return in_layers | {"laboratory": 1}


def crossings(package: str, sql: str, text: str) -> Iterator[str]:
    """Where a statement of a package leaves it. `text` is the statement as it is written."""
    if all(owners().get(word, package) == package for word in re.findall(r"\w+", sql)):
        return  # parsing takes a hundred times longer
    for table, written in sorted(touched(sql)):
        owner = owners().get(table)
        if owner is None or owner == package or not in_own_words(text, owner, table):
            continue
        if written and package != REPAIRS and not (package == EXTRAS and table in FILLED):
            yield f"{package} writes {table}"
        if not written and ranks()[owner] >= ranks()[package]:
            yield f"{package} reads {table}"


def touched(sql: str) -> set[tuple[str, bool]]:
    """The names of tables in a statement, and whether it writes them."""
    tables = set()
    for tree in sqlglot.parse(sql, dialect="postgres"):
        if tree is None or isinstance(tree, exp.Command):
            continue
        named = {each.alias for each in tree.find_all(exp.CTE)}
        targets = {
            id(each.find(exp.Table)): each for each in tree.find_all(exp.Insert, exp.Update, exp.Delete, exp.Merge)
        }
        for table in tree.find_all(exp.Table):
            written = id(table) in targets
            if written or not (table.name in named or isinstance(table.parent, exp.Lock)):
                tables.add((table.name, written))
    return tables


def in_own_words(text: str, owner: str, table: str) -> bool:
    """Whether a statement names the table outside of what the owner offers."""
    for fragment in fragments()[owner]:
        text = text.replace(fragment, "")
    return re.search(rf"\b{table}\b", text) is not None


@cache
def offered() -> list[Offered]:
    """Views, and functions whose body is plain SQL; PL/pgSQL is not looked into."""
    definitions = {
        Offered(package, match["name"], match["view"] or match["body"])
        for package, values in modules().items()
        for value in values
        if isinstance(value, str) and (match := _MADE.fullmatch(value.strip()))
    }
    return sorted(definitions, key=lambda each: each.name)


def crossings_of_statements() -> list[str]:
    return [
        f"{crossing}: {statement}"
        for statement in statements()
        for crossing in crossings(statement.place.module.split(".")[1], statement.sql, statement.text)
    ]


def crossings_of_what_is_offered() -> tuple[set[str], list[str]]:
    """The names of views and functions, and theirs. Who uses one of them is not asked what is behind it."""
    crossed = [
        f"{each.name}: {crossing}" for each in offered() for crossing in crossings(each.package, each.sql, each.sql)
    ]
    return {each.name for each in offered()}, crossed


def test_packages_keep_to_their_tables() -> None:
    """In a process of its own, which imports the whole product."""
    with own_process() as call:
        crossed = call(crossings_of_statements)
        names, crossed_by_offered = call(crossings_of_what_is_offered)
    assert "\n\n".join(crossed) == ""
    assert {"cluster_lives", "payer_of", "remove_partitions"} <= names
    assert crossed_by_offered == []


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT FROM quotas q JOIN clusters USING (id) FOR UPDATE OF q", {("quotas", False), ("clusters", False)}),
        (
            "WITH a AS (INSERT INTO events (id) SELECT id FROM b) UPDATE work SET key = $1 FROM a",
            {("events", True), ("b", False), ("work", True)},
        ),
        (
            "DELETE FROM tokens t WHERE NOT EXISTS (SELECT FROM projects p WHERE p.id = t.project_id)",
            {("tokens", True), ("projects", False)},
        ),
        (
            "WITH partitions AS (UPDATE partitions SET name = $1 RETURNING id) SELECT FROM partitions",
            {("partitions", True)},
        ),
    ],
)
def test_tables_are_found_in_a_statement(sql: str, expected: set[tuple[str, bool]]) -> None:
    assert touched(sql) == expected
