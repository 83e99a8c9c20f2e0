"""A container engine, and systems that run in it as `docs/containers.md` tells."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.support.machine import Need, find_program, lack, program
from tests.support.ports import free_ports

CHECKOUT = Path(__file__).parents[2]
PAGE = (CHECKOUT / "docs" / "containers.md").read_text()
COMPOSE = "docker-compose.yml"
NOT_COPIED = (".git", ".venv", ".tools", ".ipucloud", ".*_cache", "node_modules", "static", "__pycache__")
SITE_PORTS = 32
FIRST_PORT, LAST_PORT = 24_000, 31_000
BUILD_SECONDS = 900.0
SECONDS = 400.0
"""The longest that a command may take: a first start on a busy machine."""


def commands_of(heading: str, number: int = 0) -> str:
    """The shell commands of a block in a chapter of the page, counted from 0."""
    chapter = re.split(r"^#+ ", PAGE.split(f"# {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    blocks: list[str] = re.findall(r"```sh\n(.*?)```", chapter, re.DOTALL)
    return blocks[number]


@dataclass
class Engine:
    """The program `docker` with Compose, as people have them. `folder` keeps a copy of the checkout."""

    folder: Path
    name: str
    remove: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.checkout, self.key = self.folder / "checkout", self.folder / "key"
        subprocess.run([program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", self.key], check=True)
        shutil.copytree(CHECKOUT, self.checkout, ignore=shutil.ignore_patterns(*NOT_COPIED))
        plugins = self.folder / "docker" / "cli-plugins"
        plugins.mkdir(parents=True)
        if (compose := find_program("docker-compose")) is not None:
            (plugins / "docker-compose").symlink_to(compose)

    @cached_property
    def environment(self) -> dict[str, str]:
        """What shell commands of the page find. `ipucloud` is this checkout's."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("IPUCLOUD_", "COMPOSE_"))}
        path = f"{Path(sys.executable).parent}:{kept['PATH']}"
        plugin = {"DOCKER_CONFIG": str(self.folder / "docker")} if find_program("docker-compose") is not None else {}
        return {**kept, "PATH": path, "HOME": str(self.folder), **plugin, "IPUCLOUD_VERSION": self.name}

    @cached_property
    def packed(self) -> Path:
        """An archive of the copy of the checkout."""
        return Path(shutil.make_archive(str(self.folder / "packed"), "tar", self.checkout))

    def sh(
        self, script: str, environment: Mapping[str, str], *, seconds: float = SECONDS, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run shell commands in the copy of the checkout."""
        done = subprocess.run(
            ["sh", "-euc", script],
            cwd=self.checkout,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        assert not check or done.returncode == 0, f"{script}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done

    def docker(self, *words: str, seconds: float = SECONDS) -> str:
        """What a command of the engine prints; fails with what it says."""
        done = self.tried(*words, seconds=seconds)
        assert done.returncode == 0, f"{' '.join(words)}: {done.stderr[-4000:]}"
        return done.stdout.strip()

    def tried(self, *words: str, seconds: float = SECONDS) -> subprocess.CompletedProcess[str]:
        """A command of the engine that may fail."""
        return subprocess.run(
            [program("docker"), *words],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def said(self, container: str) -> str:
        """What it has written so far."""
        logs = self.tried("logs", container)
        return logs.stdout + logs.stderr

    def inspect(self, what: str) -> Any:
        [state] = json.loads(self.docker("inspect", what))
        return state

    def image(self, name: str) -> None:
        """Have an image here; the test is skipped where no registry gives it."""
        here = self.tried("image", "inspect", name).returncode == 0
        if not here and self.tried("pull", "--quiet", name).returncode != 0:
            lack(Need.REGISTRY)

    def start(self, name: str, *options: str) -> str:
        """A container of the background, which is removed in the end."""
        self.remove.append(f"{self.name}-{name}")
        return self.docker("run", "--detach", "--name", self.remove[-1], *options)

    def close(self) -> None:
        """Remove its containers and images."""
        for name in self.remove:
            self.tried("rm", "--force", "--volumes", name)
        for name in self.images:
            self.tried("rmi", "--force", name)


@dataclass
class Project:
    """A system in Compose, with a network and ports of its own."""

    engine: Engine
    name: str
    subnet: str
    more: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        https, prometheus, grafana = free_ports(3)
        self.prometheus, self.grafana, self.token = prometheus, grafana, ""
        self.url = f"https://localhost:{https}"
        first = free_range(SITE_PORTS)
        self.variables = {
            "COMPOSE_PROJECT_NAME": f"{self.engine.name}-{self.name}",
            "IPUCLOUD_SUBNET": self.subnet,
            "IPUCLOUD_HTTPS_PORT": str(https),
            "IPUCLOUD_PROMETHEUS_PORT": str(prometheus),
            "IPUCLOUD_GRAFANA_PORT": str(grafana),
            "IPUCLOUD_SITE_PORTS": f"{first}-{first + SITE_PORTS - 1}",
            "IPUCLOUD_CONFIG_DIR": str(self.engine.folder / self.name),
            "SSL_CERT_FILE": str(self.engine.checkout / "ipucloud-ca.crt"),
            **self.more,
        }

    def sh(self, script: str, **more: str) -> str:
        """Run commands of the page, at this project's address."""
        script = script.replace("https://localhost:8443", self.url)
        return self.engine.sh(script, {**self.variables, **more}).stdout

    def up(self) -> None:
        self.sh("docker compose up --detach --wait")

    def ipucloud(self, *words: str) -> Any:
        """A command's answer."""
        return json.loads(self.sh(f"exec ipucloud {shlex.join(words)} --json"))

    def ssh(self, cluster: str, *words: str) -> str:
        """What a program prints in a login."""
        return self.sh(f"exec ipucloud clusters ssh {cluster} -- -i {self.engine.key} {shlex.join(words)}")

    def containers(self, service: str) -> list[str]:
        return self.sh(f"docker compose ps --quiet {service}").split()

    def down(self) -> None:
        self.engine.sh("docker compose --profile grafana down --volumes", self.variables, check=False)


def free_range(number: int) -> int:
    """The first of so many ports in a row that nothing listened on a moment ago."""
    for first in range(FIRST_PORT, LAST_PORT - number, number):
        with ExitStack() as stack, suppress(OSError):
            for port in range(first, first + number):
                stack.enter_context(socket.create_server(("127.0.0.1", port)))
            return first
    raise AssertionError(f"no {number} ports in a row are free")
