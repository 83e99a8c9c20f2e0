"""deploy/roles.sql makes the same roles and the same empty database as the embedded server."""

import os
import subprocess
from pathlib import Path

import psycopg

from ipucloud.laboratory.postgres import EmbeddedPostgres
from ipucloud.laboratory.postgres.binaries import find_binaries

SCRIPT = Path(__file__).parents[3] / "deploy" / "roles.sql"

FACTS = (
    "SELECT rolname, rolcanlogin, rolcreaterole, rolsuper, rolcreatedb, rolreplication, rolbypassrls"
    " FROM pg_roles WHERE rolname LIKE 'ipucloud%' ORDER BY rolname",
    "SELECT datdba::regrole::text, pg_encoding_to_char(encoding), datacl FROM pg_database WHERE datname = 'ipucloud'",
)
IN_DATABASE = "SELECT nspowner::regrole::text, nspacl::text FROM pg_namespace WHERE nspname = 'public'"


def facts(server: EmbeddedPostgres) -> list[object]:
    with psycopg.connect(server.superuser_url) as connection:
        rows: list[object] = [connection.execute(query).fetchall() for query in FACTS]
    with psycopg.connect(server.url("postgres", "ipucloud")) as connection:
        return [*rows, connection.execute(IN_DATABASE).fetchall()]


def test_the_script_makes_what_the_embedded_server_makes(tmp_path: Path) -> None:
    psql = find_binaries(None, data_major=None).directory / "psql"
    with EmbeddedPostgres(tmp_path / "db", durable=False) as server:
        embedded = facts(server)
        with psycopg.connect(server.superuser_url, autocommit=True) as connection:
            connection.execute("DROP DATABASE ipucloud")
            connection.execute("DROP ROLE ipucloud_owner, ipucloud_app, ipucloud_tenant")
        passwords = {"IPUCLOUD_OWNER_PASSWORD": "it's", "IPUCLOUD_APP_PASSWORD": "secret"}
        subprocess.run(
            [psql, "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--file", SCRIPT, server.superuser_url],
            env={**os.environ, **passwords},
            check=True,
        )
        assert facts(server) == embedded
