"""The programs of a whole system, as its keeper starts them."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from ipucloud.config import OidcProvider, Settings, constants
from ipucloud.laboratory.keeper.child import Program
from ipucloud.laboratory.keeper.readiness import Answers, ReadyFile
from ipucloud.laboratory.postgres.server import RECOVERY_SECONDS, STOP_SECONDS
from ipucloud.laboratory.simulator.ports import read_ports

LOOPBACK = "127.0.0.1"
EVERYWHERE = "0.0.0.0"  # noqa: S104  # where a person says that this is a container, whose ports they publish
MACHINES = 80
"""IPU machines of each region of the simulated site: a POD256 and a POD64 fit."""


@dataclass(frozen=True)
class Published:
    """Ports of a container that are published under the same numbers at `address`, where its users are.

    The simulated site listens at these and no others.
    """

    ports: range
    address: str

    @classmethod
    def read(cls, text: str) -> Published:
        """What is written as [ADDRESS:]FIRST-LAST. Raises ValueError."""
        address, _, ports = text.rpartition(":")
        return cls(read_ports(ports), address.lower() or LOOPBACK)

    def __str__(self) -> str:
        return f"{self.ports.start}-{self.ports.stop - 1}"


@dataclass(frozen=True)
class SiteChoices:
    """How a simulated site is run.

    `published`: in a container, for those outside. `unconfined`: where there is no wall, programs run all the same.
    `insecure_registries`, as HOST:PORT: container images come from there over plain HTTP, whatever their address is.
    """

    published: Published | None = None
    unconfined: bool = False
    insecure_registries: tuple[str, ...] = ()


AS_USUAL = SiteChoices()


def postgres(root: Path, bindir: Path | None, ready: ReadyFile, logs: Path) -> Program:
    """The embedded server of the directory `root`."""
    options = () if bindir is None else ("--bindir", str(bindir))
    return Program(
        "PostgreSQL",
        "ipucloud.laboratory.postgres",
        (str(root), "--ready-file", str(ready.path), *options),
        {},
        logs / "postgres.log",
        ready,
        ready_seconds=RECOVERY_SECONDS + STOP_SECONDS,
        grace_seconds=STOP_SECONDS,
    )


def simulated_site(
    folder: Path,
    time_scale: float,
    credentials: Mapping[str, str],
    ready: ReadyFile,
    logs: Path,
    *,
    choices: SiteChoices = AS_USUAL,
) -> Program:
    """A simulated site with its state in `folder`; it writes its address into the ready file, the same every time."""
    options: dict[str, object] = {
        "--data": folder,
        "--time-scale": time_scale,
        "--ready-file": ready.path,
        "--machines": MACHINES,
    }
    if (published := choices.published) is not None:
        options |= {"--bind": EVERYWHERE, "--advertise": published.address, "--ports": published}
    flags = (
        "--secure",
        *(["--unconfined"] if choices.unconfined else []),
        *(f"--insecure-registry={each}" for each in choices.insecure_registries),
    )
    arguments = (*flags, *(str(word) for option in options.items() for word in option))
    return Program(
        "The simulated site", "ipucloud.laboratory.simulator.main", arguments, credentials, logs / "site.log", ready
    )


def client_certificates(folder: Path) -> str:
    """The setting `vipu_client_certificate` for the simulated site with its state in `folder`."""
    return str(folder / "clients" / "{controller}.pem")


def worker(settings: Settings, logs: Path, internal: socket.socket) -> Program:
    return _service("worker", "The worker", settings, logs, internal=internal)


def api(settings: Settings, logs: Path, internal: socket.socket, public: socket.socket) -> Program:
    return _service("api", "The API", settings, logs, internal=internal, public=public)


def _service(
    command: str,
    name: str,
    settings: Settings,
    logs: Path,
    *,
    internal: socket.socket,
    public: socket.socket | None = None,
) -> Program:
    """A command of this package that answers on the sockets; they stay open while it is started again."""
    handed = {"internal_listen_fd": internal.fileno(), "listen_fd": None if public is None else public.fileno()}
    plain = {"tls_certificate": None}  # it is asked on this machine, by names that no certificate has
    return Program(
        name,
        "ipucloud.cli.main",
        (command,),
        environment(settings.model_copy(update=handed | plain)),
        logs / f"{command}.log",
        Answers(f"{url_of(public or internal)}/livez"),
        tuple(descriptor for descriptor in handed.values() if descriptor is not None),
    )


def url_of(bound: socket.socket) -> str:
    """Where a program on this machine reaches a listener."""
    host, port, *_ = bound.getsockname()
    reachable = {EVERYWHERE: LOOPBACK, "::": "::1"}.get(host, host)
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"


def environment(settings: Settings) -> Mapping[str, str]:
    """The settings as variables that make another process have them."""
    fields = {name: getattr(settings, name) for name in Settings.model_fields}
    values = constants.written(fields)
    for name in fields.keys() - constants.Constants.model_fields:
        if fields[name] not in (None, ()):
            values[f"IPUCLOUD_{name.upper()}"] = _written(fields[name])
    return values


def _written(value: object) -> str:
    if isinstance(value, frozenset):
        return ",".join(sorted(value))
    if isinstance(value, tuple) and any(isinstance(each, OidcProvider) for each in value):
        return json.dumps([each.written() for each in value])
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)
