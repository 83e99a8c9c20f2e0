"""What the sensors of a machine show. Pure: a chip's own constant, derived from its name, and whether it works.

The levels are our choice, of the size that such boards have; nothing in the control plane depends on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Literal

from ipucloud.wire.inventory import LinkState
from ipucloud.wire.redfish import RedfishMetrics, RedfishSensor

_ERRORS = {LinkState.UP: 0, LinkState.DEGRADED: 1000, LinkState.DOWN: 100_000}


@dataclass(frozen=True)
class Sensors:
    """One IPU: temperatures of its board and die, and what it draws."""

    board_celsius: float
    die_celsius: float
    watts: float


IDLE = Sensors(29.0, 36.0, 48.0)
"""Of an IPU that no program holds, whether a partition has it or not."""
BUSY = Sensors(36.0, 62.0, 120.0)
"""Of an IPU that a program holds: nothing is computed on it, but it shows what it would under load."""
UTILISATION = 87.0
"""Percent of an IPU that a program holds."""
SPREAD = 0.06


LIMITS = {"inlet_temperature": (40.0, 50.0), "die_temperature": (90.0, 105.0)}
"""Of a machine's BMC: above the first value in °C a sensor's health is Warning, above the second Critical."""


def beyond_limits(readings: Mapping[str, float]) -> list[RedfishSensor]:
    """The sensors, of those with these readings, whose health is not OK."""
    return [
        RedfishSensor(Name=name, Reading=reading, ReadingUnits="Cel", Health=health)
        for name, reading in sorted(readings.items())
        if (health := _health(*LIMITS[name], reading)) != "OK"
    ]


def _health(caution: float, critical: float, reading: float) -> Literal["OK", "Warning", "Critical"]:
    if reading > critical:
        return "Critical"
    return "Warning" if reading > caution else "OK"


def sensors_of(machine: str, ipu: int, *, busy: bool = False) -> Sensors:
    """The usual readings of an IPU's sensors; `busy`: a program holds it."""
    factor, usual = 1.0 + SPREAD * _deviation(machine, ipu), BUSY if busy else IDLE
    return Sensors(
        round(usual.board_celsius * factor, 1), round(usual.die_celsius * factor, 1), round(usual.watts * factor, 1)
    )


def utilisation_of(machine: str, ipu: int, *, busy: bool) -> float:
    """How busy an IPU is, in percent."""
    return round(UTILISATION * (1.0 + SPREAD * _deviation(machine, ipu)), 2) if busy else 0.0


def correctable_errors(machine: str, ipu: int, links: LinkState) -> int:
    """How many link errors an IPU has counted, when the worst link of its machine is in this state."""
    return round(_ERRORS[links] * (1.0 + SPREAD * _deviation(machine, ipu)))


@lru_cache(maxsize=65_536)
def measured(machine: str, ipus: int, busy: tuple[int, ...], links: LinkState) -> RedfishMetrics:
    """What a machine with so many IPUs measures, while programs hold those of the numbers `busy`."""
    sensors = [sensors_of(machine, ipu, busy=ipu in busy) for ipu in range(ipus)]
    used = [utilisation_of(machine, ipu, busy=ipu in busy) for ipu in range(ipus)]
    return RedfishMetrics(
        BandwidthPercent=round(sum(used) / ipus, 2),
        ConsumedPowerWatt=round(sum(each.watts for each in sensors), 1),
        TemperatureCelsius=max(each.die_celsius for each in sensors),
        CorrectableErrorCount=sum(correctable_errors(machine, ipu, links) for ipu in range(ipus)),
    )


@lru_cache(maxsize=4096)
def _deviation(machine: str, ipu: int) -> float:
    digest = blake2b(f"sensors:{machine}/{ipu}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") / 2**31 - 1.0
