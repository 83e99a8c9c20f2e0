"""The clients of one process: one HTTP connection pool and one gRPC channel per controller end-point."""

from __future__ import annotations

import math

import grpc
import httpx

from ipucloud.config import Settings
from ipucloud.site.http import HttpCalls, HttpHosts, HttpMachines, HttpNetworks, read_inventory
from ipucloud.site.no_vipu import NoVipu
from ipucloud.site.pace import Pace
from ipucloud.site.ports import Budget, Site, Vipu, VipuAddress
from ipucloud.site.vipu import Credentials, GrpcVipu
from ipucloud.wire.site import Inventory

_CONNECT_SECONDS = 2.0
_CHANNEL_OPTIONS = (
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    # Every retry is decided here, after reading the state back; the library must not repeat calls itself.
    ("grpc.enable_retries", 0),
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 2_000),
)


class SiteClients:
    """Implements `ipucloud.site.ports.Sites` with the real protocols. Close it when the process ends.

    `calls_per_second` limits all its calls together; further calls wait. `vipu` is sent to secure controllers only.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None,
        call_timeout: float,
        calls_per_second: float = math.inf,
        vipu: Credentials | None = None,
    ) -> None:
        self._call_timeout = call_timeout
        self._vipu = vipu
        self._pace = Pace(calls_per_second)
        self._channels: dict[str, grpc.aio.Channel] = {}
        self._http = httpx.AsyncClient(
            base_url=url,
            headers={} if token is None else {"Authorization": f"Bearer {token}"},
            timeout=httpx.Timeout(call_timeout, connect=_CONNECT_SECONDS),
            follow_redirects=False,
            trust_env=False,
            # Loading the certificates takes longer than everything else before a worker's first call.
            verify=httpx.URL(url).scheme == "https",
        )

    def at(self, vipu: VipuAddress | None, budget: Budget) -> Site:
        calls = HttpCalls(self._http, self._call_timeout, budget, self._pace)
        controller = NoVipu() if vipu is None else self._controller(vipu, budget)
        hosts = HttpHosts(calls, self._call_timeout, budget)
        return Site(vipu=controller, networks=HttpNetworks(calls), hosts=hosts, machines=HttpMachines(calls))

    async def inventory(self) -> Inventory:
        return await read_inventory(self._http, self._call_timeout, self._pace)

    @classmethod
    def of(cls, settings: Settings) -> SiteClients:
        """The clients for a process with these settings. Raises ValueError without a site."""
        if settings.site_url is None:
            raise ValueError("IPUCLOUD_SITE_URL is not set")
        key = settings.vipu_access_key
        return cls(
            settings.site_url,
            token=None if settings.site_token is None else settings.site_token.get_secret_value() or None,
            call_timeout=settings.site_call_timeout,
            calls_per_second=settings.site_calls_per_second,
            vipu=None if key is None else Credentials(settings.vipu_user, key.get_secret_value()),
        )

    async def close(self) -> None:
        await self._http.aclose()
        for channel in self._channels.values():
            await channel.close(grace=None)

    def _controller(self, vipu: VipuAddress, budget: Budget) -> Vipu:
        return GrpcVipu(
            self._channel(f"{vipu.host}:{vipu.user_port}"),
            self._channel(f"{vipu.host}:{vipu.admin_port}"),
            self._call_timeout,
            budget,
            self._pace,
            credentials=self._vipu if vipu.secure else None,
        )

    def _channel(self, address: str) -> grpc.aio.Channel:
        if address not in self._channels:
            self._channels[address] = grpc.aio.insecure_channel(address, options=_CHANNEL_OPTIONS)
        return self._channels[address]
