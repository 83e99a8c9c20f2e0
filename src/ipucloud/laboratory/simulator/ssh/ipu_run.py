"""`ipu-run`: runs a command that holds IPUs, as a program holds those it has attached to through Poplar.

Which IPUs there are, it learns as `gc-info` does: from the environment or the IPUoF configuration, and from the
controller. They are held until the command and all that keeps its connection have ended, however they end.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from ipucloud.laboratory.simulator.ssh.activity import Activity
from ipucloud.laboratory.simulator.ssh.attachments import Holder, Ipu, Load
from ipucloud.laboratory.simulator.ssh.devices import Devices
from ipucloud.laboratory.simulator.ssh.fabric import Fabric
from ipucloud.laboratory.simulator.ssh.ipu_commands import Caller, IpuParser, at_home
from ipucloud.laboratory.simulator.ssh.terminal import CommandProblem
from ipucloud.laboratory.simulator.ssh.visible_devices import GCD_ID, PARTITION_ID, devices_of
from ipucloud.vipu_cli.endpoint import VipuProblem

NAME = "ipu-run"
REFUSED = 125
"""It was called wrongly, or there are no such IPUs; as with `env` and `timeout`, no status of a command."""
BUSY = 75
"""The IPUs are in use: a later attempt may succeed (EX_TEMPFAIL)."""
DEVICE_IDS = "IPUCLOUD_DEVICE_IDS"
"""The variable that tells a command which devices it holds: their ids, separated by commas."""


@dataclass(frozen=True)
class Attached:
    """IPUs that a command holds. `environment`: what it finds in its own beside what the caller has."""

    command: Sequence[str]
    environment: dict[str, str]
    leave: Callable[[], None]


@dataclass(frozen=True)
class IpuRun:
    """The command of one server; `opened` of its own IPUs are the customer's."""

    fabric: Fabric
    opened: int
    user: str
    activity: Activity

    async def attach(self, caller: Caller, args: list[str], process: int) -> Attached:
        """Take the IPUs that the arguments ask for. Raises CommandProblem."""
        options, command = _parsed(args)
        env = at_home(caller)
        if options.gcd is not None:
            env[GCD_ID] = str(options.gcd)
        try:
            devices = await devices_of(self.fabric, caller.files, env, self.opened)
        except VipuProblem as problem:
            raise _refused(f"{problem}") from problem
        if options.gcd is not None:
            _check_gcd(devices, options.gcd)
        load = self.fabric.load
        numbers = _chosen(devices, options.num_ipus, load)
        # Nothing is awaited between the choice and this: of two commands, the second finds the IPUs taken.
        ipus = [devices.ipus[number].ipu for number in numbers]
        holder = Holder(load.server, process, PurePosixPath(command[0]).name, self.user, load.attachments.now())
        load.attachments.acquire(ipus, holder)
        self.activity.attach(len(ipus))
        return Attached(command, _environment(devices, numbers), lambda: self._leave(ipus))

    def _leave(self, ipus: Sequence[Ipu]) -> None:
        self.fabric.load.attachments.leave(ipus)
        self.activity.attach(-len(ipus))


def _parsed(args: list[str]) -> tuple[argparse.Namespace, list[str]]:
    parser = IpuParser(prog=NAME, allow_abbrev=False, usage=f"{NAME} [--num-ipus N] [--gcd N] -- COMMAND...")
    parser.add_argument("--num-ipus", type=int, metavar="N", help="attach to a device of N IPUs; else to all there are")
    parser.add_argument("--gcd", type=int, metavar="N", help=f"the graph compile domain, in place of {GCD_ID}")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    try:
        options = parser.parse_args(args)
        command = options.command[1:] if options.command[:1] == ["--"] else options.command
        if not command:
            parser.error("no command is given")
        if options.num_ipus is not None and options.num_ipus < 1:
            parser.error("--num-ipus must be 1 or more")
        if options.gcd is not None and options.gcd < 0:
            parser.error("--gcd must be 0 or more")
    except CommandProblem as problem:
        raise CommandProblem(str(problem), REFUSED) from problem
    return options, command


def _check_gcd(devices: Devices, gcd: int) -> None:
    """The GCD of a configuration file, and of a server with IPUs of its own, cannot be chosen."""
    if devices.partition is None:
        if gcd != 0:
            raise _refused(f"this server's own IPUs are one graph compile domain, 0, not {gcd}")
    elif devices.partition.gcd != gcd and not (devices.partition.gcd is None and gcd == 0):
        raise _refused(f"the IPUoF configuration file is that of another graph compile domain than {gcd}")


def _chosen(devices: Devices, count: int | None, load: Load) -> Sequence[int]:
    """The IPUs of the first free device of the wanted size. Refuses, with what there is."""
    _check_one_gcd(devices)
    candidates = [members for device in devices.ids for members in [devices.members(device)]]
    sizes = sorted({len(members) for members in candidates})
    count = sizes[-1] if count is None else count
    where = _where(devices)
    if count > len(devices.ipus):
        raise _refused(f"{count} IPUs are wanted, and {where} has {len(devices.ipus)}")
    fitting = [members for members in candidates if len(members) == count]
    if not fitting:
        raise _refused(f"{where} has no device of {count} IPUs: there are devices of {', '.join(map(str, sizes))}")
    for members in fitting:
        busy = [number for number in members if load.is_busy(devices.ipus[number].ipu)]
        if not busy:
            _check_health(devices, members)
            return members
    raise CommandProblem(_busy(devices, count, where, load), BUSY)


def _check_one_gcd(devices: Devices) -> None:
    partition = devices.partition
    if partition is not None and partition.gcd is None and len(partition.config.gcd_configs) > 1:
        gcds = len(partition.config.gcd_configs)
        raise _refused(
            f"partition {partition.id!r} has {gcds} graph compile domains, and a program attaches to one of them:"
            f" choose one by --gcd or {GCD_ID}, 0 to {gcds - 1}"
        )


def _check_health(devices: Devices, members: Sequence[int]) -> None:
    for number in members:
        state = devices.ipus[number].attributes.get("ipu error state", "no errors")
        if state != "no errors":
            raise _refused(f"IPU {number} does not work: {state}")


def _where(devices: Devices) -> str:
    partition = devices.partition
    if partition is None:
        return "this server"
    return f"partition {partition.id!r}" if partition.gcd is None else f"GCD {partition.gcd} of {partition.id!r}"


def _busy(devices: Devices, count: int, where: str, load: Load) -> str:
    """Who has them, as far as this server may know."""
    holders = dict.fromkeys(load.attachments.holder(ipu.ipu) for ipu in devices.ipus)
    names = [
        f"{holder.command} (process {holder.process})" if holder.server == load.server else "another server"
        for holder in holders
        if holder is not None
    ]
    return (
        f"Failed to attach to IPUs: no device of {count} IPUs of {where} is free; in use by"
        f" {', '.join(dict.fromkeys(names))}."
    )


def _refused(why: str) -> CommandProblem:
    return CommandProblem(f"Failed to attach to IPUs: {why}.", REFUSED)


def _environment(devices: Devices, members: Sequence[int]) -> dict[str, str]:
    environment = {DEVICE_IDS: ",".join(map(str, members))}
    partition = devices.partition
    if partition is not None:
        environment[PARTITION_ID] = partition.id
        if partition.gcd is not None:
            environment[GCD_ID] = str(partition.gcd)
    return environment
