"""Calls for what simulated sites are asked to break."""

from __future__ import annotations

from ipucloud.client.call import Call, Ref, given, segment
from ipucloud.client.models import Page, SimulatedFault
from ipucloud.client.operator import call as request


def list(
    *, region: str | None = None, ended: bool | None = None, limit: int | None = None
) -> Call[Page[SimulatedFault]]:
    """What simulated sites were asked to break, oldest first; `ended`: what has ended or failed, or what has not."""
    return request.get("simulated-faults", Page[SimulatedFault], region=region, ended=ended, limit=limit)


def create(kind: str, name: str, *, link: str | None = None) -> Call[SimulatedFault]:
    """Break something at a simulated site; a worker asks it.

    `kind`: `machine`, `link`, `host` or `controllers`, with the name of the machine, host or region.
    """
    return request.post("simulated-faults", SimulatedFault, given(kind=kind, name=name, link=link))


def end(fault: Ref) -> Call[SimulatedFault]:
    """End a fault of a simulated site."""
    return request.post(f"simulated-faults/{segment(fault)}:end", SimulatedFault, {})
