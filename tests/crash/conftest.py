"""A lab for each module of trials."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.crash.lab import Lab, open_lab
from tests.crash.victims import TemplateProcess, template_process
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
async def template() -> AsyncIterator[TemplateProcess]:
    async with template_process() as template:
        yield template


@pytest.fixture(scope="module")
async def lab(
    lab_database: Database, lab_site: RunningSite, template: TemplateProcess, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Lab]:
    async with open_lab(lab_database, lab_site, template, tmp_path_factory.mktemp("logs")) as lab:
        yield lab
        await lab.clear()
