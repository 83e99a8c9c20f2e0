"""Databases with rows in them."""

from __future__ import annotations

import pytest

from tests.support.filled import Filled, fill
from tests.support.postgres import Database


@pytest.fixture
def filled(database: Database) -> Filled:
    """The test's database has at least one row in every table; what they are called."""
    return fill(database.app_url)
