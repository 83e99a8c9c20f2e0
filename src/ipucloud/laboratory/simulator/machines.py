"""Power and health of the IPU machines, in the shape of Redfish."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from ipucloud.laboratory.simulator.clock import Clock
from ipucloud.laboratory.simulator.durations import Action, Durations
from ipucloud.laboratory.simulator.hardware import Machine, ServerPlan
from ipucloud.laboratory.simulator.identities import Identities
from ipucloud.laboratory.simulator.refusal import not_found, precondition
from ipucloud.laboratory.simulator.sensors import LIMITS, beyond_limits, measured
from ipucloud.laboratory.simulator.state import MachineRecord, Power
from ipucloud.wire.inventory import LinkState
from ipucloud.wire.redfish import RedfishLog, RedfishLogEntry, RedfishMetrics, RedfishStatus, RedfishSystem


class Machines:
    """Every machine of the site. Only machines that were touched have a record: others are healthy and `initial`.

    A server with IPUs of its own is on when its host is: `host_is_on` answers whether it is. `is_busy`: whether a
    program holds this IPU of a machine; `worst_link`: the state of the worst link that begins at a machine.
    """

    def __init__(
        self,
        machines: dict[str, Machine],
        records: dict[str, MachineRecord],
        *,
        initial: Power,
        clock: Clock,
        durations: Durations,
        changed: Callable[[], None],
        host_is_on: Callable[[str], bool],
        identities: Identities,
        is_busy: Callable[[tuple[str, int]], bool],
        worst_link: Callable[[str], LinkState],
    ) -> None:
        self._machines = machines
        self._records = records
        self._initial: Power = initial
        self._clock = clock
        self._durations = durations
        self._changed = changed
        self._host_is_on = host_is_on
        self._identities = identities
        self._is_busy = is_busy
        self._worst_link = worst_link
        self._servers = frozenset(name for name, machine in machines.items() if isinstance(machine.region, ServerPlan))

    def get(self, name: str) -> Machine:
        machine = self._machines.get(name)
        if machine is None:
            raise not_found(f"machine {name!r} does not exist")
        return machine

    def reachable(self, name: str) -> bool:
        """Whether the machine is on and its agent answers."""
        if self._identities.is_hidden(name):
            return False
        record = self._records.get(name)
        if record is None and name not in self._servers:
            return self._initial == "On"  # most machines were never touched, and are asked about all the time
        return self._power_of(name) == "On" and not (record is not None and record.failed)

    def system(self, name: str) -> RedfishSystem:
        """The machine as its BMC shows it."""
        if self._identities.is_hidden(name):
            raise not_found(f"the BMC of machine {name!r} does not answer")
        if self._identities.is_surplus(name):
            record, power, shown = None, "Off", self._identities.surplus_machine(name)
        else:
            shown = self._identities.of_machine(name, self.get(name).region.model)
            record, power = self._records.get(name), self._power_of(name)
        return RedfishSystem(
            Id=name,
            Name=name,
            Model=shown.model,
            SerialNumber=shown.serial_number,
            PowerState=power,
            Status=RedfishStatus(
                State="Enabled" if power == "On" else "StandbyOffline",
                Health="Critical" if record is not None and record.failed else "OK",
            ),
            BiosVersion=shown.firmware,
            Firmware=shown.parts,
            Serials=shown.serials,
            Sensors=beyond_limits(record.readings) if record is not None else [],
            Metrics=self._metrics(name) if power == "On" and not (record is not None and record.failed) else None,
        )

    def _metrics(self, name: str) -> RedfishMetrics:
        machine = self._machines[name]
        plan = machine.region
        ipus = plan.ipus if isinstance(plan, ServerPlan) else len(machine.topology_ids)
        busy = tuple(number for number in range(ipus) if self._is_busy((name, number)))
        metrics = measured(name, ipus, busy, self._worst_link(name))
        if (shown := self.readings(name).get("die_temperature")) is not None:
            return metrics.model_copy(update={"TemperatureCelsius": shown})
        return metrics

    def log(self, name: str) -> RedfishLog:
        """What the machine's BMC has logged: changes of power, failures, and sensors beyond their limits."""
        if self._identities.is_hidden(name):
            raise not_found(f"the BMC of machine {name!r} does not answer")
        if not self._identities.is_surplus(name):
            self.get(name)
        record = self._records.get(name)
        if record is None:
            return RedfishLog(Members=[])
        self._reconcile(name, record)
        return RedfishLog(
            Members=[
                RedfishLogEntry(
                    Id=str(line.number),
                    Created=datetime.fromtimestamp(line.at, UTC),
                    Severity=line.severity,
                    Message=line.message,
                )
                for line in record.log
            ]
        )

    def reset(self, name: str, reset_type: str) -> None:
        """Start a change of power. Turning on a machine that is on, or off one that is off, changes nothing."""
        if self._is_server(name):
            raise precondition(f"server {name!r} is switched by the power actions of its host")
        record = self._record(name)
        self._reconcile(name, record)
        if reset_type == "On":
            if record.power in {"Off", "PoweringOff"}:
                self._power(name, record, "PoweringOn", Action.MACHINE_POWER_ON)
        elif record.power != "Off":
            self._power(name, record, "PoweringOff", Action.MACHINE_POWER_OFF)
            record.then_on = reset_type == "PowerCycle"
        elif reset_type == "PowerCycle":
            self._power(name, record, "PoweringOn", Action.MACHINE_POWER_ON)

    def fail(self, name: str) -> None:
        """Break the machine: its agent stops answering and its health is Critical."""
        record = self._record(name)
        if not record.failed:
            record.failed = True
            record.note(self._clock.now(), "Critical", "Machine check: the system does not respond.")
        self._changed()

    def hang(self, name: str) -> None:
        """Let the machine begin changes of power, and finish none."""
        self._record(name).hangs = True
        self._changed()

    def repair(self, name: str) -> None:
        """Repair the machine; its sensors show usual values again."""
        record = self._record(name)
        if record.failed or record.hangs or record.readings:
            record.note(self._clock.now(), "OK", "The system was serviced; its health is OK.")
        record.failed = record.hangs = False
        record.readings.clear()
        self._changed()

    def broken(self) -> list[str]:
        """The machines of which `repair` changes anything."""
        records = self._records.items()
        return [name for name, record in records if record.failed or record.hangs or record.readings]

    def show(self, name: str, sensor: str, reading: float) -> None:
        """Let a sensor of the machine's BMC show this."""
        if sensor not in LIMITS:
            raise not_found(f"sensor {sensor!r} does not exist; there are {', '.join(LIMITS)}")
        record = self._record(name)
        record.readings[sensor] = reading
        for shown in beyond_limits({sensor: reading}):
            record.note(self._clock.now(), shown.Health, f"Sensor {sensor} reads {reading:g} Cel, beyond its limit.")
        self._changed()

    def readings(self, name: str) -> Mapping[str, float]:
        """What those sensors of a machine show that were set."""
        record = self._records.get(name)
        return {} if record is None else record.readings

    def _is_server(self, name: str) -> bool:
        return self.get(name).name in self._servers

    def _power_of(self, name: str) -> Power:
        if self._is_server(name):
            return "On" if self._host_is_on(name) else "Off"
        record = self._records.get(name)
        if record is None:
            return self._initial
        self._reconcile(name, record)
        return record.power

    def _record(self, name: str) -> MachineRecord:
        self.get(name)
        return self._records.setdefault(name, MachineRecord(self._initial))

    def _power(self, name: str, record: MachineRecord, power: Power, action: Action) -> None:
        record.power = power
        record.then_on = False
        record.due = self._clock.now() + self._durations.seconds(action, name)
        self._changed()

    def _reconcile(self, name: str, record: MachineRecord) -> None:
        while not record.hangs and record.due is not None and record.due <= self._clock.now():
            if record.power == "PoweringOn":
                record.note(record.due, "OK", "The system was powered on.")
                record.power, record.due = "On", None
            elif record.then_on:
                record.note(record.due, "OK", "The system was powered off.")
                self._power(name, record, "PoweringOn", Action.MACHINE_POWER_ON)
            else:
                record.note(record.due, "OK", "The system was powered off.")
                record.power, record.due = "Off", None
            self._changed()
