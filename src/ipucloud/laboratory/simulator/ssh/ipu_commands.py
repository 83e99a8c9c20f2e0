"""`gc-info`, `gc-inventory`, `gc-monitor` and `vipu` on a simulated Poplar server.

All they show of partitions comes from the V-IPU controller, over its own protocol.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, NoReturn, Protocol

import orjson

from ipucloud.laboratory.simulator.ssh.devices import Devices
from ipucloud.laboratory.simulator.ssh.disk_files import ServerFiles
from ipucloud.laboratory.simulator.ssh.fabric import Fabric
from ipucloud.laboratory.simulator.ssh.health import health_report
from ipucloud.laboratory.simulator.ssh.listing import (
    all_partitions_listing,
    device_document,
    device_info,
    device_listing,
    monitor,
)
from ipucloud.laboratory.simulator.ssh.terminal import CommandProblem, Terminal, Writer
from ipucloud.laboratory.simulator.ssh.visible_devices import devices_of, every_partition
from ipucloud.vipu_cli.endpoint import VipuProblem
from ipucloud.vipu_cli.run import run
from ipucloud.vipu_cli.world import World

_CLI, _IPUOF = "VIPU_CLI_API", "IPUOF_VIPU_API"


class Caller(Protocol):
    """Who calls a command: with which environment, and which files."""

    @property
    def env(self) -> Mapping[str, str]: ...

    @property
    def files(self) -> ServerFiles: ...


IpuProgram = Callable[[Caller, list[str], Terminal], Awaitable[int]]


@dataclass(frozen=True)
class IpuPrograms:
    """The commands of one server; `opened` of its own IPUs are the customer's."""

    fabric: Fabric
    opened: int

    def all(self) -> dict[str, IpuProgram]:
        """The commands by name."""
        return {
            "gc-info": self._gc_info,
            "gc_health_check": self._gc_health_check,
            "gc-inventory": self._gc_inventory,
            "gc-monitor": self._gc_monitor,
            "vipu": self._vipu,
        }

    async def _gc_info(self, caller: Caller, args: list[str], terminal: Terminal) -> int:
        options = _options("gc-info", args, _info_options)
        if options.all_partitions:
            if not options.list_devices:
                raise CommandProblem("gc-info: --all-partitions is an option of --list-devices")
            await terminal.out(all_partitions_listing(await self._every_partition(caller)))
            return 0
        devices = await self._devices(caller)
        if options.ipu_count:
            await terminal.out(f"{len(devices.ipus)}\n")
        elif options.ipu_arch:
            await terminal.out(
                "".join(f"{name}\n" for name in sorted({_architecture(devices, n) for n in _all(devices)}))
            )
        elif options.device_info or options.all:
            await terminal.out(device_info(devices, _selected(devices, options.device_id)))
        else:
            await terminal.out(device_listing(devices))
        return 0

    async def _gc_inventory(self, caller: Caller, args: list[str], terminal: Terminal) -> int:
        _options("gc-inventory", args, _no_options)
        devices = await self._devices(caller)
        await terminal.out(device_info(devices, _all(devices)))
        return 0

    async def _gc_monitor(self, caller: Caller, args: list[str], terminal: Terminal) -> int:
        options = _options("gc-monitor", args, _monitor_options)
        if options.all_partitions and not options.json:
            for each, _ in await self._every_partition(caller):
                await terminal.out(monitor(each, cards=not options.no_card_info))
            return 0
        devices = await self._devices(caller)
        table = device_document(devices) if options.json else monitor(devices, cards=not options.no_card_info)
        await terminal.out(table)
        return 0

    async def _gc_health_check(self, caller: Caller, args: list[str], terminal: Terminal) -> int:
        _options("gc_health_check", args, _no_options)
        report = await health_report(self.fabric, caller.files, at_home(caller))
        await terminal.out(orjson.dumps(report, option=orjson.OPT_INDENT_2).decode() + "\n")
        return 0

    async def _vipu(self, caller: Caller, args: list[str], terminal: Terminal) -> int:
        printed: list[tuple[Writer, str]] = []
        world = World(
            env=_with_ipuof(caller.env),
            out=lambda text: printed.append((terminal.out, text)),
            err=lambda text: printed.append((terminal.err, text)),
            files=caller.files,
            sleep=asyncio.sleep,
        )
        status = await run(args, world, self.fabric.controller)
        for write, text in printed:
            await write(text)
        return status

    async def _devices(self, caller: Caller) -> Devices:
        with _acquiring():
            return await devices_of(self.fabric, caller.files, at_home(caller), self.opened)

    async def _every_partition(self, caller: Caller) -> list[tuple[Devices, bool]]:
        with _acquiring():
            return await every_partition(self.fabric, caller.files, at_home(caller))


@contextmanager
def _acquiring() -> Iterator[None]:
    try:
        yield
    except VipuProblem as problem:
        raise CommandProblem(f"Failed to acquire IPUs: {problem}.") from problem


class IpuParser(argparse.ArgumentParser):
    """Says what is wrong with arguments as a CommandProblem."""

    def error(self, message: str) -> NoReturn:
        raise CommandProblem(f"{self.format_usage()}{self.prog}: {message}")

    def print_help(self, file: IO[str] | None = None) -> NoReturn:  # type: ignore[override]  # help ends parsing
        raise CommandProblem(self.format_help())


def _options(name: str, args: Sequence[str], declare: Callable[[IpuParser], None]) -> argparse.Namespace:
    parser = IpuParser(prog=name, allow_abbrev=False)
    declare(parser)
    return parser.parse_args(args)


def _info_options(parser: IpuParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("-l", "--list-devices", action="store_true", help="every device, of one IPU and of several")
    what.add_argument("-i", "--device-info", action="store_true", help="attributes, of all IPUs or of --device-id")
    what.add_argument("-a", "--all", action="store_true", help="attributes of every IPU")
    what.add_argument("--ipu-count", action="store_true", help="how many IPUs there are")
    what.add_argument("--ipu-arch", action="store_true", help="architecture of the IPUs")
    parser.add_argument("-d", "--device-id", type=int, metavar="ID")
    parser.add_argument("--all-partitions", action="store_true", help="with --list-devices: also of other partitions")


def _monitor_options(parser: IpuParser) -> None:
    parser.add_argument("--no-card-info", action="store_true", help="only the processes")
    parser.add_argument("-j", "--json", action="store_true", help="answer in JSON")
    parser.add_argument("--all-partitions", action="store_true", help="a table for every partition")


def _no_options(parser: IpuParser) -> None:
    """Only help."""


def _all(devices: Devices) -> range:
    return range(len(devices.ipus)) if devices.singles else devices.ids


def _selected(devices: Devices, device_id: int | None) -> Sequence[int]:
    if device_id is None:
        return _all(devices)
    if device_id not in devices.ids:
        raise CommandProblem(f"Failed to acquire IPUs: there is no device {device_id}; ids are 0 to {devices.ids[-1]}.")
    return [device_id]


def _architecture(devices: Devices, device_id: int) -> str:
    return devices.ipus[devices.members(device_id)[0]].attributes.get("ipu architecture", "?")


def at_home(caller: Caller) -> dict[str, str]:
    """The environment, in which IPUOF_CONFIG_PATH no longer depends on where the shell is."""
    path = caller.env.get("IPUOF_CONFIG_PATH")
    return dict(caller.env) | ({"IPUOF_CONFIG_PATH": caller.files.absolute(path)} if path else {})


def _with_ipuof(env: Mapping[str, str]) -> dict[str, str]:
    """The environment, with the controller that programs use for one that `vipu` itself was not given."""
    return {f"{_CLI}_{name}": env[f"{_IPUOF}_{name}"] for name in ("HOST", "PORT") if f"{_IPUOF}_{name}" in env} | dict(
        env
    )
