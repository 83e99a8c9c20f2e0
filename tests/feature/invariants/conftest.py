"""A healthy world to corrupt."""

from __future__ import annotations

import pytest

from ipucloud.db.engine import Database
from tests.feature.invariants.healthy import Healthy, build
from tests.support.postgres import Database as Scratch


@pytest.fixture
async def healthy(db: Database, database: Scratch) -> Healthy:
    """Every rule holds, and nothing looks after it at the end."""
    return await build(db, database)
