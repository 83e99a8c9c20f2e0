"""Listing 50 clusters against openstack-placement listing 50 resource providers, answers of the same kind of size."""

from __future__ import annotations

import asyncio
import json

from bench.finding import Finding, at_least
from bench.load import open_load
from bench.peers import placement
from bench.rounds import alternate
from bench.scenarios.reads import CLUSTERS, SECONDS, prepare
from bench.servers import request, serving_product
from bench.stage import Stage


def run(stage: Stage) -> list[Finding]:
    """Nothing when placement is not installed."""
    if not placement.installed():
        return []
    with (
        stage.database("bench_placement") as urls,
        stage.empty_database("bench_openstack") as peer_urls,
        open_load(stage.folder) as load,
    ):
        customer, _ = asyncio.run(prepare(urls))
        with (
            placement.serving_placement(stage.folder, peer_urls) as peer_port,
            serving_product(stage.folder, urls.app) as port,
        ):
            providers = [
                request(
                    "POST",
                    "/resource_providers",
                    headers=placement.HEADERS,
                    body=json.dumps({"name": f"provider-{number}"}),
                )
                for number in range(CLUSTERS)
            ]
            load.each_once(peer_port, providers, expect=200)
            path = f"/v1/projects/{customer.slug}/clusters"
            ours = [request("GET", path, headers={"Authorization": f"Bearer {customer.token}"})]
            theirs = [request("GET", "/resource_providers", headers=placement.HEADERS)]
            rates = alternate(
                {
                    "api": lambda: load.for_seconds(SECONDS, port, ours),
                    "placement": lambda: load.for_seconds(SECONDS, peer_port, theirs),
                },
                stage.rounds,
            )
    return [
        Finding(
            f"list of {CLUSTERS}, over placement's list of {CLUSTERS}",
            rates.ratio("api", "placement"),
            goal=at_least(5.0),
            numbers=rates.numbers("api", "placement"),
        )
    ]
