"""`gc-info`, `gc-monitor` and `vipu` on a simulated Poplar server. All they tell comes from the V-IPU controller."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ipucloud.simulator.hardware import Machine
from ipucloud.simulator.ssh.listing import device_listing, monitor_table, partition_table
from ipucloud.simulator.ssh.shell import CommandProblem, Program, Shell
from ipucloud.simulator.ssh.terminal import Terminal
from ipucloud.simulator.ssh.vipu_client import Channels, VipuClient, VipuProblem
from ipucloud.simulator.vipu.attributes import board_serial, board_type
from ipucloud.simulator.vipu.devices import VIPU_VERSION
from ipucloud.wire import vipu_pb2 as pb


@dataclass(frozen=True)
class Fabric:
    """What one server reaches: controllers by `channels`, machines by RNIC address through its tenant network."""

    channels: Channels
    machine_at: Callable[[str], Machine | None]

    def client(self, env: Mapping[str, str], *, max_timeout: float = 120.0) -> VipuClient:
        return VipuClient(self.channels, env, max_timeout=max_timeout)

    async def config(self, client: VipuClient) -> pb.PartitionConfig:
        """The server's partition, once every machine of it was reached. Raises VipuProblem, which names the cause."""
        config = await client.config()
        for gcd in config.gcd_configs:
            for device in gcd.devices:
                if self.machine_at(device.ip) is None:
                    raise VipuProblem(
                        f"IPU-M {device.ip} of partition {client.partition_id!r} is unreachable from this server"
                    )
        return config

    def programs(self) -> dict[str, Program]:
        """The commands, bound to what this server reaches."""
        return {"gc-info": self._gc_info, "gc-monitor": self._gc_monitor, "vipu": self._vipu}

    async def _gc_info(self, shell: Shell, args: list[str], terminal: Terminal) -> int:
        if args not in (["-l"], ["--list-devices"], ["--ipu-count"]):
            raise CommandProblem("usage: gc-info -l | --list-devices | --ipu-count")
        client = self.client(shell.env)
        config = await self._asked(client)
        if args == ["--ipu-count"]:
            terminal.out(f"{sum(len(gcd.devices) for gcd in config.gcd_configs)}\n")
        else:
            terminal.out(device_listing(client.partition_id, config))
        return 0

    async def _gc_monitor(self, shell: Shell, args: list[str], terminal: Terminal) -> int:
        if args:
            raise CommandProblem("usage: gc-monitor")
        client = self.client(shell.env)
        config = await self._asked(client)
        reached = [
            (machine, device.ipu_id)
            for gcd in config.gcd_configs
            for device in gcd.devices
            if (machine := self.machine_at(device.ip)) is not None
        ]
        serials = [board_serial(machine.name, ipu) for machine, ipu in reached]
        board = board_type(reached[0][0]) if reached else ""
        terminal.out(monitor_table(client.partition_id, config, board, serials))
        return 0

    async def _vipu(self, shell: Shell, args: list[str], terminal: Terminal) -> int:
        if args == ["--version"]:
            terminal.out(f"vipu version {VIPU_VERSION}\n")
            return 0
        if args not in (["list", "partitions"], ["list", "partition"]):
            raise CommandProblem("usage: vipu list partitions | vipu --version")
        try:
            terminal.out(partition_table(await self.client(shell.env).partitions()))
        except VipuProblem as problem:
            raise CommandProblem(f"list partitions: failed: {problem}") from problem
        return 0

    async def _asked(self, client: VipuClient) -> pb.PartitionConfig:
        try:
            return await self.config(client)
        except VipuProblem as problem:
            raise CommandProblem(f"Failed to acquire IPUs: {problem}.") from problem
