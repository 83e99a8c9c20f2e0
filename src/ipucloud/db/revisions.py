"""The revisions of the schema, which are named as the files that make them: what a process knows without Alembic."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import ipucloud

_PACKAGE = Path(ipucloud.__file__).parent
_FORMER = re.compile(r"\d{4}")

BASELINE = "0001_baseline"
FORMER_HEAD = "0340"
"""The last revision from before the baseline: the same schema. Their names were numbers alone."""


class UpgradeError(Exception):
    """The schema cannot be brought to the wanted revision; the text says why."""


def scripts() -> Path:
    """Where the revisions are: inside an installed package, or at the top of a source checkout."""
    packaged = _PACKAGE / "db" / "migrations"
    return packaged if packaged.is_dir() else _PACKAGE.parents[1] / "alembic"


@cache
def known() -> tuple[str, ...]:
    """The revisions that the code has, oldest first."""
    return tuple(sorted(path.stem for path in (scripts() / "versions").glob("*.py")))


def head() -> str:
    """The newest revision the code knows."""
    return known()[-1]


def is_former(revision: str) -> bool:
    """True for a revision from before the baseline."""
    return _FORMER.fullmatch(revision) is not None


def is_older(revision: str) -> bool:
    """True for a revision from which the code upgrades, and for the empty one of a database never migrated."""
    return not revision or is_former(revision) or revision in known()[:-1]


def is_newer(revision: str) -> bool:
    """True for a revision that the code does not know: schemas only expand while the previous version runs."""
    return not is_older(revision) and revision != head()
