"""Listing 50 clusters against openstack-placement listing 50 resource providers."""

from __future__ import annotations

import asyncio
import json
import sys

import httpx

from bench.finding import Finding, at_least
from bench.load import open_load
from bench.peers import placement
from bench.rounds import alternate
from bench.scenarios.reads import CLUSTERS, SECONDS, prepare
from bench.servers import HOST, Server, request, serving_product
from bench.stage import Stage

FLAVOR = "m2000-pod4"
"""One machine and a Poplar server: still more to say about than placement has about a provider."""
PROVIDERS = "/resource_providers"


def run(stage: Stage) -> list[Finding]:
    """Nothing when placement is not installed."""
    if not placement.installed():
        print("placement is not installed: ./dev bench --setup", file=sys.stderr)
        return []
    with (
        stage.database("bench_placement") as urls,
        stage.empty_database("bench_openstack") as peer_urls,
        open_load(stage.folder) as load,
    ):
        customer, _ = asyncio.run(prepare(urls, FLAVOR))
        with (
            placement.serving_placement(stage.folder, peer_urls) as peer,
            serving_product(stage.folder, urls.app_url) as api,
        ):
            load.each_once(peer.port, [_provider(number) for number in range(CLUSTERS)], expect=200)
            path, headers = (
                f"/v1/projects/{customer.slug}/clusters",
                {"Authorization": f"Bearer {customer.token.secret}"},
            )
            ours = [request("GET", path, headers=headers)]
            theirs = [request("GET", PROVIDERS, headers=placement.HEADERS)]
            rates = alternate(
                {
                    "api": lambda: load.for_seconds(SECONDS, api.port, ours),
                    "placement": lambda: load.for_seconds(SECONDS, peer.port, theirs),
                },
                stage.rounds,
            )
            sizes = {
                "api kB": _kilobytes(api, path, headers),
                "placement kB": _kilobytes(peer, PROVIDERS, placement.HEADERS),
            }
    return [
        Finding(
            f"list of {CLUSTERS}, over placement's list of {CLUSTERS}",
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
