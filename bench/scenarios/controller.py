"""Partitions made, polled and removed at the simulated controller, against a bare server, both over TLS."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from bench.child import Child, cpu_seconds
from bench.finding import Finding, at_least
from bench.rounds import alternate
from bench.stage import Stage
from tests.support.site import RunningSite, running_site
from tests.support.vipu import VipuDriver

ALLOCATION = "bench"
SMALL = 16


@dataclass(frozen=True, slots=True)
class Size:
    """`seconds`: how long one side has its turn. `large`: the machines of the larger site."""

    callers: int = 32
    seconds: float = 2.0
    large: int = 16_384


SMALLEST = Size(callers=2, seconds=0.1, large=2 * SMALL)


@dataclass(slots=True)
class Side:
    """One server under load. `cpu`: the least microseconds of its process that one life took in any turn."""

    load: Child
    size: Size
    port: int
    authority: str
    pid: int
    turns: Iterator[int]
    cpu: float = math.inf
    busiest: float = 0.0
    polls: float = 0.0

    def turn(self) -> float:
        """Lives per second."""
        before = cpu_seconds(self.pid)
        order = {
            "port": self.port,
            "authority": self.authority,
            "callers": self.size.callers,
            "seconds": self.size.seconds,
            "allocation": ALLOCATION,
        }
        self.load.say(json.dumps(order | {"turn": next(self.turns)}))
        answer = json.loads(self.load.line())
        rate: float = answer["rate"]
        self.cpu = min(self.cpu, (cpu_seconds(self.pid) - before) / (rate * self.size.seconds) * 1e6)
        self.busiest, self.polls = max(self.busiest, answer["busy"]), answer["polls"]
        return rate


def run(stage: Stage, size: Size) -> list[Finding]:
    peer = stage.folder / "echo"
    with ExitStack() as opened:
        load = opened.enter_context(
            Child.python("-m", "bench.processes.partition_load", log=stage.folder / "partition-load.log")
        )
        echo = opened.enter_context(Child.python("-m", "bench.peers.echo", str(peer), log=stage.folder / "echo.log"))
        turns = count()
        port = int(echo.line())
        sides = {"bare": Side(load, size, port, (peer / "ca.pem").read_text(), echo.pid, turns)}
        for name, machines, durable in (("site", SMALL, False), ("large", size.large, False), ("durable", SMALL, True)):
            site = opened.enter_context(_site(stage.folder / f"controller-{name}", machines, durable=durable))
            vipu = site.region().vipu
            assert vipu is not None
            assert vipu.authority is not None
            sides[name] = Side(load, size, site.user_endpoint(ALLOCATION).port, vipu.authority, site.pid, turns)
        rates = alternate({name: side.turn for name, side in sides.items()}, stage.rounds)
    busy = {"polls": sides["site"].polls, "client busy": max(side.busiest for side in sides.values())}
    cpu = {f"{name} CPU µs": side.cpu for name, side in sides.items()}
    life = "partitions made, polled and removed"
    return [
        Finding(life, rates.median("site"), "/s", numbers=busy | cpu),
        Finding(
            f"{life}, over a bare gRPC server with TLS",
            rates.ratio("site", "bare"),
            goal=at_least(0.5),
            numbers=rates.numbers("site", "bare"),
        ),
        Finding(
            f"the same with {size.large:,} machines, over {SMALL}",
            rates.ratio("large", "site"),
            goal=at_least(0.8),
            numbers=rates.numbers("large", "site"),
        ),
        Finding(
            "the same with every change forced to the disk",
            rates.ratio("durable", "site"),
            numbers=rates.numbers("durable", "site"),
        ),
    ]


@contextmanager
def _site(folder: Path, machines: int, *, durable: bool) -> Iterator[RunningSite]:
    """A site on which everything is immediate, with an allocation of one pod."""
    options = ["--machines-on", "--hosts", "1"]
    with running_site(folder, machines=machines, options=options, durable=durable) as site:
        pod = site.region().pods[0]
        driver = VipuDriver(site.channel())
        driver.allocate(ALLOCATION, pod.cluster_id or "", [machine.name for machine in pod.machines])
        yield site
