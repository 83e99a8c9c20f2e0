"""Structured logs on standard error: one line per event, with the ids bound to the current task.

Everything goes this way: the product's events, libraries' `logging`, warnings, uncaught exceptions, and printed text.
"""

from __future__ import annotations

import atexit
import logging
import sys
import threading
from collections.abc import Iterator, Sequence
from functools import cache, partial
from types import TracebackType
from typing import Any, Literal

import structlog
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from ipucloud.process.lines import STANDARD_ERROR, LineStream, LineWriter, hold_standard_descriptors

Format = Literal["json", "console"]
Level = Literal["debug", "info", "warning", "error"]

LOST_LINES = "log_lines_lost", "Log lines that could not be written."

log = structlog.get_logger(__name__)


class LostLines(Collector):
    """The number of lost log lines of this process, for Prometheus."""

    def describe(self) -> Iterator[Metric]:
        yield CounterMetricFamily(*LOST_LINES)

    def collect(self) -> Iterator[Metric]:
        yield CounterMetricFamily(*LOST_LINES, value=standard_error().lost)


@cache
def standard_error() -> LineWriter:
    """The only writer of this process's log."""
    hold_standard_descriptors()
    writer = LineWriter(STANDARD_ERROR)
    atexit.register(writer.close)
    return writer


def configure(form: Format, level: Level) -> None:
    """Send events of at least `level` to standard error, as JSON lines or as text for a terminal.

    Of libraries, only warnings and errors are logged. Writing never waits for a reader and never fails.
    """
    writer = standard_error()
    lowest = logging.getLevelNamesMapping()[level.upper()]
    processors: Sequence[structlog.typing.Processor] = (
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    )
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(lowest),
        logger_factory=lambda *_: _Output(writer),
        cache_logger_on_first_use=True,
    )
    writer.report = partial(_lost, processors)
    _capture_libraries(writer, max(lowest, logging.WARNING), processors)
    _capture_exceptions()
    sys.stderr = LineStream(STANDARD_ERROR, _printed if form == "json" else writer.write_line)


class _Output:
    """Where structlog leaves finished lines: a method for every level."""

    def __init__(self, writer: LineWriter) -> None:
        self.debug = self.info = self.warning = self.error = self.critical = writer.write_line


def _lost(processors: Sequence[structlog.typing.Processor], count: int) -> str:
    """The line that reports how many are lost. It bypasses the queue, so it is rendered here."""
    rendered: Any = {"event": "log_lines_lost", "count": count}
    for processor in processors:
        rendered = processor(None, "warning", rendered)
    return str(rendered)


def _capture_libraries(writer: LineWriter, level: int, processors: Sequence[structlog.typing.Processor]) -> None:
    """Route the standard library's `logging`, and warnings through it."""
    handler = logging.StreamHandler(LineStream(STANDARD_ERROR, writer.write_line))
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *processors],
        )
    )
    logging.basicConfig(handlers=[handler], level=level, force=True)
    logging.captureWarnings(True)


def _capture_exceptions() -> None:
    """Log exceptions that end the process or a thread, and those of finalizers."""
    sys.excepthook = _ended
    threading.excepthook = lambda thrown: _ended(thrown.exc_type, thrown.exc_value, thrown.exc_traceback)
    sys.unraisablehook = lambda thrown: _ended(thrown.exc_type, thrown.exc_value, thrown.exc_traceback)


def _ended(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    if kind is not SystemExit:  # ends only its thread
        log.critical("uncaught_exception", exc_info=(kind, error or kind(), trace))


def _printed(line: str) -> None:
    if line.strip():
        log.error(line, logger="stderr")
