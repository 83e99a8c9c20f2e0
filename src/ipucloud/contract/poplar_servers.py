"""Poplar servers: serial consoles, what a login is for and what ends it, and user data."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from ipucloud.contract.fields import Answer, Shape
from ipucloud.wire.user_data import UserDataProblem, parse


class ConsoleQuery(Shape):
    """Which boot."""

    boot: Annotated[int, Field(ge=-10, le=2_000_000_000)] = Field(
        -1, description="Number of a boot; below 0 counted from the newest, which is -1.", examples=[-1]
    )


class ConsoleBootOut(Answer):
    """One boot of a Poplar server, as its site showed it."""

    number: int = Field(description="Number of the boot, counted from 1 on for each server.", examples=[2])
    boot_id: str = Field(
        description="Its id, as in `/proc/sys/kernel/random/boot_id`.",
        examples=["7c0f8f6e-5d0b-4c3a-9b59-6a1f0f6f1f5e"],
    )
    started_at: datetime = Field(description="When it began.", examples=["2026-05-04T09:14:00Z"])
    ended_at: datetime | None = Field(
        description="When the server was shut down, or its power was cut; null: it runs.", examples=[None]
    )
    bytes: int = Field(description="Length of its text.", examples=[1204])
    dropped_bytes: int = Field(
        description="How much before that is gone: of each boot the last 64 KiB are kept.", examples=[0]
    )
    observed_at: datetime = Field(description="When it was read last.", examples=["2026-05-04T13:14:55Z"])


class ConsoleOut(Answer):
    """The serial console of a Poplar server."""

    poplar_server: str = Field(description="Name of the Poplar server.", examples=["bert-p0"])
    boots: list[ConsoleBootOut] = Field(description="Its last boots, at most 10, the oldest first.")
    boot: int | None = Field(
        description="Number of the boot whose text this is; null: there is no such boot.", examples=[2]
    )
    text: str | None = Field(
        description="What was written to the console in this boot. What is not UTF-8 is replaced; control characters"
        " are not. null: there is no such boot.",
        examples=["[    0.000000] Linux version 5.4.0-216-generic\n"],
    )


LoginPurpose: TypeAlias = Literal["terminal", "services"]
TerminalEnd: TypeAlias = Literal["shell", "client", "idle", "time_limit", "access", "server", "service"]
"""The shell ended; the browser left; nobody typed; it was open for too long; the caller may not log in any more; the
server did not let it in or went away; the API process stopped or was lost."""


def supported_user_data(value: str) -> str:
    """The user data as it is. Raises ValueError for one that a site would not carry out."""
    try:
        parse(value)
    except UserDataProblem as problem:
        raise ValueError(f"the user data is not supported: {problem}") from None
    return value
