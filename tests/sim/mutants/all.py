"""Every mutant by its name."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from tests.sim.mutants.planting import Mutant

MUTANTS: dict[str, Mutant] = {}

for _module in pkgutil.iter_modules([str(Path(__file__).parent)], "tests.sim.mutants."):
    if not _module.name.endswith((".all", ".directed", ".hunt")):
        for _name, _value in vars(importlib.import_module(_module.name)).items():
            if isinstance(_value, Mutant):
                assert _name not in MUTANTS, f"two mutants are called {_name}"
                _value.name = _name
                MUTANTS[_name] = _value
