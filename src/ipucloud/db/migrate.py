"""Migrations: Alembic's scripts are the only way the schema comes to be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from psycopg.errors import DeadlockDetected

import ipucloud
from ipucloud.db.engine import sqlalchemy_url

_PACKAGE = Path(ipucloud.__file__).parent
_TRIES = 5


def scripts() -> Path:
    """Where the revisions are: inside an installed package, or at the top of a source checkout."""
    packaged = _PACKAGE / "db" / "migrations"
    return packaged if packaged.is_dir() else _PACKAGE.parents[1] / "alembic"


def configuration(owner_url: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(scripts()).replace("%", "%%"))
    url = sqlalchemy_url(owner_url).render_as_string(hide_password=False)
    config.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
    return config


def upgrade(owner_url: str, revision: str = "head") -> None:
    """Bring the schema to `revision` as the owner role. Does nothing when it is already there."""
    _despite_deadlocks(command.upgrade, owner_url, revision)


def downgrade(owner_url: str, revision: str) -> None:
    _despite_deadlocks(command.downgrade, owner_url, revision)


def _despite_deadlocks(run: Callable[[Config, str], None], owner_url: str, revision: str) -> None:
    """Running processes lock tables in other orders. Each revision is a transaction, so none is run twice."""
    for _ in range(_TRIES - 1):
        try:
            return run(configuration(owner_url), revision)
        except sa.exc.OperationalError as error:
            if not isinstance(error.orig, DeadlockDetected):
                raise
    return run(configuration(owner_url), revision)


def check(owner_url: str) -> None:
    """Raise alembic.util.CommandError when the models differ from the database."""
    command.check(configuration(owner_url))


def known_revisions() -> frozenset[str]:
    """Every revision the code has, and the empty one of a database that was never migrated."""
    return frozenset(script.revision for script in ScriptDirectory(str(scripts())).walk_revisions()) | {""}


def head() -> str:
    """The newest revision the code knows."""
    found = ScriptDirectory(str(scripts())).get_current_head()
    if found is None:
        raise RuntimeError("the package has no migrations")
    return found
