"""Whether this machine confines a customer's programs, for tests that need it."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest

from ipucloud.laboratory.simulator.ssh.userland import Confinement


@cache
def sandbox_problem() -> str | None:
    """Why no sandbox can be started here; None where one can."""
    with ThreadPoolExecutor(1) as outside_of_any_loop:
        return outside_of_any_loop.submit(asyncio.run, Confinement().problem()).result()


def need_sandboxes() -> None:
    """Skip the test, with the reason, where no sandbox can be started."""
    problem = sandbox_problem()
    if problem is not None:
        pytest.skip(f"this machine confines no programs: {problem}")
