"""Databases with rows in them."""

from __future__ import annotations

import pytest

from tests.support.filled import fill
from tests.support.filled_names import Filled
from tests.support.postgres import Database


@pytest.fixture
def filled(database: Database) -> Filled:
    """The test's database has at least one row in every table; what they are called."""
    return fill(database.app_url)
