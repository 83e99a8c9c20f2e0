"""Calls for the hardware of regions: capacity, what sites show, health reports, freezes, simulated faults."""

from __future__ import annotations

from datetime import datetime

from ipucloud.client.call import Call, Ref, segment, without_none
from ipucloud.client.models import (
    Controller,
    Defragmentation,
    Freeze,
    HealthReport,
    Observation,
    Page,
    Pod,
    RegionCapacity,
    SimulatedFault,
    SiteFinding,
)
from ipucloud.client.operator import call as request


class capacity:
    """Calls for room: what fits into a region, and which moves would make more."""

    @staticmethod
    def get(region: str) -> Call[RegionCapacity]:
        """Machines by state, what fits, free blocks, fragmentation and expiries of a region."""
        return request.get(f"regions/{segment(region)}/capacity", RegionCapacity)

    @staticmethod
    def defragmentation(region: str, *, flavor: str) -> Call[Defragmentation]:
        """The cheapest moves of clusters after which one more of a flavor fits; nothing is changed."""
        return request.get(f"regions/{segment(region)}/defragmentation", Defragmentation, flavor=flavor)

    @staticmethod
    def pods(
        *, region: str | None = None, rack: str | None = None, machine_type: str | None = None, limit: int | None = None
    ) -> Call[Page[Pod]]:
        """Pods with their masks of slots, largest free block and health, by name."""
        return request.get("pods", Page[Pod], region=region, rack=rack, machine_type=machine_type, limit=limit)


class sites:
    """Calls for what sites show: observations, controllers, and where they disagree with the database."""

    @staticmethod
    def observations(*, limit: int | None = None) -> Call[Page[Observation]]:
        """When each region was last observed by each source, how many objects answered, and errors."""
        return request.get("observations", Page[Observation], limit=limit)

    @staticmethod
    def controllers(*, limit: int | None = None) -> Call[Page[Controller]]:
        """The V-IPU controllers: where they are, what they run and can do, and whether they answer."""
        return request.get("controllers", Page[Controller], limit=limit)

    @staticmethod
    def findings(
        *, region: str | None = None, rule: str | None = None, limit: int | None = None
    ) -> Call[Page[SiteFinding]]:
        """Where sites and database disagree, as the last sweep found it, and why it left what it left."""
        return request.get("site-findings", Page[SiteFinding], region=region, rule=rule, limit=limit)


class health_reports:
    """Calls for health reports: what is wrong with machines and hosts."""

    @staticmethod
    def list(
        *,
        region: str | None = None,
        machine: str | None = None,
        host: str | None = None,
        code: str | None = None,
        source: str | None = None,
        state: str | None = None,
        limit: int | None = None,
    ) -> Call[Page[HealthReport]]:
        """What is wrong with machines and hosts, oldest first; `state`: `suspected`, `live`, or `cleared`: past."""
        filters = {"region": region, "machine": machine, "host": host, "code": code, "source": source, "state": state}
        return request.get("health-reports", Page[HealthReport], **filters, limit=limit)

    @staticmethod
    def get(report: Ref) -> Call[HealthReport]:
        """One health report."""
        return request.get(f"health-reports/{segment(report)}", HealthReport)

    @staticmethod
    def clear(report: Ref) -> Call[HealthReport]:
        """End a health report; observation reports the same again if it is still seen."""
        return request.post(f"health-reports/{segment(report)}:clear", HealthReport)


class freezes:
    """Calls for freezes, in which nothing is removed or switched off."""

    @staticmethod
    def list(*, state: str | None = None, region: str | None = None, limit: int | None = None) -> Call[Page[Freeze]]:
        """When removals were frozen, oldest first; `state`: `live`, `expired` or `ended`."""
        return request.get("freezes", Page[Freeze], state=state, region=region, limit=limit)

    @staticmethod
    def create(*, reason: str, expires_at: datetime, region: str | None = None) -> Call[Freeze]:
        """Remove and switch off nothing in a region, or anywhere, until the freeze ends."""
        return request.post("freezes", Freeze, without_none(region=region, reason=reason, expires_at=expires_at))

    @staticmethod
    def end(freeze: Ref, *, reason: str) -> Call[Freeze]:
        """End a freeze; steps that waited go on by themselves."""
        return request.post(f"freezes/{segment(freeze)}:end", Freeze, {"reason": reason})


class simulated_faults:
    """Calls for what simulated sites are asked to break."""

    @staticmethod
    def list(
        *, region: str | None = None, ended: bool | None = None, limit: int | None = None
    ) -> Call[Page[SimulatedFault]]:
        """What simulated sites were asked to break, oldest first; `ended`: what has ended or failed, or has not."""
        return request.get("simulated-faults", Page[SimulatedFault], region=region, ended=ended, limit=limit)

    @staticmethod
    def create(kind: str, name: str, *, link: str | None = None) -> Call[SimulatedFault]:
        """Break something at a simulated site; a worker asks it.

        `kind`: `machine`, `link`, `host` or `controllers`, with the name of the machine, host or region.
        """
        return request.post("simulated-faults", SimulatedFault, without_none(kind=kind, name=name, link=link))

    @staticmethod
    def end(fault: Ref) -> Call[SimulatedFault]:
        """End a fault of a simulated site."""
        return request.post(f"simulated-faults/{segment(fault)}:end", SimulatedFault, {})
