"""What an API process holds for requests to services."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from prometheus_client import Gauge

from ipucloud.api.services import Services
from ipucloud.extras.service_proxy.counts import ServiceCounts
from ipucloud.extras.service_proxy.logins import ServiceLogins
from ipucloud.parts import SERVICE_PROXY


@dataclass(frozen=True, slots=True)
class Proxy:
    """Its connections to servers, and the requests that it has counted."""

    logins: ServiceLogins
    counts: ServiceCounts


def proxy_of(services: Services) -> Proxy:
    proxy: Proxy = services.parts[SERVICE_PROXY.name]
    return proxy


@asynccontextmanager
async def running(services: Services) -> AsyncIterator[Proxy]:
    """Until the process ends, with the requests counted and the connections closed by then."""
    database, clock = services.database, services.clock
    gauge = Gauge(
        "service_logins",
        "SSH connections to Poplar servers by which services are reached.",
        registry=services.metrics.registry,
    )
    logins = ServiceLogins(database, services.notifier, clock, gauge, services.settings.reached)
    proxy = Proxy(logins, ServiceCounts())
    keeping = asyncio.create_task(proxy.counts.keep(database, clock), name="service-requests")
    try:
        yield proxy
    finally:
        keeping.cancel()
        await asyncio.wait([keeping])
        await proxy.counts.flush(database)
        await proxy.logins.close()
