from collections.abc import Iterator

import pytest

from tests.support.scripted import Service, scripted_service

TOKEN = "ipu_dev_" + "a" * 49


@pytest.fixture
def service() -> Iterator[Service]:
    with scripted_service() as service:
        yield service


@pytest.fixture
def token() -> str:
    return TOKEN
