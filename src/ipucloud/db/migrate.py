"""Migrations: Alembic's scripts are the only way the schema comes to be."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from psycopg.errors import DeadlockDetected, UndefinedTable

from ipucloud.db.engine import sqlalchemy_url
from ipucloud.db.schema_check import BASELINE, FORMER_HEAD, UpgradeError, is_former, scripts

_TRIES = 5
_PRESENT = sa.text("SELECT version_num FROM alembic_version")
_ADOPT = sa.text("UPDATE alembic_version SET version_num = :baseline WHERE version_num = :former")


class BeforeBaselineError(UpgradeError):
    """The database is at a revision from before the baseline, other than the last one."""


def configuration(owner_url: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(scripts()).replace("%", "%%"))
    url = sqlalchemy_url(owner_url).render_as_string(hide_password=False)
    config.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
    return config


def upgrade(owner_url: str, revision: str = "head") -> str | None:
    """Bring the schema to `revision` as the owner role. Does nothing when it is already there.

    Returns a sentence if the database was at the last revision from before the baseline, which is the same schema.
    Raises BeforeBaselineError for an earlier one, UpgradeError for what Alembic refuses.
    """
    adopted = _adopt(owner_url)
    try:
        _despite_deadlocks(command.upgrade, owner_url, revision)
    except CommandError as error:
        raise UpgradeError(str(error)) from error
    return adopted


def downgrade(owner_url: str, revision: str) -> None:
    """Take later revisions back, to try them on a database in use; the baseline stays."""
    _despite_deadlocks(command.downgrade, owner_url, revision)


def _adopt(owner_url: str) -> str | None:
    """Record the baseline in a database from before it."""
    engine = sa.create_engine(sqlalchemy_url(owner_url), poolclass=sa.NullPool)
    try:
        with engine.begin() as connection:
            present = connection.scalar(_PRESENT) or ""
            if present == FORMER_HEAD:
                connection.execute(_ADOPT, {"baseline": BASELINE, "former": FORMER_HEAD})
                return f"The schema was at {FORMER_HEAD}, which is the same as {BASELINE}: recorded as that."
    except sa.exc.ProgrammingError as error:
        if isinstance(error.orig, UndefinedTable):  # never migrated
            return None
        raise
    if is_former(present):
        raise BeforeBaselineError(
            f"its schema is at {present}, and upgrades begin with {FORMER_HEAD}. First run `ipucloud migrate` of an"
            f" earlier version, the last one that has {FORMER_HEAD}."
        )
    return None


def _despite_deadlocks(run: Callable[[Config, str], None], owner_url: str, revision: str) -> None:
    """Running processes lock tables in other orders. Each revision is a transaction, so none is run twice."""
    for _ in range(_TRIES - 1):
        try:
            return run(configuration(owner_url), revision)
        except sa.exc.OperationalError as error:
            if not isinstance(error.orig, DeadlockDetected):
                raise
    return run(configuration(owner_url), revision)


def check(owner_url: str, models: sa.MetaData) -> None:
    """Raise alembic.util.CommandError when the models differ from the database."""
    compared = configuration(owner_url)
    compared.attributes["models"] = models
    command.check(compared)
