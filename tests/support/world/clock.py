"""The database's time, which is the product's for everything durable."""

from __future__ import annotations

from datetime import datetime

import psycopg


def stop_clock(owner_url: str, instant: datetime) -> None:
    """From now on the database's clock shows `instant`."""
    _set_clock(owner_url, f"timestamptz '{instant.isoformat()}'")


def shift_clock(owner_url: str, interval: str) -> None:
    """From now on the database's clock runs as much before or behind the time as this PostgreSQL interval says."""
    _set_clock(owner_url, f"statement_timestamp() + interval '{interval}'")


def start_clock(owner_url: str) -> None:
    """From now on the database's clock shows the time, as migrations have it."""
    _set_clock(owner_url, "statement_timestamp()")


def simulate_clock(superuser_url: str) -> None:
    """From now on each session has to be given its time, as the setting `sim.now`."""
    _set_clock(superuser_url, "current_setting('sim.now')::timestamptz")


def _set_clock(url: str, expression: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            psycopg.sql.SQL(
                "CREATE OR REPLACE FUNCTION app_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS {}"
            ).format(psycopg.sql.Literal(f"SELECT {expression}"))
        )
