"""What an installation lacks, and what its settings allow."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.api.support import PUBLIC_KEY, UNLIMITED, Api, cluster_json, key, problem, running, s3_connection_json
from tests.support.postgres import Database as Scratch
from tests.support.world import World

pytestmark = pytest.mark.anyio


async def test_without_a_key_for_secrets_it_says_whose_turn_it_is(world: World, database: Scratch) -> None:
    async with running(world, database.app_url, settings={**UNLIMITED, "secrets_key": None}) as api:
        before = await api.snapshot()
        for path, body in (
            ("webhooks", {"url": "https://hooks.example.com/"}),
            ("s3-connections", s3_connection_json()),
        ):
            document = problem(await api.owner.post(f"{api.base}/{path}", json=body), 501, "not_configured")
            assert not document["retryable"]
            assert "operator must set IPUCLOUD_SECRETS_KEY" in document["detail"]
        assert await api.snapshot() == before


async def test_a_cluster_that_nobody_can_log_in_to_is_warned_of(api: Api, world: World, database: Scratch) -> None:
    async def warned(api: Api, path: str, headers: Mapping[str, str] | None = None, **changes: object) -> list[str]:
        answer = await api.owner.post(f"{api.base}/{path}", json=cluster_json() | changes, headers=headers)
        return [each["code"] for each in answer.json()["warnings"]]

    await api.owner.post(f"{api.base}/ssh-keys", json={"name": "laptop", "public_key": PUBLIC_KEY})
    assert await warned(api, "clusters:estimate", ssh_keys=[]) == []
    async with running(world, database.app_url, settings={**UNLIMITED, "secrets_key": None}) as without:
        assert await warned(without, "clusters:estimate", ssh_keys=[]) == ["no_login"]
        assert await warned(without, "clusters:estimate", ssh_keys=[], user_data="#!/bin/sh") == []
        assert await warned(without, "clusters:estimate", ssh_keys=["laptop"]) == []
        headers = key()
        for _ in range(2):
            assert await warned(without, "clusters", headers, ssh_keys=[]) == ["no_login"]


@pytest.mark.parametrize(
    ("endpoint", "usual", "named"),
    [
        ("https://s3.example", True, True),
        ("https://s3.example:443", True, True),
        ("https://s3.example:9443", False, True),
        ("https://s3.example:22", False, False),
        ("https://s3.example:0", False, False),
    ],
)
async def test_buckets_are_reached_at_the_ports_that_the_operator_names(
    world: World, database: Scratch, endpoint: str, usual: bool, named: bool
) -> None:
    for ports, accepted, listed in (("443", usual, "443"), ("443,9443", named, "443 or 9443")):
        async with running(world, database.app_url, settings={**UNLIMITED, "export_ports": ports}) as api:
            body = s3_connection_json(f"lake-{len(ports)}", endpoint=endpoint)
            answer = await api.owner.post(f"{api.base}/s3-connections", json=body)
            if accepted:
                assert answer.status_code == 201, answer.text
            else:
                (fault,) = problem(answer, 422, "validation_failed")["errors"]
                assert fault["pointer"] == "/endpoint"
                assert fault["detail"].endswith(f"{listed}.")
