"""Networks, hosts and machine power over the site's HTTP interface (`ipucloud.wire.site`)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Literal, TypeVar

import httpx
from pydantic import ValidationError

from ipucloud.kernel.failpoints import failpoint
from ipucloud.site.calls import Call, Pace
from ipucloud.site.ports import Budget, SiteBusy, SiteRefused, SiteUnknown
from ipucloud.wire.base import Wire
from ipucloud.wire.inventory import Inventory
from ipucloud.wire.redfish import RedfishLog, RedfishLogEntry, RedfishReset, RedfishSystem, RedfishSystems
from ipucloud.wire.site import (
    CONSOLE_BOOTS,
    CONSOLE_BYTES,
    Console,
    Host,
    HostList,
    Job,
    JobRequest,
    JobStop,
    LoginKey,
    Network,
    NetworkList,
    NetworkSpec,
    PowerAction,
    S3Remote,
    ServerKeys,
    ServerPreemption,
    ServerRebuild,
    ServerS3,
    ServerSources,
    ServerSpec,
)

Answer = TypeVar("Answer", bound=Wire)

CONNECT_SECONDS = 2.0
"""A site that accepts no connection within this time is down; the rest of a call's time is for its answer."""
PAGE = 1_000
"""Machines asked for in one call."""
MAX_MACHINES = 65_536
"""Machines of a region that are asked for, whatever number the site names."""
MOST_BYTES = 67_108_864
"""Of any answer: the hosts of the largest region are a tenth of that."""
MOST_CONSOLE = CONSOLE_BOOTS * (6 * CONSOLE_BYTES + 1_000)
"""Bytes of an answer with a console: JSON writes a control character with six."""
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
"""U+0000 in a string of JSON. PostgreSQL stores none, and what a program or a controller wrote may have one."""


class HttpCalls:
    """HTTP calls, each within its budget. A call returns an answer or None (404), or raises a SiteError."""

    def __init__(self, client: httpx.AsyncClient, call_timeout: float, budget: Budget, pace: Pace) -> None:
        self._client = client
        self._call_timeout = call_timeout
        self._budget = budget
        self._pace = pace

    async def call(
        self,
        call: Call,
        method: str,
        path: str,
        *,
        body: Wire | None = None,
        params: dict[str, str] | None = None,
        most: int | None = None,
    ) -> httpx.Response | None:
        """`most`: bytes that the answer may have; of a longer one no more is read, and it is refused."""
        await self._pace.turn()
        seconds = min(self._call_timeout, self._budget())
        what = f"{method} {path}"
        failpoint("site.before", call)
        try:
            # The client's own time-outs restart with every byte; this one covers the whole call.
            async with asyncio.timeout(seconds):
                request = self._client.build_request(
                    method,
                    path,
                    params=params,
                    json=None if body is None else body.model_dump(mode="json"),
                    timeout=httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
                )
                response = await self._client.send(request, stream=True)
                try:
                    response = await _loaded(response, most, what)
                finally:
                    await response.aclose()
        except _NOT_SENT as error:
            raise SiteBusy(f"{what}: the site cannot be reached") from error
        except (httpx.HTTPError, TimeoutError) as error:
            raise SiteUnknown(f"{what}: no answer ({type(error).__name__})") from error
        finally:
            failpoint("site.after", call)
        if response.status_code == httpx.codes.NOT_FOUND:
            return None
        if response.status_code == httpx.codes.TOO_MANY_REQUESTS:
            raise SiteBusy(f"{what}: the site asked to wait")
        if response.status_code == httpx.codes.CONFLICT:
            raise SiteBusy(f"{what}: a conflict at the site")
        if response.is_server_error:
            raise SiteUnknown(f"{what}: status {response.status_code}")
        if response.is_error:
            raise SiteRefused(f"{what}: status {response.status_code}")
        return response

    async def read(
        self,
        call: Call,
        method: str,
        path: str,
        model: type[Answer],
        *,
        body: Wire | None = None,
        params: dict[str, str] | None = None,
        most: int | None = None,
    ) -> Answer | None:
        response = await self.call(call, method, path, body=body, params=params, most=most)
        if response is None:
            return None
        try:
            return model.model_validate_json(_without_nul(response.content))
        except ValidationError as error:
            raise SiteUnknown(f"{method} {path}: the answer is not a {model.__name__}") from error

    async def must(
        self,
        call: Call,
        method: str,
        path: str,
        model: type[Answer],
        *,
        body: Wire | None = None,
        params: dict[str, str] | None = None,
    ) -> Answer:
        answer = await self.read(call, method, path, model, body=body, params=params)
        if answer is None:
            raise SiteRefused(f"{method} {path}: the site does not know it")
        return answer


def _without_nul(content: bytes) -> bytes:
    return _NUL.sub(rb"\1\\ufffd", content) if b"\\u0000" in content else content


async def _loaded(response: httpx.Response, most: int | None, what: str) -> httpx.Response:
    """The answer with its body, as it is: none was asked for in another encoding.

    Raises SiteRefused when it is longer than `most`, or SiteUnknown when it is longer than any answer may be.
    """
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_raw():
        size += len(part)
        if most is not None and size > most:
            raise SiteRefused(f"{what}: an answer of more than {most} bytes")
        if size > MOST_BYTES:
            raise SiteUnknown(f"{what}: an answer without end")
        parts.append(part)
    return httpx.Response(response.status_code, content=b"".join(parts))


class HttpNetworks:
    def __init__(self, calls: HttpCalls) -> None:
        self._calls = calls

    async def get(self, name: str) -> Network | None:
        return await self._calls.read(Call.GET_NETWORK, "GET", f"/v1/networks/{name}", Network)

    async def list(self, region: str) -> Sequence[Network]:
        answer = await self._calls.must(
            Call.LIST_NETWORKS, "GET", "/v1/networks", NetworkList, params={"region": region}
        )
        return answer.networks

    async def put(self, name: str, spec: NetworkSpec) -> Network:
        return await self._calls.must(Call.PUT_NETWORK, "PUT", f"/v1/networks/{name}", Network, body=spec)

    async def delete(self, name: str) -> None:
        await self._calls.call(Call.DELETE_NETWORK, "DELETE", f"/v1/networks/{name}")


class HttpHosts:
    def __init__(self, calls: HttpCalls, call_timeout: float, budget: Budget, reached: Callable[[str], str]) -> None:
        self._calls = calls
        self._call_timeout = call_timeout
        self._budget = budget
        self._reached = reached

    async def get(self, host: str) -> Host:
        return await self._calls.must(Call.GET_HOST, "GET", f"/v1/hosts/{host}", Host)

    async def list(self, region: str) -> Sequence[Host]:
        answer = await self._calls.must(Call.LIST_HOSTS, "GET", "/v1/hosts", HostList, params={"region": region})
        return answer.hosts

    async def put_server(self, host: str, spec: ServerSpec) -> Host:
        return await self._calls.must(Call.PUT_SERVER, "PUT", f"/v1/hosts/{host}/server", Host, body=spec)

    async def delete_server(self, host: str, name: str) -> None:
        await self._calls.call(Call.DELETE_SERVER, "DELETE", f"/v1/hosts/{host}/server", params={"name": name})

    async def switch_on(self, host: str, server: str, network: str, environment: Mapping[str, str]) -> Host:
        return await self._power(
            host, PowerAction(action="on", server=server, network=network, environment=dict(environment))
        )

    async def switch_off(self, host: str, server: str, network: str) -> Host:
        return await self._power(host, PowerAction(action="off", server=server, network=network))

    async def restart(self, host: str, server: str, network: str, *, boot_id: str, hard: bool) -> Host:
        action = PowerAction(
            action="power-cycle" if hard else "reboot", server=server, network=network, boot_id=boot_id
        )
        return await self._power(host, action)

    async def put_keys(self, host: str, server: str, network: str, keys: Sequence[str], *, revision: int) -> Host:
        body = ServerKeys(server=server, network=network, ssh_authorized_keys=[*keys], revision=revision)
        return await self._calls.must(Call.PUT_KEYS, "PUT", f"/v1/hosts/{host}/server/keys", Host, body=body)

    async def put_login_key(self, host: str, name: str, key: LoginKey) -> Host:
        path = f"/v1/hosts/{host}/server/login-keys/{name}"
        return await self._calls.must(Call.PUT_LOGIN_KEY, "PUT", path, Host, body=key)

    async def put_sources(self, host: str, server: str, network: str, sources: Sequence[str], *, revision: int) -> Host:
        body = ServerSources(server=server, network=network, allowed_sources=[*sources], revision=revision)
        return await self._calls.must(Call.PUT_SOURCES, "PUT", f"/v1/hosts/{host}/server/sources", Host, body=body)

    async def put_s3(
        self, host: str, server: str, network: str, connections: Sequence[S3Remote], *, revision: int
    ) -> Host:
        body = ServerS3(server=server, network=network, connections=[*connections], revision=revision)
        return await self._calls.must(Call.PUT_S3, "PUT", f"/v1/hosts/{host}/server/s3", Host, body=body)

    async def put_preemption(
        self, host: str, server: str, network: str, preempt_at: datetime | None, *, revision: int
    ) -> Host:
        body = ServerPreemption(server=server, network=network, preempt_at=preempt_at, revision=revision)
        path = f"/v1/hosts/{host}/server/preemption"
        return await self._calls.must(Call.PUT_PREEMPTION, "PUT", path, Host, body=body)

    async def rebuild(self, host: str, spec: ServerSpec, *, disk: Literal["keep", "wipe"]) -> Host:
        body = ServerRebuild(server=spec, disk=disk)
        return await self._calls.must(Call.REBUILD_SERVER, "POST", f"/v1/hosts/{host}/server/rebuild", Host, body=body)

    async def put_job(self, host: str, job: str, request: JobRequest) -> Job:
        return await self._calls.must(Call.PUT_JOB, "PUT", _job_path(host, job), Job, body=request)

    async def get_job(self, host: str, job: str, *, server: str, network: str, log_from: int) -> Job | None:
        params = {"server": server, "network": network, "log_from": str(log_from)}
        return await self._calls.read(Call.GET_JOB, "GET", _job_path(host, job), Job, params=params)

    async def stop_job(self, host: str, job: str, *, server: str, network: str) -> Job:
        body = JobStop(server=server, network=network)
        return await self._calls.must(Call.STOP_JOB, "POST", f"{_job_path(host, job)}/stop", Job, body=body)

    async def console(self, host: str, server: str, network: str, *, after: int) -> Console | None:
        params = {"server": server, "network": network, "after": str(after)}
        path = f"/v1/hosts/{host}/server/console"
        return await self._calls.read(Call.GET_CONSOLE, "GET", path, Console, params=params, most=MOST_CONSOLE)

    async def _power(self, host: str, action: PowerAction) -> Host:
        return await self._calls.must(Call.POWER_HOST, "POST", f"/v1/hosts/{host}/power", Host, body=action)

    async def ssh_host_key(self, address: str, port: int) -> str | None:
        import asyncssh

        seconds = min(self._call_timeout, self._budget())
        failpoint("site.before", Call.SSH_HOST_KEY)
        try:
            async with asyncio.timeout(seconds):
                key = await asyncssh.get_server_host_key(
                    self._reached(address), port, server_host_key_algs=["ssh-ed25519"], config=None
                )
        except (OSError, TimeoutError, asyncssh.Error):
            return None
        finally:
            failpoint("site.after", Call.SSH_HOST_KEY)
        return None if key is None else key.export_public_key().decode().strip()


def _job_path(host: str, job: str) -> str:
    return f"/v1/hosts/{host}/server/jobs/{job}"


class HttpMachines:
    def __init__(self, calls: HttpCalls) -> None:
        self._calls = calls

    async def get(self, machine: str) -> RedfishSystem:
        return await self._calls.must(Call.GET_MACHINE, "GET", f"/redfish/v1/Systems/{machine}", RedfishSystem)

    async def list(self, region: str) -> Sequence[RedfishSystem]:
        """Page by page: each call is bounded, whatever the size of the region."""
        systems: list[RedfishSystem] = []
        skip = 0
        while True:
            page = await self._calls.must(
                Call.LIST_MACHINES,
                "GET",
                "/redfish/v1/Systems",
                RedfishSystems,
                params={"region": region, "$skip": str(skip), "$top": str(PAGE)},
            )
            systems += page.Members
            skip += PAGE
            if skip >= min(page.count, MAX_MACHINES):
                return systems

    async def log(self, machine: str) -> Sequence[RedfishLogEntry]:
        path = f"/redfish/v1/Systems/{machine}/LogServices/SEL/Entries"
        return (await self._calls.must(Call.GET_MACHINE_LOG, "GET", path, RedfishLog)).Members

    async def power_on(self, machine: str, network: str) -> None:
        await self._reset(machine, RedfishReset(ResetType="On"), network)

    async def power_off(self, machine: str, network: str) -> None:
        await self._reset(machine, RedfishReset(ResetType="ForceOff"), network)

    async def _reset(self, machine: str, reset: RedfishReset, network: str) -> None:
        path = f"/redfish/v1/Systems/{machine}/Actions/ComputerSystem.Reset"
        if await self._calls.call(Call.RESET_MACHINE, "POST", path, body=reset, params={"network": network}) is None:
            raise SiteRefused(f"POST {path}: the site does not know it")


async def read_inventory(client: httpx.AsyncClient, call_timeout: float, pace: Pace) -> Inventory:
    """The site's own list of its hardware."""
    calls = HttpCalls(client, call_timeout, lambda: call_timeout, pace)
    return await calls.must(Call.GET_INVENTORY, "GET", "/v1/inventory", Inventory)
