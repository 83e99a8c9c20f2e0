"""Fault rules: what goes wrong on purpose. They are an experiment's instrument, not state, so a restart lifts them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import count

import grpc

from ipucloud.simulator.refusal import invalid, not_found
from ipucloud.wire.site import FaultAction, FaultRule


@dataclass(frozen=True)
class Plan:
    """What happens to one call: first `latency` seconds, then the action of the rule, if one fired."""

    latency: float = 0.0
    action: FaultAction | None = None
    rule: str = ""
    status: int = 503
    grpc_status: str = "UNAVAILABLE"
    seconds: float = 0.0


CALM = Plan()


@dataclass
class FaultBook:
    """The rules in force. Latencies add up; of the other actions the first rule that fires decides."""

    seed: int
    _rules: dict[str, FaultRule] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311 - faults shall be repeatable, not secret
        self._numbers = count(1)

    def add(self, rule: FaultRule) -> FaultRule:
        """Put a rule in force under a fresh id."""
        if rule.grpc_status not in grpc.StatusCode.__members__:
            raise invalid(f"{rule.grpc_status!r} is not the name of a gRPC status code")
        if not 400 <= rule.status <= 599:
            raise invalid(f"{rule.status} is not an HTTP error status")
        kept = rule.model_copy(update={"id": f"fault-{next(self._numbers)}", "hits": 0})
        self._rules[kept.id] = kept
        return kept

    def all(self) -> list[FaultRule]:
        return list(self._rules.values())

    def remove(self, rule_id: str | None) -> None:
        """Lift one rule, or all of them."""
        if rule_id is None:
            self._rules.clear()
        elif self._rules.pop(rule_id, None) is None:
            raise not_found(f"fault rule {rule_id!r} does not exist")

    def plan(self, call: str, target: str) -> Plan:
        """What the rules do to this call. Counts a hit for every rule that fires."""
        if not self._rules:
            return CALM
        latency = 0.0
        for rule in list(self._rules.values()):
            if not self._fires(rule, call, target):
                continue
            self._rules[rule.id] = rule.model_copy(update={"hits": rule.hits + 1})
            if rule.action is not FaultAction.LATENCY:
                return Plan(latency, rule.action, rule.id, rule.status, rule.grpc_status, rule.seconds)
            latency += rule.seconds
        return Plan(latency)

    def _fires(self, rule: FaultRule, call: str, target: str) -> bool:
        if rule.times is not None and rule.hits >= rule.times:
            return False
        if not (fnmatchcase(call, rule.call) and fnmatchcase(target, rule.target)):
            return False
        return rule.probability >= 1.0 or self._random.random() < rule.probability
