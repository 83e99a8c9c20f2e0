"""Failed operations are counted by their cause, once their end is committed."""

from __future__ import annotations

import pytest
from prometheus_client import REGISTRY

from tests.support.world import World

pytestmark = pytest.mark.anyio


def failed(cause: str) -> float:
    labels = {"kind": "cluster.create", "cause": cause}
    return REGISTRY.get_sample_value("operations_failed_total", labels) or 0.0


async def test_a_failed_create_is_counted_by_its_cause(world: World) -> None:
    before = failed("provisioning_failed")
    accepted = await world.create()
    await world.fail_create(accepted.target_id)
    assert failed("provisioning_failed") == before + 1


async def test_a_create_that_a_delete_replaces_is_counted_as_preempted(world: World) -> None:
    before = failed("preempted")
    accepted = await world.create()
    await world.delete(accepted.target_id)
    assert failed("preempted") == before + 1
