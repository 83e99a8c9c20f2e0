"""The SDK's models are those of docs/openapi.json."""

from __future__ import annotations

import runpy
from pathlib import Path

PROJECT = Path(__file__).parents[3]
MODELS = PROJECT / "src" / "ipucloud" / "client" / "models" / "generated.py"


def test_the_committed_models_are_the_generated_ones() -> None:
    module: str = runpy.run_path(str(PROJECT / "docs" / "generate_models.py"))["module"]()
    assert MODELS.read_text() == module, "run: ./dev openapi"
