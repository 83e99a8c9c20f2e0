"""The simulated site that commands work on: that of a running `ipucloud up`, or the one that the settings name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import TypeVar

import httpx
from pydantic import BaseModel

from ipucloud.cli.service.connections import revealed, running_at
from ipucloud.cli.service.failures import CommandError
from ipucloud.config import Settings
from ipucloud.wire import vipu_admin_pb2, vipu_pb2
from ipucloud.wire.faults import (
    HTTP_CALLS,
    Broken,
    FaultList,
    FaultRule,
    HardwareShown,
    HardwareShownList,
    LinkFault,
    SensorReading,
    ServersConfinement,
)
from ipucloud.wire.inventory import Inventory

CALL_SECONDS = 20.0
SUGGESTED = 5
_OF_GRPC = (("vipu", vipu_pb2.DESCRIPTOR), ("admin", vipu_admin_pb2.DESCRIPTOR))

Answer = TypeVar("Answer", bound=BaseModel)

CALLS: Sequence[str] = (
    *HTTP_CALLS,
    *(
        f"{prefix}.{method.name}"
        for prefix, file in _OF_GRPC
        for service in file.services_by_name.values()
        for method in service.methods
    ),
)
"""The names of calls that a fault rule can match."""

CLOCK = "clock"
"""The call of rules that break hardware at a time."""


class SimulatorError(CommandError):
    """The site refused, does not answer, or has no object of this name."""


class SimulatedSite:
    """What a person does to a simulated site. Every method raises SimulatorError."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._http = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=CALL_SECONDS,
            trust_env=False,
            verify=httpx.URL(url).scheme == "https",
        )

    def close(self) -> None:
        self._http.close()

    def rules(self) -> list[FaultRule]:
        return self._read("/v1/faults", FaultList).faults

    def add(self, rule: FaultRule) -> FaultRule:
        """Put a rule in force; the answer has its id."""
        if rule.call not in (*CALLS, CLOCK) and not any(each in rule.call for each in "*?["):
            raise SimulatorError(_unknown("call", rule.call, CALLS))
        return FaultRule.model_validate_json(self._call("POST", "/v1/faults", rule).content)

    def lift(self, rule_id: str | None) -> None:
        """Remove one rule, or all of them. Hardware that is broken stays so."""
        self._call("DELETE", "/v1/faults" if rule_id is None else f"/v1/faults?id={rule_id}")

    def machine(self, name: str) -> str:
        """The full name of a machine, given by it or by an end of it that only one machine has."""
        return _only("machine", name, self.machines())

    def host(self, name: str) -> str:
        return _only("host", name, [host.name for region in self._inventory().regions for host in region.hosts])

    def hardware(self, name: str) -> str:
        """The full name of a machine or host."""
        hosts = [host.name for region in self._inventory().regions for host in region.hosts]
        return _only("machine or host", name, {*self.machines(), *hosts})

    def region(self, name: str) -> str:
        return _only("region", name, [region.region for region in self._inventory().regions if region.by_name])

    def controller(self, name: str) -> str:
        known = [each for region in self._inventory().regions for each in region.by_name]
        return _only("V-IPU controller", name, known)

    def machines(self) -> list[str]:
        regions = self._inventory().regions
        return [machine.name for region in regions for pod in region.pods for machine in pod.machines]

    def broken(self) -> Broken:
        """The hardware that does not work as usual."""
        return self._read("/v1/broken", Broken)

    def change(self, kind: str, name: str, verb: str) -> None:
        """`fail` or `repair` one of the `machines` or `hosts`, or have one of the `controllers` `forget`."""
        self._call("POST", f"/v1/{kind}/{name}:{verb}")

    def shown(self) -> list[HardwareShown]:
        """What hardware shows in place of what it was built with."""
        return self._read("/v1/hardware", HardwareShownList).hardware

    def confinement(self) -> ServersConfinement:
        """What confines the programs of Poplar servers."""
        return self._read("/v1/confinement", ServersConfinement)

    def show(self, name: str, **changes: object) -> None:
        """Let hardware show something else, besides what it shows otherwise already."""
        before = next((each for each in self.shown() if each.name == name), HardwareShown())
        self._call("PUT", f"/v1/hardware/{name}", before.model_copy(update=changes))

    def exchange_part(self, name: str, part: str, serial: str) -> None:
        """Let a part of a machine show another serial number."""
        before = next((each.part_serials for each in self.shown() if each.name == name), None) or {}
        self.show(name, part_serials=before | {part: serial})

    def show_as_built(self, name: str) -> None:
        self._call("DELETE", f"/v1/hardware/{name}")

    def place(self, machine: str) -> tuple[str, int]:
        """The pod and slot of a machine, as it was built."""
        pods = (pod for region in self._inventory().regions for pod in region.pods)
        return next((pod.name, each.slot) for pod in pods for each in pod.machines if each.name == machine)

    def change_link(self, machine: str, kind: str, verb: str, fault: LinkFault | None = None) -> None:
        self._call("POST", f"/v1/machines/{machine}/links/{kind}:{verb}", fault)

    def set_sensor(self, machine: str, sensor: str, reading: float) -> None:
        self._call("PUT", f"/v1/machines/{machine}/sensors/{sensor}", SensorReading(reading=reading))

    def _inventory(self) -> Inventory:
        return self._read("/v1/inventory", Inventory)

    def _read(self, path: str, model: type[Answer]) -> Answer:
        return model.model_validate_json(self._call("GET", path).content)

    def _call(self, method: str, path: str, body: BaseModel | None = None) -> httpx.Response:
        content = None if body is None else body.model_dump_json()
        try:
            response = self._http.request(method, path, content=content)
        except httpx.HTTPError as error:
            raise SimulatorError(f"The simulated site at {self._url} does not answer: {error}.") from None
        if response.is_success:
            return response
        raise SimulatorError(self._refusal(response))

    def _refusal(self, response: httpx.Response) -> str:
        if response.headers.get("content-type", "").startswith("application/problem+json"):
            return f"The simulated site refused: {response.json()['detail']}."
        return f"The site at {self._url} answers with {response.status_code}; it is not a simulated one."


def site_at_hand(settings: Settings) -> SimulatedSite:
    """The site that the settings name, else that of the system that runs from the data directory.

    Raises SimulatorError.
    """
    running = None if settings.site_url is not None else running_at(settings.data_dir)
    effective = settings if running is None else running.settings
    if effective.site_url is None:
        raise SimulatorError(
            f"No `ipucloud up` runs from {settings.data_dir}. Start it; set IPUCLOUD_DATA_DIR to its data directory, "
            "or IPUCLOUD_SITE_URL and IPUCLOUD_SITE_TOKEN."
        )
    if running is not None and "site_token" in running.missing:
        raise SimulatorError(running.advice)
    return SimulatedSite(effective.site_url, revealed(effective.site_token))


def _only(noun: str, name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    if name in names:
        return name
    matches = [each for each in names if each.endswith(f"-{name}")]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise SimulatorError(f"{len(matches)} {noun}s end with {name}. Give the whole name: {_listed(matches)}.")
    raise SimulatorError(_unknown(noun, name, names))


def _unknown(noun: str, name: str, known: Iterable[str]) -> str:
    nearest = sorted(known, key=lambda each: -SequenceMatcher(None, name, each).ratio())
    return f"There is no {noun} {name}. Nearest first: {_listed(nearest)}."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:SUGGESTED]) + (", …" if len(names) > SUGGESTED else "")
