"""The routes. A route's name is the call's name in fault rules."""

from __future__ import annotations

import secrets
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Header, HTTPException

from ipucloud.simulator.http.faulty import route_class
from ipucloud.simulator.site import Site
from ipucloud.wire.site import (
    FaultList,
    FaultRule,
    Host,
    HostList,
    Inventory,
    Network,
    NetworkList,
    NetworkSpec,
    PowerAction,
    RedfishReset,
    RedfishSystem,
    ServerSpec,
)


def build_app(site: Site, token: str) -> FastAPI:
    """The application. Every route wants the site token."""

    def authenticated(authorization: Annotated[str, Header()] = "") -> None:
        if not secrets.compare_digest(authorization.encode(), f"Bearer {token}".encode()):
            raise HTTPException(401, "the site token is missing or wrong", {"WWW-Authenticate": "Bearer"})

    app = FastAPI(title="ipucloud simulated site", docs_url=None, redoc_url=None, openapi_url=None)
    for router in (_inventory(site), _networks(site), _hosts(site), _redfish(site), _trouble(site)):
        app.include_router(router, dependencies=[Depends(authenticated)])
    return app


def _inventory(site: Site) -> APIRouter:
    router = APIRouter(route_class=route_class(site))

    @router.get("/v1/inventory", name="inventory.get")
    async def get_inventory() -> Inventory:
        return site.inventory()

    return router


def _networks(site: Site) -> APIRouter:
    router = APIRouter(prefix="/v1/networks", route_class=route_class(site))
    networks = site.networks

    @router.get("", name="networks.list")
    async def list_networks(region: str | None = None) -> NetworkList:
        return NetworkList(networks=networks.all(region))

    @router.get("/{name}", name="networks.get")
    async def get_network(name: str) -> Network:
        return networks.get(name)

    @router.put("/{name}", name="networks.put")
    async def put_network(name: str, spec: NetworkSpec) -> Network:
        return networks.put(name, spec)

    @router.delete("/{name}", name="networks.delete", status_code=204)
    async def delete_network(name: str) -> None:
        networks.delete(name)

    return router


def _hosts(site: Site) -> APIRouter:
    router = APIRouter(prefix="/v1/hosts", route_class=route_class(site))
    hosts = site.hosts

    @router.get("", name="hosts.list")
    async def list_hosts(region: str | None = None) -> HostList:
        return HostList(hosts=[await hosts.observe(name, count=False) for name in hosts.names(region)])

    @router.get("/{host}", name="hosts.get")
    async def get_host(host: str) -> Host:
        return await hosts.observe(host)

    @router.put("/{host}/server", name="hosts.put_server")
    async def put_server(host: str, spec: ServerSpec) -> Host:
        await hosts.put_server(host, spec)
        return await hosts.observe(host)

    @router.delete("/{host}/server", name="hosts.delete_server")
    async def delete_server(host: str, name: str | None = None) -> Host:
        await hosts.delete_server(host, name)
        return await hosts.observe(host)

    @router.post("/{host}/power", name="hosts.power")
    async def power(host: str, action: PowerAction) -> Host:
        await hosts.power(host, action.action)
        return await hosts.observe(host)

    return router


def _redfish(site: Site) -> APIRouter:
    router = APIRouter(prefix="/redfish/v1/Systems/{machine}", route_class=route_class(site))

    @router.get("", name="redfish.get")
    async def get_system(machine: str) -> RedfishSystem:
        return site.machines.system(machine)

    @router.post("/Actions/ComputerSystem.Reset", name="redfish.reset", status_code=204)
    async def reset(machine: str, body: RedfishReset) -> None:
        site.reset_machine(machine, body.ResetType)

    return router


def _trouble(site: Site) -> APIRouter:
    """Fault rules and broken hardware: the experimenter's side, itself beyond the reach of fault rules."""
    router = APIRouter(prefix="/v1", route_class=route_class(site.beyond_faults()))

    @router.get("/faults")
    async def list_faults() -> FaultList:
        return FaultList(faults=site.faults.all())

    @router.post("/faults", status_code=201)
    async def add_fault(rule: FaultRule) -> FaultRule:
        return site.faults.add(rule)

    @router.delete("/faults", status_code=204)
    async def remove_faults(id: str | None = None) -> None:  # noqa: A002 - the name on the wire
        site.faults.remove(id)

    @router.post("/machines/{machine}:fail", status_code=204)
    async def fail_machine(machine: str) -> None:
        site.fail_machine(machine)

    @router.post("/machines/{machine}:repair", status_code=204)
    async def repair_machine(machine: str) -> None:
        site.machines.repair(machine)

    @router.post("/hosts/{host}:fail", status_code=204)
    async def fail_host(host: str) -> None:
        await site.hosts.fail(host)

    @router.post("/hosts/{host}:repair", status_code=204)
    async def repair_host(host: str) -> None:
        await site.hosts.repair(host)

    return router
