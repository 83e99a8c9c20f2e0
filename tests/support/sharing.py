"""How processes share a run (`pytest -n`): each runs tests of one folder of `tests`, and imports those alone.

Otherwise each would import everything that there is, which takes twice the memory. A process that has no more to do in
its folder, or has grown, ends; another goes on with that folder, starts in the next one, or helps in the one that has
most left.
"""

from __future__ import annotations

import resource
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.selection import ROOT, selected_files

TESTS = ROOT / "tests"
PATHS = "paths of a folder"
WORTH_HELPING = 4
"""Files that a folder has left for each of its processes and a further one, if that is worth its start."""
GROWTH_BYTES = 200_000_000
"""What a process may take more than at its beginning: what tests leave behind lies scattered in its memory."""
UNKNOWN = 100
"""Taken for the files that a folder has left before they are collected."""


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Folders(config), "folders of tests")


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    session.config.args = getattr(session.config, "workerinput", {}).get(PATHS, session.config.args)


class Folders:
    """The scheduler of a run, in the process that the user started: who does what of what is left."""

    collection_is_completed = True  # a process begins when it has collected its own folder

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._paths = _paths_by_folder(config)
        self._unopened = list(self._paths)
        self._files: dict[str, list[list[str]]] = {}
        """For each folder that was collected, the tests of each file that no process has been given yet."""
        self._folders: dict[Any, str] = {}  # by process; xdist has no types
        self._collections: dict[Any, Sequence[str]] = {}
        self._given: dict[Any, list[str]] = {}
        self._bytes_at_first: dict[Any, int] = {}
        self._names: dict[str, set[str]] = {}

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self) -> Folders:
        return self

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """A process starts: its folder is one that nobody is in, or the one with most left."""
        left = [*filter(self._is_left, self._paths), *self._unopened]
        folder = left[0] if left else max(self._paths, key=self._share)
        self._unopened = [other for other in self._unopened if other != folder]
        self._folders[node] = folder
        node.workerinput[PATHS] = self._paths[folder]

    @property
    def nodes(self) -> list[Any]:
        return list(self._given)

    @property
    def has_pending(self) -> bool:
        return bool(self._collections)

    @property
    def tests_finished(self) -> bool:
        """Whether every process has at most its last test, which it begins when it is told that there are no more."""
        return not (
            self._unopened
            or any(self._files.values())
            or self._folders.keys() - self._collections.keys()
            or any(len(tests) > 1 for tests in self._given.values())
        )

    def add_node(self, node: Any) -> None:
        self._given[node] = []

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        folder = self._folders[node]
        if different := self._names.setdefault(folder, {*collection}) ^ {*collection}:
            raise pytest.UsageError(f"tests have other names in another process: {sorted(different)}")
        self._collections[node] = collection
        if folder not in self._files:
            files: dict[str, list[str]] = {}
            for test in collection:
                files.setdefault(test.partition("::")[0], []).append(test)
            self._files[folder] = list(files.values())
        known = sum(map(len, self._names.values()))
        self._config.pluginmanager.getplugin("session").testscollected = known  # of which a part is done

    def schedule(self) -> None:
        for node in list(self._collections):
            self._give(node)

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        self._given[node].remove(self._collections[node][item_index])
        self._give(node)

    def remove_node(self, node: Any) -> str | None:
        """A process has ended; another one takes its place where there is work for it.

        Returns: the test that the process died of.
        """
        folder = self._folders.pop(node)
        self._collections.pop(node, None)
        tests = self._given.pop(node)
        node.ensure_teardown()  # which ends it, with its memory
        if tests:
            self._files[folder].append(tests[1:])
            return tests[0]  # xdist replaces it
        session = self._config.pluginmanager.getplugin("dsession")
        helpful = any(self._is_left(other) or self._share(other) >= WORTH_HELPING for other in self._files)
        if (helpful or self._unopened) and not session.shuttingdown:
            session._clone_node(node)
        return None

    def _give(self, node: Any) -> None:
        """The next file, in time: a process begins a test when it knows the one after it."""
        files = self._files[self._folders[node]]
        while files and len(self._given[node]) <= 2 and not node.shutting_down and not self._has_grown(node):
            tests = files.pop(0)
            self._given[node] += tests
            places = {test: place for place, test in enumerate(self._collections[node])}
            node.send_runtest_some([places[test] for test in tests])
        if len(self._given[node]) <= 2 and not node.shutting_down:
            node.shutdown()

    def _share(self, folder: str) -> float:
        """Files that would be left for each process if one more came."""
        left = len(self._files[folder]) if folder in self._files else UNKNOWN
        return left / (1 + list(self._folders.values()).count(folder))

    def _is_left(self, folder: str) -> bool:
        return bool(self._files.get(folder)) and folder not in self._folders.values()

    def _has_grown(self, node: Any) -> bool:
        return _resident_bytes(node) > self._bytes_at_first.setdefault(node, _resident_bytes(node)) + GROWTH_BYTES


def _resident_bytes(node: Any) -> int:
    try:
        pages = Path(f"/proc/{node.gateway._rinfo().pid}/statm").read_text().split()[1]
    except OSError:  # not on this system
        return 0
    return int(pages) * resource.getpagesize()


def _paths_by_folder(config: pytest.Config) -> dict[str, list[str]]:
    """The paths that a run was given, by the folder below `tests`; those with most to do first."""
    paths: dict[str, list[str]] = {}
    for arg in config.args:
        path = (config.invocation_params.dir / arg.partition("::")[0]).resolve()
        if not path.exists():
            raise pytest.UsageError(f"file or directory not found: {arg}")
        if path == TESTS:
            paths |= {child.name: [str(child)] for child in TESTS.iterdir() if selected_files(config, child)}
        else:
            below = path.relative_to(TESTS).parts if path.is_relative_to(TESTS) else (str(path.parent),)
            paths.setdefault(below[0], []).append(arg)
    return dict(sorted(paths.items(), key=lambda pair: -_size(config, pair[0])))


def _size(config: pytest.Config, folder: str) -> int:
    return sum(path.stat().st_size for path in selected_files(config, TESTS / folder))
