"""Listing clusters against openstack-placement listing as many resource providers."""

from __future__ import annotations

import asyncio
import json

import httpx

from bench.finding import Finding, at_least
from bench.load import open_load
from bench.peers import placement
from bench.rounds import alternate
from bench.scenarios.reads import SMALLEST, Size, prepare
from bench.servers import HOST, Server, request, serving_product
from bench.stage import Stage
from tests.support.machine import Need

FLAVOR = "m2000-pod4"
"""One machine and a Poplar server: still more to say about than placement has about a provider."""
PROVIDERS = "/resource_providers"
NEEDS = (Need.PLACEMENT,)
__all__ = ["NEEDS", "SMALLEST", "Size", "run"]


def run(stage: Stage, size: Size) -> list[Finding]:
    with (
        stage.database() as urls,
        stage.empty_database() as peer_urls,
        open_load(stage) as load,
    ):
        customer, _ = asyncio.run(prepare(urls, FLAVOR, size.clusters))
        with (
            placement.serving_placement(stage.folder, peer_urls) as peer,
            serving_product(stage.folder, urls.app_url) as api,
        ):
            load.each_once(peer.port, [_provider(number) for number in range(size.clusters)], expect=200)
            path, headers = (
                f"/v1/projects/{customer.slug}/clusters",
                {"Authorization": f"Bearer {customer.token.secret}"},
            )
            own = [request("GET", path, headers=headers)]
            peers = [request("GET", PROVIDERS, headers=placement.HEADERS)]
            rates = alternate(
                {
                    "api": lambda: load.for_seconds(size.seconds, api.port, own),
                    "placement": lambda: load.for_seconds(size.seconds, peer.port, peers),
                },
                stage.rounds,
            )
            sizes = {
                "api kB": _kilobytes(api, path, headers),
                "placement kB": _kilobytes(peer, PROVIDERS, placement.HEADERS),
            }
    return [
        Finding(
            f"list of {size.clusters}, over placement's list of {size.clusters}",
            rates.ratio("api", "placement"),
            goal=at_least(5.0),
            numbers=rates.numbers("api", "placement") | sizes,
        )
    ]


def _provider(number: int) -> str:
    body = json.dumps({"name": f"provider-{number}"})
    return request("POST", PROVIDERS, headers=placement.HEADERS, body=body)


def _kilobytes(server: Server, path: str, headers: dict[str, str]) -> float:
    answer = httpx.get(f"http://{HOST}:{server.port}{path}", headers=headers, timeout=10.0)
    return len(answer.raise_for_status().content) / 1000
