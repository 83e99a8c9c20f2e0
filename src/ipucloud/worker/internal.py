"""The worker's internal listener: `/livez`, `/readyz`, `/metrics`. Never reachable for customers."""

from __future__ import annotations

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, Counter, generate_latest
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ipucloud import parts
from ipucloud.catalogue.current import CurrentCatalogue
from ipucloud.clusters import metrics as of_clusters
from ipucloud.invariants import gauge as of_audits
from ipucloud.observation import work as of_observation
from ipucloud.operations import metrics as of_operations
from ipucloud.process.logs import LostLines
from ipucloud.reconcile.engine import Engine
from ipucloud.reconcile.watch import DatabaseWatch
from ipucloud.validation import metrics as of_validation
from ipucloud.worker import measures


def internal_app(engine: Engine, watch: DatabaseWatch, catalogue: CurrentCatalogue) -> Starlette:
    async def livez(_: Request) -> Response:
        return JSONResponse({"status": "alive"})

    async def readyz(_: Request) -> Response:
        fault = watch.fault
        if fault is None and not engine.healthy:
            fault = "The worker is not present in the database."
        known = {"status": fault or "ready", "catalogue": catalogue.catalogue.digest, "parts": parts.installed()}
        return JSONResponse(known, status_code=200 if fault is None else 503)

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    return Starlette(routes=[Route("/livez", livez), Route("/readyz", readyz), Route("/metrics", metrics)])


_REGISTERING = (of_audits, of_clusters, of_observation, of_operations, of_validation, measures)
"""Importing these registers their metrics."""
REGISTRY.register(LostLines())
SWEPT = Counter("sweep_repairs", "Repairs that sweeps have begun, by the rule that was broken", ["rule"])


def export(collector: Collector) -> None:
    """Export what it collects, too."""
    REGISTRY.register(collector)
