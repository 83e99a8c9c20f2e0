"""How processes share a run: each stays in one folder of tests while that has files left.

What a process has imported it keeps. The tests of one folder import much the same, those of all folders everything
there is, which takes twice the memory.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:  # xdist has no types
    from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

    class ByFolder(LoadFileScheduling):  # type: ignore[misc]
        """A file goes to one process, in the order of names within a folder."""

        def _assign_work_unit(self, node: Any) -> None:
            self.workqueue.move_to_end(self._next_file(node), last=False)
            super()._assign_work_unit(node)

        def _next_file(self, node: Any) -> str:
            """Of the process's own folder, or of the one with most tests left for each process that is in it."""
            own = _folder(next(reversed(self.assigned_work[node]), ""))
            files: dict[str, dict[str, bool]] = self.workqueue
            remaining = Counter[str]()
            for path, tests in files.items():
                remaining[_folder(path)] += len(tests)
            if own not in remaining:
                there = Counter(_folder(next(reversed(work))) for work in self.assigned_work.values() if work)
                own = max(remaining, key=lambda folder: remaining[folder] / (1 + there[folder]))
            return next(path for path in files if _folder(path) == own)

    return ByFolder(config, log)


def _folder(path: str) -> str:
    """The folder below `tests` in which a file is."""
    return path.split("/", 2)[1] if "/" in path else path
