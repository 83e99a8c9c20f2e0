"""The bodies of the database's functions fit the schema.

PostgreSQL checks a body in SQL when its function is created, so each is created again. It checks one in PL/pgSQL as it
runs, so each is run.
"""

from __future__ import annotations

import psycopg
from psycopg import sql

from tests.support.filled import fill
from tests.support.postgres import Database
from tests.support.waiting import eventually

ONLY_REFUSE = {
    "refuse_change_of_ended_interval",
    "refuse_change_of_ended_payment",
    "refuse_change_of_finished_operation",
    "refuse_change_of_money",
}
"""Functions that read no table and always raise; `test_refused_states.py` runs them."""
CALLS = (
    "UPDATE contract_prices SET valid_to = '2127-01-01Z'",
    "SELECT withdraw_price(id) FROM contract_prices",
    "SELECT cut_price(gen_random_uuid(), gen_random_uuid())",
    "SELECT follow_price(gen_random_uuid(), '{}')",
    "SELECT recount_ledger_account(id) FROM ledger_accounts",
    "DELETE FROM dirty_hours",
    "UPDATE hour_closes SET verified_at = app_now()",
    "SELECT seal_billing_month(month) FROM billing_months",
    "SELECT lock_room('luxembourg-2', 'm2000', 1)",
    "SELECT lock_hosts('luxembourg-2', 1)",
)
"""What runs the functions that filling a database does not."""
_FUNCTIONS = """
SELECT proname, pg_get_functiondef(oid), coalesce(pg_stat_get_function_calls(oid), 0) FROM pg_proc
 WHERE pronamespace = 'public'::regnamespace AND prolang = (SELECT oid FROM pg_language WHERE lanname = %s)
"""


def misfits(connection: psycopg.Connection) -> set[str]:
    """Functions in SQL that PostgreSQL would not create again."""
    names = set()
    for name, definition, _ in connection.execute(_FUNCTIONS, ["sql"]).fetchall():
        try:
            with connection.transaction():
                connection.execute(definition)
        except psycopg.ProgrammingError:
            names.add(name)
    return names


def never_run(connection: psycopg.Connection) -> set[str]:
    """Functions in PL/pgSQL that no statement has run to its end, in the statistics of the database."""
    return {name for name, _, calls in connection.execute(_FUNCTIONS, ["plpgsql"]) if calls == 0}


def test_bodies_in_sql_fit_the_schema(database: Database) -> None:
    with psycopg.connect(database.owner_url) as connection:
        assert misfits(connection) == set()
        connection.execute("ALTER TABLE contract_prices RENAME COLUMN sku TO article")
        assert misfits(connection) == {"prices_paid"}


def test_every_body_in_plpgsql_runs(database: Database) -> None:
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        connection.execute(
            sql.SQL("ALTER DATABASE {} SET track_functions = 'pl'").format(sql.Identifier(database.name))
        )
        assert never_run(connection) > ONLY_REFUSE
    fill(database.app_url)
    with psycopg.connect(database.owner_url) as connection:
        for call in CALLS:
            assert connection.execute(call).rowcount > 0, call
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        eventually(lambda: never_run(connection) == ONLY_REFUSE, "every other function is counted")
