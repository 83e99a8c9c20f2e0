"""What a schema is, as a set of statements that do not depend on the order it was made in; and what is in it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator

from ipucloud.laboratory.postgres.binaries import find_binaries
from tests.support.waiting import PATIENCE

PARTITIONS = "--exclude-table=usage_charges_2*"
"""Made while the product runs, a month at a time, and not by migrations."""

# Headings, psql's \restrict line with its random key, and the session settings of the dump itself.
_NOISE = re.compile(r"^(--.*|\\.*|SET .*;|SELECT pg_catalog\.set_config\(.*\);)$", re.MULTILINE)
_TABLE = re.compile(r"(CREATE TABLE \S+) \(\n(.*)\n\)(.*)", re.DOTALL)
_BODY = re.compile(r"\$(\w*)\$.*?\$\1\$", re.DOTALL)


def schema_of(superuser_url: str) -> set[str]:
    """The statements of `pg_dump --schema-only`, without owners, privileges, Alembic's own table and partitions.

    Columns are sorted: a migration that adds one puts it last, whatever its place in the models.
    """
    dump = _dump(superuser_url, "--schema-only", "--no-privileges", "--exclude-table=alembic_version", PARTITIONS)
    return {_sorted_columns(statement) for statement in _statements(_NOISE.sub("", dump))}


def data_of(superuser_url: str) -> str:
    return _dump(superuser_url, "--data-only")


def _dump(superuser_url: str, *options: str) -> str:
    program = find_binaries(None, data_major=None).directory / "pg_dump"
    command = [str(program), "--no-owner", *options, superuser_url]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout


def _statements(dump: str) -> Iterator[str]:
    bodies: list[str] = []

    def put_away(body: re.Match[str]) -> str:
        bodies.append(body[0])
        return f"<{len(bodies) - 1}>"

    for statement in re.split(r";\n", _BODY.sub(put_away, dump)):
        if text := statement.strip():
            yield re.sub(r"<(\d+)>", lambda place: bodies[int(place[1])], text)


def _sorted_columns(statement: str) -> str:
    table = _TABLE.fullmatch(statement)
    if table is None:
        return statement
    lines = sorted(line.strip().removesuffix(",") for line in table[2].splitlines())
    return "\n".join((table[1], *lines, table[3]))
