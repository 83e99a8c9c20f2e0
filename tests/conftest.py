"""What every test may ask for."""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.postgres import ROOT_VARIABLE, Database, TestServer, running_server

pytest_plugins = ["tests.support.proofs"]

_server = pytest.StashKey[ExitStack]()


def pytest_configure(config: pytest.Config) -> None:
    """With parallel workers, start the server here: it has to outlive each of them."""
    # A shell that starts a run in the background has it and all its children ignore Ctrl-C, which tests send.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[_server] = ExitStack()
    distributes = config.getoption("dist", "no") != "no"
    if distributes and not hasattr(config, "workerinput"):
        config.stash[_server].enter_context(running_server())


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[_server].close()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests (`@pytest.mark.anyio`) run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> TestServer:
    """The run's PostgreSQL server, started by the first test that asks for it."""
    inherited = os.environ.get(ROOT_VARIABLE)
    root = Path(inherited) if inherited else request.config.stash[_server].enter_context(running_server())
    return TestServer(root)


@pytest.fixture
def database(postgres: TestServer) -> Iterator[Database]:
    """A migrated, empty database of this test's own; commits are welcome."""
    with postgres.fresh_database() as fresh:
        yield fresh
