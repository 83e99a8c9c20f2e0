"""The worker's internal listener: `/livez`, `/readyz`, `/metrics`. Never reachable for customers."""

from __future__ import annotations

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ipucloud.catalogue.current import CurrentCatalogue
from ipucloud.reconcile.engine import Engine
from ipucloud.reconcile.watch import DatabaseWatch


def internal_app(engine: Engine, watch: DatabaseWatch, catalogue: CurrentCatalogue) -> Starlette:
    async def livez(_: Request) -> Response:
        return JSONResponse({"status": "alive"})

    async def readyz(_: Request) -> Response:
        fault = watch.fault
        if fault is None and not engine.healthy:
            fault = "The worker is not present in the database."
        known = {"status": fault or "ready", "catalogue": catalogue.catalogue.digest}
        return JSONResponse(known, status_code=200 if fault is None else 503)

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    return Starlette(routes=[Route("/livez", livez), Route("/readyz", readyz), Route("/metrics", metrics)])
