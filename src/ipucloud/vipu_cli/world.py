"""What surrounds a command, and how one is run to its exit status."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from ipucloud.vipu_cli.configured import endpoint_of
from ipucloud.vipu_cli.controller import Controller
from ipucloud.vipu_cli.endpoint import Endpoint, VipuProblem
from ipucloud.vipu_cli.files import Files
from ipucloud.vipu_cli.parser import Usage
from ipucloud.vipu_cli.show import printable
from ipucloud.vipu_cli.waiting import Sleep

VERSION = "1.18.0"
"""The vendor's version that the commands follow."""

FAILED = 1

Connected = TypeVar("Connected", bound=Controller)


@dataclass(frozen=True)
class World:
    """Environment of a command; `files` are the caller's."""

    env: Mapping[str, str]
    out: Callable[[str], object]
    err: Callable[[str], object]
    files: Files
    sleep: Sleep
    prog: str = "vipu"


Act = Callable[[World, Connected, argparse.Namespace], Awaitable[None]]


async def run_command(
    world: World,
    parse: Callable[[], argparse.Namespace],
    connect: Callable[[Endpoint], Connected],
    chosen: Callable[[argparse.Namespace], tuple[Act[Connected], str]],
) -> int:
    """The exit status: 0 done, 1 failed with the cause on standard error, 2 invalid command line.

    `connect` opens a controller. `chosen` answers what options mean: what to do, and its name in error messages.
    """
    try:
        options = parse()
    except Usage as usage:
        (world.err if usage.status else world.out)(str(usage))
        return usage.status
    if options.version:
        world.out(f"{world.prog} version {VERSION}\n")
        return 0
    act, what = chosen(options)
    try:
        endpoint = endpoint_of(options, world.env, world.files)
        if endpoint.security.plaintext and endpoint.access_key:
            world.err(f"{world.prog}: warning: the access key is sent unencrypted, as --plaintext asks for.\n")
        await act(world, connect(endpoint), options)
    except VipuProblem as problem:
        world.err(f"{what}: failed: {printable(str(problem))}.\n")
        return FAILED
    return 0
