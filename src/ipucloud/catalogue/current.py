"""The catalogue of one process: read when it starts, and again when it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import structlog
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ipucloud.catalogue.faults import CatalogueError
from ipucloud.catalogue.load import load
from ipucloud.catalogue.queries import Catalogue

log = structlog.get_logger(__name__)

_FAULTS_LOGGED = 20


class CurrentCatalogue(Collector):
    """The one owner of a process's catalogue, and what Prometheus hears of it.

    `catalogue` is replaced as a whole. Whoever answers one request or makes one thing takes it once and keeps it.
    """

    def __init__(self, directory: Path | None) -> None:
        """Read the directory; the shipped catalogue without. Raises `CatalogueError`."""
        self.catalogue: Catalogue = load(directory)
        self._directory = directory
        self._refused = False
        self._asked = asyncio.Event()

    def reload(self) -> None:
        """Have it read again, soon; call it in the event loop's thread."""
        self._asked.set()

    async def keep(self) -> None:
        """Read it again whenever `reload` asks, until cancelled. One that is not valid changes nothing but the log."""
        while True:
            await self._asked.wait()
            self._asked.clear()
            try:
                found = await asyncio.to_thread(load, self._directory)
            except CatalogueError as refused:
                self._refused = True
                faults = [str(fault) for fault in refused.faults]
                log.error(
                    "catalogue_refused",
                    directory=str(self._directory),
                    faults=faults[:_FAULTS_LOGGED],
                    count=len(faults),
                    kept=self.catalogue.digest,
                )
            else:
                former, self.catalogue, self._refused = self.catalogue, found, False
                log.info("catalogue_loaded", digest=found.digest, former=former.digest)

    def describe(self) -> Iterator[Metric]:
        yield _info()
        yield _last_refused()

    def collect(self) -> Iterator[Metric]:
        info = _info()
        info.add_metric([self.catalogue.digest, "shipped" if self._directory is None else "directory"], 1)
        yield info
        refused = _last_refused()
        refused.add_metric([], self._refused)
        yield refused


def _info() -> GaugeMetricFamily:
    return GaugeMetricFamily("catalogue_info", "The catalogue in use, by its digest.", labels=["digest", "origin"])


def _last_refused() -> GaugeMetricFamily:
    return GaugeMetricFamily("catalogue_refused", "1 while an older catalogue stays because the new one is not valid.")
