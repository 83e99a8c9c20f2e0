"""Processor time that programs take to their first answer, over that of a Python that imports pydantic and httpx."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import httpx

from bench.child import Child, cpu_seconds
from bench.databases import opened
from bench.finding import Finding, at_most
from bench.rounds import Side, alternate
from bench.servers import HOST, awaited, free_port
from bench.stage import Stage
from bench.workers import register, start_worker
from tests.support.factories import Project
from tests.support.site import RunningSite, running_site

PROGRAM = ("-m", "ipucloud.cli.main")
IMPORTS = "import pydantic, httpx"
GOALS = {
    "ipucloud --help": 1.2,
    "ipucloud whoami": 1.9,
    "ipucloud api, to its first answer": 6.2,
    "ipucloud worker, until it is ready": 4.8,
}


@dataclass(frozen=True, slots=True)
class Starts:
    """Where programs start, each once a turn. A turn's rate is the starts in a second of processor time."""

    folder: Path
    database_url: str
    site: RunningSite
    customer: Project

    def imports(self) -> float:
        return 1 / _cpu_of("-c", IMPORTS)

    def help(self) -> float:
        return 1 / _cpu_of(*PROGRAM, "--help")

    def whoami(self, api: int) -> Side:
        environment = {
            "IPUCLOUD_URL": f"http://{HOST}:{api}",
            "IPUCLOUD_TOKEN": self.customer.token.secret,
            "IPUCLOUD_CONFIG_DIR": str(self.folder / "client"),
        }
        return lambda: 1 / _cpu_of(*PROGRAM, "whoami", environment=environment)

    def api(self) -> float:
        port = free_port()
        with self.serving(port) as process:
            self.ask(port)
            return 1 / cpu_seconds(process.pid)

    def worker(self) -> float:
        with start_worker(self.folder, self.database_url, self.site, program=(*PROGRAM, "worker")) as process:
            return 1 / cpu_seconds(process.pid)

    def serving(self, port: int) -> Child:
        """The API process, once it listens."""
        environment = {
            "IPUCLOUD_DATABASE_URL": self.database_url,
            "IPUCLOUD_PORT": str(port),
            "IPUCLOUD_INTERNAL_PORT": "0",
        }
        process = Child.python(*PROGRAM, "api", log=self.folder / f"api-{port}.log", environment=environment)
        awaited(port, process)
        return process

    def ask(self, port: int) -> None:
        """A request that authenticates and reads the database, as the first of a customer does."""
        headers = {"Authorization": f"Bearer {self.customer.token.secret}"}
        url = f"http://{HOST}:{port}/v1/projects/{self.customer.slug}/clusters"
        httpx.get(url, headers=headers, timeout=30.0).raise_for_status()


def run(stage: Stage) -> list[Finding]:
    with (
        stage.database() as urls,
        running_site(stage.folder / "start-site", machines=4) as site,
    ):
        starts = Starts(stage.folder, urls.app_url, site, asyncio.run(_customer(urls.app_url, site)))
        port = free_port()
        with starts.serving(port):
            programs = (starts.help, starts.whoami(port), starts.api, starts.worker)
            rates = alternate({"imports": starts.imports, **dict(zip(GOALS, programs, strict=True))}, stage.rounds)
    return [
        Finding(
            f"{program}: CPU time, over `{IMPORTS}`",
            rates.ratio("imports", program),
            goal=at_most(goal),
            numbers=_seconds(1 / rates.median(program), 1 / rates.median("imports"), rates.middle("imports", program)),
        )
        for program, goal in GOALS.items()
    ]


def _seconds(program: float, imports: float, middle: tuple[float, float]) -> dict[str, float]:
    return {"CPU s": program, "imports' CPU s": imports, "from": middle[0], "to": middle[1]}


async def _customer(url: str, site: RunningSite) -> Project:
    async with opened(url) as database:
        return (await register(database, site)).project


def _cpu_of(*arguments: str, environment: Mapping[str, str] = MappingProxyType({})) -> float:
    """User and system time of a Python program, from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], env=os.environ | environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
