"""The scenarios of this checkout, each at its usual size, at its smallest, or at one that was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType, ModuleType

from bench import scenarios
from bench.finding import Finding
from bench.stage import Stage
from tests.support.machine import Need


@dataclass(frozen=True, slots=True)
class Scenario:
    """A module of `bench.scenarios`, whose docstring says what it declares."""

    name: str
    module: ModuleType

    @property
    def sizes(self) -> Mapping[str, type]:
        """The numbers of its size that can be chosen, by name."""
        usual = self.module.Size() if hasattr(self.module, "Size") else None
        values = {} if usual is None else {each.name: getattr(usual, each.name) for each in fields(usual)}
        return {name: type(value) for name, value in values.items() if isinstance(value, int | float)}

    @property
    def needs(self) -> Sequence[Need]:
        """What it asks of the machine."""
        return getattr(self.module, "NEEDS", ())

    def run(self, stage: Stage, changes: Mapping[str, float] = MappingProxyType({})) -> list[Finding]:
        """`changes`: numbers of its size; names that it does not have are other scenarios'."""
        findings: list[Finding]
        if not hasattr(self.module, "Size"):
            findings = self.module.run(stage)
            return findings
        size = self.module.SMALLEST if stage.smallest else self.module.Size()
        chosen = {name: kind(changes[name]) for name, kind in self.sizes.items() if name in changes}
        findings = self.module.run(stage, replace(size, **chosen))
        return findings


def discover() -> dict[str, Scenario]:
    """Every scenario by its name."""
    names = [module.name for module in iter_modules(scenarios.__path__)]
    return {name: Scenario(name, import_module(f"{scenarios.__name__}.{name}")) for name in names}
