"""Every statement of the product fits the schema, whether or not a test runs its path."""

from __future__ import annotations

import psycopg
import pytest

from tests.support.postgres import Database
from tests.support.statements import calls_of_text, refusals, statements


def test_every_statement_is_found() -> None:
    """One that is made inside a function, at run time, would escape: make it when its module is imported."""
    found = {statement.written for statement in statements()}
    assert sorted(str(place) for place in set(calls_of_text()) - found) == []
    assert len(statements()) > 300


def test_postgresql_prepares_every_statement(database: Database) -> None:
    assert "\n\n".join(refusals(database.app_url)) == ""


def test_a_renamed_column_is_noticed(database: Database) -> None:
    with psycopg.connect(database.owner_url) as connection:
        connection.execute("ALTER TABLE ssh_keys RENAME COLUMN fingerprint TO finger_print")
    refused = refusals(database.app_url)
    assert any(
        "ipucloud.identity.key_store, line " in each and '"fingerprint" does not exist' in each for each in refused
    )


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE clusters ALTER incarnation TYPE numeric",
        "ALTER TABLE tokens ALTER expires_at TYPE timestamp",
    ],
)
def test_a_column_of_another_type_than_its_reader_expects_is_noticed(database: Database, change: str) -> None:
    before = refusals(database.app_url)
    with psycopg.connect(database.owner_url) as connection:
        connection.execute(change.encode())
    assert any("The row has" in each for each in set(refusals(database.app_url)) - set(before))
