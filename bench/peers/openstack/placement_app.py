"""Placement as an ASGI application. Runs in placement's own environment, where nothing of ours is installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

THREADS = 8
"""As many as there are connections: placement answers each request in a thread."""


def app() -> Any:
    application = import_module("placement.wsgi").init_application()
    return import_module("a2wsgi").WSGIMiddleware(application, workers=THREADS)
