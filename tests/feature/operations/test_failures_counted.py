"""Failed operations are counted by their cause, once their end is committed."""

from __future__ import annotations

import pytest
from prometheus_client import REGISTRY

from tests.support.cloud import Cloud

pytestmark = pytest.mark.anyio


def failed(cause: str) -> float:
    labels = {"kind": "cluster.create", "cause": cause}
    return REGISTRY.get_sample_value("operations_failed_total", labels) or 0.0


async def test_a_failed_create_is_counted_by_its_cause(cloud: Cloud) -> None:
    before = failed("provisioning_failed")
    made = await cloud.create()
    await cloud.fail_create(made.target_id)
    assert failed("provisioning_failed") == before + 1


async def test_a_create_that_a_delete_replaces_is_counted_as_preempted(cloud: Cloud) -> None:
    before = failed("preempted")
    made = await cloud.create()
    await cloud.delete(made.target_id)
    assert failed("preempted") == before + 1
