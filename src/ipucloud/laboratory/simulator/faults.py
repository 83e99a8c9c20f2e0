"""Fault rules: what goes wrong on purpose. They are an experiment's instrument, not state, so a restart lifts them.

A rule fires on calls that match it, from `after` on and for as long as it is `lasting`: on every n-th of them, or by
chance. A rule for the call `clock` breaks hardware when its time has come, without waiting for a call.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import count
from typing import Protocol

import grpc

from ipucloud.laboratory.simulator.clock import Clock, WallClock
from ipucloud.laboratory.simulator.refusal import invalid, not_found
from ipucloud.wire.faults import FaultAction, FaultRule
from ipucloud.wire.inventory import LinkKind, LinkState

CLOCK = "clock"
HARDWARE = frozenset({FaultAction.FAIL_MACHINE, FaultAction.FAIL_LINK})


class Breakable(Protocol):
    """The hardware, as rules break and repair it. Each refuses what does not exist."""

    def fail_machine(self, name: str) -> None: ...
    def repair_machine(self, name: str) -> None: ...
    def fail_link(self, machine: str, kind: LinkKind, state: LinkState) -> None: ...
    def repair_link(self, machine: str, kind: LinkKind) -> None: ...
    def check_link(self, machine: str, kind: LinkKind) -> None: ...


@dataclass(frozen=True)
class Plan:
    """What happens to one call: first `latency` seconds, then what `rule` says, if one fired."""

    latency: float = 0.0
    rule: FaultRule | None = None

    @property
    def action(self) -> FaultAction | None:
        return self.rule.action if self.rule else None


CALM = Plan()


@dataclass
class InForce:
    """A rule, when it begins and ends, how many calls it has seen, and whether hardware is broken by it now."""

    rule: FaultRule
    begins: float
    ends: float
    matches: int = 0
    broke: bool = False

    def hit(self) -> None:
        self.rule = self.rule.model_copy(update={"hits": self.rule.hits + 1})


class FaultBook:
    """The rules in force. Latencies add up; of the other actions the first rule that fires decides."""

    def __init__(
        self,
        seed: int,
        *,
        clock: Clock | None = None,
        time_scale: float = 1.0,
        hardware: Breakable | None = None,
    ) -> None:
        self._random = random.Random(seed)  # noqa: S311 - faults shall be repeatable, not secret
        self._numbers = count(1)
        self._clock = clock or WallClock()
        self._time_scale = time_scale or 1.0
        self._hardware = hardware
        self._rules: dict[str, InForce] = {}

    def __bool__(self) -> bool:
        """Whether any rule is in force."""
        return bool(self._rules)

    def add(self, rule: FaultRule) -> FaultRule:
        """Put a rule in force: under its own id, in place of one that has it already, or under a fresh one."""
        if rule.grpc_status not in grpc.StatusCode.__members__:
            raise invalid(f"{rule.grpc_status!r} is not the name of a gRPC status code")
        if not 400 <= rule.status <= 599:
            raise invalid(f"{rule.status} is not an HTTP error status")
        if rule.action in HARDWARE:
            self._check_hardware(rule)
        elif rule.call == CLOCK:
            raise invalid(f"a rule for the clock breaks a machine or a link; it cannot {rule.action}")
        kept = rule.model_copy(update={"id": rule.id or f"fault-{next(self._numbers)}", "hits": 0})
        begins = self._clock.now() + rule.after / self._time_scale
        ends = float("inf") if rule.lasting is None else begins + rule.lasting / self._time_scale
        self._rules[kept.id] = InForce(kept, begins, ends)
        return kept

    def all(self) -> list[FaultRule]:
        """Every rule, once the clock's have done what they are due to."""
        self._run_clock(self._clock.now())
        return [kept.rule for kept in self._rules.values()]

    def remove(self, rule_id: str | None) -> None:
        """Lift one rule, or all of them. Hardware that is broken stays so."""
        if rule_id is None:
            self._rules.clear()
        elif self._rules.pop(rule_id, None) is None:
            raise not_found(f"fault rule {rule_id!r} does not exist")

    def plan(self, call: str, target: str) -> Plan:
        """What the rules do to this call. Counts a hit for every rule that fires."""
        if not self._rules:
            return CALM
        now = self._clock.now()
        self._run_clock(now)
        latency = 0.0
        for kept in list(self._rules.values()):
            if not self._fires(kept, call, target, now):
                continue
            kept.hit()
            if kept.rule.action is FaultAction.LATENCY:
                latency += kept.rule.seconds
            elif kept.rule.action in HARDWARE:
                self._break(kept)
            else:
                return Plan(latency, kept.rule)
        return Plan(latency)

    def silence(self, call: str, target: str) -> bool:
        """Whether a rule refuses what the site asks of its own hardware. Only rules that name the call reach it."""
        if not self._rules:
            return False
        now = self._clock.now()
        for kept in self._rules.values():
            named = kept.rule.call == call and kept.rule.action is FaultAction.STATUS
            if named and self._fires(kept, call, target, now):
                kept.hit()
                return True
        return False

    def _fires(self, kept: InForce, call: str, target: str, now: float) -> bool:
        rule = kept.rule
        if not kept.begins <= now < kept.ends or (rule.times is not None and rule.hits >= rule.times):
            return False
        if rule.call == CLOCK or not (fnmatchcase(call, rule.call) and fnmatchcase(target, rule.target)):
            return False
        kept.matches += 1
        return kept.matches % rule.every == 0 and (rule.probability >= 1.0 or self._random.random() < rule.probability)

    def _run_clock(self, now: float) -> None:
        """Break the hardware that is due to break, and repair what no rule breaks any more."""
        for kept in self._rules.values():
            if kept.rule.call == CLOCK and kept.begins <= now < kept.ends and not kept.rule.hits:
                kept.hit()
                self._break(kept)
            elif kept.broke and now >= kept.ends:
                self._repair_database(kept)

    def _check_hardware(self, rule: FaultRule) -> None:
        if self._hardware is None:
            raise invalid("these rules reach no hardware")
        kind = LinkKind.INTERNAL if rule.action is FaultAction.FAIL_MACHINE else rule.link
        self._hardware.check_link(rule.machine, kind)

    def _break(self, kept: InForce) -> None:
        kept.broke = True
        if self._hardware is None:
            return
        if kept.rule.action is FaultAction.FAIL_MACHINE:
            self._hardware.fail_machine(kept.rule.machine)
        else:
            self._hardware.fail_link(kept.rule.machine, kept.rule.link, LinkState.DOWN)

    def _repair_database(self, kept: InForce) -> None:
        kept.broke = False
        if self._hardware is None:
            return
        if kept.rule.action is FaultAction.FAIL_MACHINE:
            self._hardware.repair_machine(kept.rule.machine)
        else:
            self._hardware.repair_link(kept.rule.machine, kept.rule.link)
