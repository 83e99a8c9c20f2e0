"""A lab for each module of trials."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.crash.lab import Lab
from tests.crash.series import fresh_lab
from tests.support.postgres import TestServer


@pytest.fixture(scope="module")
async def lab(postgres: TestServer) -> AsyncIterator[Lab]:
    async with fresh_lab(postgres) as lab:
        yield lab
        await lab.clear()
