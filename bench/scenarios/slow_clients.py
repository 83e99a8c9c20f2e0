"""What slow clients cost the fast ones, and what the limits that bound them cost everybody."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bench.child import Child
from bench.finding import Finding, at_least, at_most
from bench.load import Load, open_load
from bench.rounds import alternate
from bench.scenarios.reads import FLAVOR, Side, prepare
from bench.servers import Server, awaited, free_port, request, serving, serving_product
from bench.stage import Stage


@dataclass(frozen=True, slots=True)
class Size:
    """`seconds`: how long the fast clients have one turn, beside `slow` ones. `clusters`: which they read."""

    slow: int = 2_000
    seconds: float = 2.0
    clusters: int = 50


SMALLEST = Size(slow=3, seconds=0.05, clusters=1)


def run(stage: Stage, size: Size) -> list[Finding]:
    with _many_connections(), open_load(stage) as load:
        return [_limits(stage, size, load), _crowd(stage, size, load)]


@contextmanager
def _many_connections() -> Iterator[None]:
    """As many as this process may have, for those that it starts meanwhile."""
    usual, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (usual, most))


def _limits(stage: Stage, size: Size, load: Load) -> Finding:
    requests = [request("GET", "/")]
    with serving("bench.peers.hello:app", stage.folder) as plain, _serving_limited(stage) as limited:
        sides = {
            name: Side(load, size.seconds, server, requests)
            for name, server in {"limited": limited, "plain": plain}.items()
        }
        rates = alternate({name: side.turn for name, side in sides.items()}, stage.rounds)
    return Finding(
        "requests through the limits, over plain uvicorn",
        rates.ratio("limited", "plain"),
        goal=at_least(0.8),
        numbers=rates.numbers("limited", "plain")
        | {f"{name} CPU µs": side.cpu for name, side in sides.items()}
        | {"client busy": load.busiest},
    )


@contextmanager
def _serving_limited(stage: Stage) -> Iterator[Server]:
    port = free_port()
    with Child.python("-m", "bench.peers.hello", str(port), log=stage.folder / "limited.log") as server:
        yield awaited(port, server)


def _crowd(stage: Stage, size: Size, load: Load) -> Finding:
    with stage.database() as urls:
        customer, clusters = asyncio.run(prepare(urls, FLAVOR, size.clusters))
        headers = {"Authorization": f"Bearer {customer.token.secret}"}
        requests = [
            request("GET", f"/v1/projects/{customer.slug}/clusters/{each}", headers=headers) for each in clusters
        ]
        with serving_product(stage.folder, urls.app_url) as api, _slow_clients(stage, api) as slow:

            def p99(attached: int) -> float:
                slow.say(str(attached))
                if int(slow.line()) != attached:
                    raise slow.failure("did not attach as many as it should")
                load.for_seconds(size.seconds, api.port, requests)
                return load.p99 * 1000

            delays = alternate({"crowded": lambda: p99(size.slow), "alone": lambda: p99(0)}, stage.rounds)
    low, high = delays.middle("crowded", "alone")
    return Finding(
        f"p99 of reads with {size.slow:,} slow clients attached, over without",
        delays.ratio("crowded", "alone"),
        goal=at_most(2.0),
        numbers={
            "with ms": delays.median("crowded"),
            "without ms": delays.median("alone"),
            "from": low,
            "to": high,
            "worst ms": max(delays.by_side["crowded"]),
        },
    )


@contextmanager
def _slow_clients(stage: Stage, api: Server) -> Iterator[Child]:
    arguments = ("-m", "bench.processes.slow_clients", str(api.port))
    with Child.python(*arguments, log=stage.folder / "slow-clients.log") as clients:
        yield clients
