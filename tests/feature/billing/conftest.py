"""A project whose usage is billed, for the tests of the ledger."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from ipucloud.db.engine import Database
from tests.feature.billing.world import BillingWorld, open_billing_world
from tests.support.postgres import Database as Scratch


@pytest.fixture
async def billing(database: Scratch) -> AsyncIterator[BillingWorld]:
    db = Database(database.app_url)
    yield await open_billing_world(db, database.owner_url)
    await db.close()
