"""What every test may ask for."""

import gc
import sys
from collections.abc import Iterator

import pytest
import structlog
from argon2 import PasswordHasher
from hypothesis import HealthCheck, settings

from ipucloud.identity import passwords
from tests.support import run
from tests.support.postgres import Database, TestServer, remove_leftovers, running_server

# Assertions are rewritten once, not in every process of every run. Before the modules of the next line are imported.
sys.dont_write_bytecode = False

pytest_plugins = [f"tests.support.{name}" for name in ("machine", "selection", "sharing", "real_time")]

# How long examples take says how busy the machine is, and nothing of what is tested. Every run has the same examples.
settings.register_profile(
    "ipucloud", parent=settings(), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ipucloud")

# A hash that is worth its name takes 64 MB; tests/unit/identity/test_passwords.py has that one.
passwords._HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)

# structlog's own choice draws tracebacks with the values of all variables, which takes longer than what they tell of.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper("%Y-%m-%d %H:%M:%S", utc=False),
        structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
    ]
)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        remove_leftovers(run.fast_storage())
    run.begin(config)


def pytest_sessionfinish(session: pytest.Session) -> None:
    run.report_memory(session.config)


def pytest_collection_finish(session: pytest.Session) -> None:
    # Ten thousand tests and the modules stay; the collector would go through them all the time. It goes through all
    # else when that has grown by a quarter since the last time: the second call has it forget what is frozen now.
    gc.collect()
    gc.freeze()
    gc.collect()
    gc.set_threshold(50_000, 5, 4)


_memory_trimmer = run.MemoryTrimmer()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    _memory_trimmer.look()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests (`@pytest.mark.anyio`) run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture(scope="session")
def postgres() -> Iterator[TestServer]:
    """A PostgreSQL server, started by the first test that asks for it.

    Each of parallel workers has its own: events are shown in order across all databases of a server, so that a
    transaction of another worker's test would delay those of this one.
    """
    with running_server() as root:
        server = TestServer(root)
        yield server
        server.close()


@pytest.fixture
def database(postgres: TestServer) -> Iterator[Database]:
    """A migrated, empty database, as if of this test's own; commits are welcome."""
    with postgres.empty_database() as empty:
        yield empty
