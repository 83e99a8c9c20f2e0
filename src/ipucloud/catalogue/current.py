"""The catalogue of one process: read at the start, and again on request."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import structlog
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ipucloud.catalogue.checks import CatalogueError
from ipucloud.catalogue.load import load
from ipucloud.catalogue.queries import Catalogue

log = structlog.get_logger(__name__)

_FAULTS_LOGGED = 20


class CurrentCatalogue(Collector):
    """The only owner of a process's catalogue, and its metrics.

    `catalogue` is replaced as a whole. Code that answers one request or builds one object takes it once and keeps it.
    """

    def __init__(self, directory: Path | None) -> None:
        """Read the directory; the shipped catalogue if None. Raises `CatalogueError`."""
        self.catalogue: Catalogue = load(directory)
        self._directory = directory
        self._refused = False
        self._asked = asyncio.Event()

    def reload(self) -> None:
        """Request another reading; call it in the event loop's thread."""
        self._asked.set()

    async def keep(self) -> None:
        """Reread it on each `reload`, until cancelled. An invalid catalogue is only logged and exported as a metric."""
        while True:
            await self._asked.wait()
            self._asked.clear()
            try:
                loaded = await asyncio.to_thread(load, self._directory)
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
                former, self.catalogue, self._refused = self.catalogue, loaded, False
                log.info("catalogue_loaded", digest=loaded.digest, former=former.digest)

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
    return GaugeMetricFamily(
        "catalogue_refused", "1 while an older catalogue stays in use because the new one is not valid."
    )
