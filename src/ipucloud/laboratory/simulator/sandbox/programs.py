"""The server's own commands, and the names under which a Python of another place is found."""

from __future__ import annotations

from pathlib import Path

from ipucloud.laboratory.simulator.sandbox.plan import Plan


def write(plan: Plan) -> None:
    """Write them where the plan has them. Raises OSError."""
    folder = Path(plan.own_programs)
    for name, text in plan.launchers.items():
        path = folder / name
        path.write_text(text)
        path.chmod(0o755)
    for name, target in plan.links.items():
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)
