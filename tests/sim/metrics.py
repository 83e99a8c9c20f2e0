"""In place of hooks of SQLAlchemy's connections, which a simulated database has none of: nothing is counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from unittest import mock

from ipucloud.clusters import metrics as clusters
from ipucloud.operations import metrics as operations


def _listen(*_: object, **__: object) -> None:
    """To a commit."""


@contextmanager
def uncounted() -> Iterator[None]:
    with ExitStack() as stack:
        for module in (clusters, operations):
            deaf = SimpleNamespace(event=SimpleNamespace(listen=_listen))
            stack.enter_context(mock.patch.object(module, "sa", deaf))
        yield
