"""What a worker shows of its audits, and for how long."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, generate_latest

from ipucloud.invariants.gauge import Violations
from ipucloud.invariants.rules import Finding, Refusal, Rule, Violation

RULE = Rule("all_is_well", "All is well.", "thing", "Look.", Refusal("Who knows."))
OTHER = Rule("nothing_burns", "Nothing burns.", "thing", "Pour.", Refusal("Fire is for people."))
FINDINGS = [Finding(RULE, Violation(str(number), None, "it is not")) for number in range(2)]


class Ticking:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def shown(violations: Violations) -> list[str]:
    registry = CollectorRegistry()
    registry.register(violations)
    return [line for line in generate_latest(registry).decode().splitlines() if not line.startswith("#")]


def test_every_rule_is_shown_with_its_number() -> None:
    violations = Violations(Ticking())
    assert shown(violations) == []
    violations.report("database", [RULE, OTHER], FINDINGS, interval=60.0)
    assert shown(violations) == [
        'invariant_violations{name="all_is_well"} 2.0',
        'invariant_violations{name="nothing_burns"} 0.0',
    ]


def test_what_another_worker_has_audited_since_is_not_shown_for_long() -> None:
    """One that is repaired would stay red for ever on the worker that saw it last."""
    clock = Ticking()
    violations = Violations(clock)
    violations.report("database", [RULE], FINDINGS, interval=60.0)
    violations.report("site", [OTHER], [], interval=300.0)
    clock.now += 120.0
    assert len(shown(violations)) == 2
    clock.now += 60.0
    assert shown(violations) == ['invariant_violations{name="nothing_burns"} 0.0']


def test_a_newer_audit_replaces_the_older() -> None:
    violations = Violations(Ticking())
    violations.report("database", [RULE], FINDINGS, interval=60.0)
    violations.report("database", [RULE], [], interval=60.0)
    assert shown(violations) == ['invariant_violations{name="all_is_well"} 0.0']
