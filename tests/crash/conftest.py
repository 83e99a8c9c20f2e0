"""A lab for each module of trials."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.crash.lab import Lab, open_lab
from tests.crash.victims import Zygote, warm_zygote
from tests.support.postgres import Database, TestServer
from tests.support.site import SECURE, RunningSite, running_site


@pytest.fixture(scope="module")
def lab_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), machines=16, options=SECURE) as site:
        yield site


@pytest.fixture(scope="module")
def lab_database(postgres: TestServer) -> Iterator[Database]:
    with postgres.fresh_database() as database:
        yield database


@pytest.fixture(scope="module")
async def zygote() -> AsyncIterator[Zygote]:
    async with warm_zygote() as zygote:
        yield zygote


@pytest.fixture(scope="module")
async def lab(
    lab_database: Database, lab_site: RunningSite, zygote: Zygote, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Lab]:
    async with open_lab(lab_database, lab_site, zygote, tmp_path_factory.mktemp("logs")) as lab:
        yield lab
        await lab.clear()
