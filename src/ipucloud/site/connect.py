"""The clients of one process: one HTTP connection pool and one connection per V-IPU controller."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import dataclass, field

import httpx

from ipucloud.config import Settings
from ipucloud.site.calls import Pace
from ipucloud.site.events import read_events
from ipucloud.site.http import HttpCalls, HttpHosts, HttpMachines, HttpNetworks, read_inventory
from ipucloud.site.http_storage import HttpAddresses, HttpSnapshots, HttpVolumes
from ipucloud.site.no_vipu import NoVipu
from ipucloud.site.ports import Budget, Site, VipuAddress
from ipucloud.site.simulation import HttpSimulation
from ipucloud.site.tls import (
    PLAINTEXT,
    ClientFiles,
    Connection,
    Credentials,
    Identities,
    NoChannel,
    Secured,
    UntrustedError,
)
from ipucloud.site.vipu_ports import Vipu, unsupported
from ipucloud.wire.inventory import Inventory

_CONNECT_SECONDS = 2.0


def _as_announced(host: str) -> str:
    """Whatever a site announces is reached there."""
    return host


def _none() -> None:
    """No secret."""


class _Bearer(httpx.Auth):
    """The site's token as it is when a request is sent."""

    def __init__(self, token: Callable[[], str | None]) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response]:
        if (token := self._token()) is not None:
            request.headers["Authorization"] = f"Bearer {token}"
        yield request


@dataclass(frozen=True, slots=True)
class VipuAccess:
    """What a process has to call V-IPU controllers with. `credentials` go to secure controllers only, and are asked for
    with each reconcile pass.

    `plaintext`: controllers without TLS may be called, and get the credentials unencrypted.
    """

    credentials: Callable[[], Credentials | None] = _none
    client: ClientFiles = field(default_factory=ClientFiles)
    plaintext: bool = False


class SiteClients:
    """Implements `ipucloud.site.ports.Sites` with the real protocols. Close it when the process ends.

    `token` is asked for with every call. `calls_per_second` limits all its calls together; further calls wait.
    `reached` tells where an address that the site announces is reached.
    """

    def __init__(
        self,
        url: str,
        *,
        token: Callable[[], str | None] = _none,
        call_timeout: float,
        calls_per_second: float = math.inf,
        vipu: VipuAccess | None = None,
        reached: Callable[[str], str] = _as_announced,
    ) -> None:
        self._call_timeout = call_timeout
        self._vipu = vipu or VipuAccess()
        self._reached = reached
        self._identities = Identities(self._vipu.client)
        self._pace = Pace(calls_per_second)
        self._connections: dict[tuple[str, int], tuple[Secured, Connection]] = {}
        self._http = httpx.AsyncClient(
            base_url=url,
            auth=_Bearer(token),
            timeout=httpx.Timeout(call_timeout, connect=_CONNECT_SECONDS),
            headers={"Accept-Encoding": "identity"},  # bytes of an answer are counted as they come
            follow_redirects=False,
            trust_env=False,
            # Loading the certificates takes longer than everything else before a worker's first call.
            verify=httpx.URL(url).scheme == "https",
        )

    def at(self, vipu: VipuAddress | None, budget: Budget) -> Site:
        calls = HttpCalls(self._http, self._call_timeout, budget, self._pace)
        controller = NoVipu() if vipu is None else self._controller(vipu, budget)
        hosts = HttpHosts(calls, self._call_timeout, budget, self._reached)
        return Site(
            vipu=controller,
            networks=HttpNetworks(calls),
            hosts=hosts,
            machines=HttpMachines(calls),
            volumes=HttpVolumes(calls),
            snapshots=HttpSnapshots(calls),
            addresses=HttpAddresses(calls),
        )

    async def inventory(self) -> Inventory:
        return await read_inventory(self._http, self._call_timeout, self._pace)

    @property
    def simulation(self) -> HttpSimulation:
        """Faults, which only a simulated site can be asked for."""
        return HttpSimulation(self._http, self._call_timeout)

    def events(self) -> AsyncGenerator[str]:
        """What the site notifies of: names of hardware, empty if it does not say. Raises SiteError when it ends."""
        return read_events(self._http, self._call_timeout)

    @classmethod
    def of(cls, settings: Settings) -> SiteClients:
        """The clients for a process with these settings. Raises ValueError without a site."""
        if settings.site_url is None:
            raise ValueError("IPUCLOUD_SITE_URL is not set")
        key = settings.vipu_secret()

        def credentials() -> Credentials | None:
            now = key()
            return None if now is None else Credentials(settings.vipu_user, now)

        return cls(
            settings.site_url,
            token=settings.site_secret(),
            call_timeout=settings.site_call_timeout,
            calls_per_second=settings.site_calls_per_second,
            vipu=VipuAccess(
                credentials,
                ClientFiles(settings.vipu_client_certificate, settings.vipu_client_key),
                settings.vipu_plaintext,
            ),
            reached=settings.reached,
        )

    async def close(self) -> None:
        await self._http.aclose()
        for _, connection in self._connections.values():
            await connection.channel.close(grace=None)

    def _controller(self, vipu: VipuAddress, budget: Budget) -> Vipu:
        from ipucloud.site.vipu import GrpcVipu  # with the first of them, and gRPC

        return GrpcVipu(
            self._connection(vipu),
            self._call_timeout,
            budget,
            self._pace,
            credentials=self._vipu.credentials() if vipu.secure else None,
            unsupported=unsupported(vipu.version),
        )

    def _connection(self, vipu: VipuAddress) -> Connection:
        """The connection to a controller; a new one once it is to be secured with something else.

        The one before closes with the last reconcile pass that uses it.
        """
        address = f"{vipu.host}:{vipu.admin_port}"
        name = " ".join(filter(None, ("the V-IPU controller", vipu.controller, "at", address)))
        try:
            secured = self._secured(vipu)
        except UntrustedError as error:
            return Connection(name, NoChannel(), problem=str(error))
        known = self._connections.get((vipu.host, vipu.admin_port))
        if known is None or known[0] != secured:
            from ipucloud.site.channels import connected

            known = secured, connected(secured, name, f"{self._reached(vipu.host)}:{vipu.admin_port}", vipu.host)
            self._connections[vipu.host, vipu.admin_port] = known
        return known[1]

    def _secured(self, vipu: VipuAddress) -> Secured:
        if vipu.authority is not None:
            return Secured(vipu.authority, self._identities.of(vipu.controller))
        if self._vipu.plaintext:
            return Secured(None, None)
        raise UntrustedError(
            f"the site's inventory has no authority for it, so it would be called in plaintext: give it TLS, or set"
            f" {PLAINTEXT}=true"
        )
