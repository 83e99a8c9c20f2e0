"""The routes of the site's HTTP interface. A route's name is the call's name in fault rules."""

from __future__ import annotations

from functools import partial

from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from ipucloud.laboratory.simulator.http.addresses import address_routes
from ipucloud.laboratory.simulator.http.calls import Act, Calls, body_of
from ipucloud.laboratory.simulator.http.storage import storage_routes
from ipucloud.laboratory.simulator.refusal import invalid, not_found
from ipucloud.laboratory.simulator.site import Site
from ipucloud.wire.faults import (
    Broken,
    FaultList,
    FaultRule,
    HardwareShown,
    HardwareShownList,
    LinkFault,
    SensorReading,
    ServersConfinement,
)
from ipucloud.wire.inventory import Inventory, LinkKind, LinkState
from ipucloud.wire.redfish import EVENTS, RedfishLog, RedfishReset, RedfishSystem, RedfishSystems
from ipucloud.wire.site import (
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
    ServerKeys,
    ServerPreemption,
    ServerRebuild,
    ServerS3,
    ServerSources,
    ServerSpec,
)


def build_app(site: Site, token: str) -> Starlette:
    """The application. Every call wants the site token; fault rules do not reach the calls that set them."""
    calls, unharmed = Calls(site, token), Calls(site.beyond_faults(), token)
    routes = [
        *_hardware(site, calls),
        *_networks(site, calls),
        *_hosts(site, calls),
        *_logins(site, calls),
        *_notices(site, calls),
        *_jobs(site, calls),
        *storage_routes(site, calls),
        *address_routes(site, calls),
    ]
    routes += [*_trouble(site, unharmed), *_breakages(site, unharmed), *_shown(site, unharmed)]
    return Starlette(routes=routes)


def _hardware(site: Site, calls: Calls) -> list[Route]:
    async def get_inventory(request: Request) -> Inventory:  # noqa: ARG001 - every call has the same signature
        return site.inventory(containers=await site.confinement.runs_images())

    async def get_system(request: Request) -> RedfishSystem:
        return site.machines.system(request.path_params["machine"])

    async def list_systems(request: Request) -> RedfishSystems:
        query = request.query_params
        names = site.machines_of(query.get("region"))
        skip, top = (number(query.get(name), default) for name, default in (("$skip", 0), ("$top", len(names))))
        page = [name for name in names[skip : skip + top] if _answers(site, name)]
        return RedfishSystems(Members=[site.machines.system(name) for name in page], count=len(names))

    async def get_log(request: Request) -> RedfishLog:
        return site.machines.log(request.path_params["machine"])

    async def reset(request: Request) -> None:
        body = await body_of(request, RedfishReset)
        site.reset_machine(request.path_params["machine"], body.ResetType, request.query_params.get("network"))

    system = "/redfish/v1/Systems/{machine}"
    return [
        calls.route("GET", "/v1/inventory", "inventory.get", get_inventory),
        calls.route("GET", "/redfish/v1/Systems", "redfish.list", list_systems),
        calls.route("GET", system, "redfish.get", get_system),
        calls.route("GET", f"{system}/LogServices/SEL/Entries", "redfish.log", get_log),
        calls.route("POST", f"{system}/Actions/ComputerSystem.Reset", "redfish.reset", reset),
        calls.stream(EVENTS, "redfish.events", site.events.stream),
    ]


def _networks(site: Site, calls: Calls) -> list[Route]:
    networks = site.networks

    async def list_networks(request: Request) -> NetworkList:
        return NetworkList(networks=networks.all(request.query_params.get("region")))

    async def get_network(request: Request) -> Network:
        return networks.get(request.path_params["name"])

    async def put_network(request: Request) -> Network:
        return networks.put(request.path_params["name"], await body_of(request, NetworkSpec))

    async def delete_network(request: Request) -> None:
        networks.delete(request.path_params["name"])

    return [
        calls.route("GET", "/v1/networks", "networks.list", list_networks),
        calls.route("GET", "/v1/networks/{name}", "networks.get", get_network),
        calls.route("PUT", "/v1/networks/{name}", "networks.put", put_network),
        calls.route("DELETE", "/v1/networks/{name}", "networks.delete", delete_network),
    ]


def _hosts(site: Site, calls: Calls) -> list[Route]:
    hosts, servers = site.hosts, site.host_servers

    async def list_hosts(request: Request) -> HostList:
        names = hosts.names(request.query_params.get("region"))
        return HostList(hosts=[await hosts.observe(name, count=False) for name in names])

    async def get_host(request: Request) -> Host:
        return await hosts.observe(request.path_params["host"])

    async def put_server(request: Request) -> Host:
        await hosts.put_server(request.path_params["host"], await body_of(request, ServerSpec))
        return await get_host(request)

    async def delete_server(request: Request) -> Host:
        await hosts.delete_server(request.path_params["host"], request.query_params.get("name"))
        return await get_host(request)

    async def put_keys(request: Request) -> Host:
        await servers.put_keys(request.path_params["host"], await body_of(request, ServerKeys))
        return await get_host(request)

    async def put_s3(request: Request) -> Host:
        await servers.put_s3(request.path_params["host"], await body_of(request, ServerS3))
        return await hosts.observe(request.path_params["host"])

    async def rebuild(request: Request) -> Host:
        await hosts.rebuild(request.path_params["host"], await body_of(request, ServerRebuild))
        return await get_host(request)

    async def console(request: Request) -> Console:
        query = request.query_params
        output = servers.console_of(request.path_params["host"], query.get("server", ""), query.get("network", ""))
        return Console(boots=[*output.boots(number(query.get("after"), 0))])

    async def power(request: Request) -> Host:
        await hosts.power(request.path_params["host"], await body_of(request, PowerAction))
        return await get_host(request)

    return [
        calls.route("GET", "/v1/hosts", "hosts.list", list_hosts),
        calls.route("GET", "/v1/hosts/{host}", "hosts.get", get_host),
        calls.route("PUT", "/v1/hosts/{host}/server", "hosts.put_server", put_server),
        calls.route("DELETE", "/v1/hosts/{host}/server", "hosts.delete_server", delete_server),
        calls.route("PUT", "/v1/hosts/{host}/server/keys", "hosts.put_keys", put_keys),
        calls.route("PUT", "/v1/hosts/{host}/server/s3", "hosts.put_s3", put_s3),
        calls.route("POST", "/v1/hosts/{host}/server/rebuild", "hosts.rebuild", rebuild),
        calls.route("GET", "/v1/hosts/{host}/server/console", "hosts.console", console),
        calls.route("POST", "/v1/hosts/{host}/power", "hosts.power", power),
    ]


def _notices(site: Site, calls: Calls) -> list[Route]:
    hosts, servers = site.hosts, site.host_servers

    async def put_preemption(request: Request) -> Host:
        await servers.put_preemption(request.path_params["host"], await body_of(request, ServerPreemption))
        return await hosts.observe(request.path_params["host"])

    return [
        calls.route("PUT", "/v1/hosts/{host}/server/preemption", "hosts.put_preemption", put_preemption),
    ]


def _logins(site: Site, calls: Calls) -> list[Route]:
    hosts, servers = site.hosts, site.host_servers

    async def put_login_key(request: Request) -> Host:
        path = request.path_params
        await servers.put_login_key(path["host"], path["key"], await body_of(request, LoginKey))
        return await hosts.observe(path["host"])

    async def put_sources(request: Request) -> Host:
        await servers.put_sources(request.path_params["host"], await body_of(request, ServerSources))
        return await hosts.observe(request.path_params["host"])

    return [
        calls.route("PUT", "/v1/hosts/{host}/server/sources", "hosts.put_sources", put_sources),
        calls.route("PUT", "/v1/hosts/{host}/server/login-keys/{key}", "hosts.put_login_key", put_login_key),
    ]


def _jobs(site: Site, calls: Calls) -> list[Route]:
    servers = site.host_servers

    async def put_job(request: Request) -> Job:
        name = request.path_params["host"]
        body = await body_of(request, JobRequest)
        jobs = await servers.jobs_of(name, body.server, body.network, generation=body.generation)
        return await jobs.put(request.path_params["job"], body)

    async def get_job(request: Request) -> Job:
        query = request.query_params
        name = request.path_params["host"]
        jobs = await servers.jobs_of(name, query.get("server", ""), query.get("network", ""))
        return jobs.get(request.path_params["job"], number(query.get("log_from"), 0))

    async def stop_job(request: Request) -> Job:
        body = await body_of(request, JobStop)
        jobs = await servers.jobs_of(request.path_params["host"], body.server, body.network)
        return await jobs.stop(request.path_params["job"])

    job = "/v1/hosts/{host}/server/jobs/{job}"
    return [
        calls.route("PUT", job, "hosts.put_job", put_job),
        calls.route("GET", job, "hosts.get_job", get_job),
        calls.route("POST", f"{job}/stop", "hosts.stop_job", stop_job),
    ]


def _trouble(site: Site, calls: Calls) -> list[Route]:
    """Fault rules, what a controller forgets, and its certificates: the experimenter's side."""
    notifying = partial(_notifying, site)

    async def list_faults(request: Request) -> FaultList:  # noqa: ARG001 - every call has the same signature
        return FaultList(faults=site.faults.all())

    async def add_fault(request: Request) -> FaultRule:
        return site.faults.add(await body_of(request, FaultRule))

    async def remove_faults(request: Request) -> None:
        site.faults.remove(request.query_params.get("id"))

    async def forget(request: Request) -> None:
        site.forget(request.path_params["name"])

    async def rotate_certificates(request: Request) -> None:
        site.rotate_certificates(request.path_params["name"])

    async def replace_authority(request: Request) -> None:
        site.replace_authority(request.path_params["name"])

    controller = "/v1/controllers/{name}"
    return [
        calls.route("GET", "/v1/faults", "faults.list", list_faults),
        calls.route("POST", "/v1/faults", "faults.add", add_fault, status=201),
        calls.route("DELETE", "/v1/faults", "faults.remove", remove_faults),
        calls.route("POST", f"{controller}:forget", "controllers.forget", notifying(forget)),
        calls.route(
            "POST", f"{controller}:rotate-certificates", "controllers.rotate_certificates", rotate_certificates
        ),
        calls.route("POST", f"{controller}:replace-authority", "controllers.replace_authority", replace_authority),
    ]


def _breakages(site: Site, calls: Calls) -> list[Route]:
    """Machines, links and hosts that break now, or are repaired."""
    notifying = partial(_notifying, site)

    async def list_broken(request: Request) -> Broken:  # noqa: ARG001 - every call has the same signature
        links = site.cables.all_broken()
        return Broken(machines=site.machines.broken(), hosts=await site.hosts.broken(), links=links)

    async def fail_machine(request: Request) -> None:
        site.fail_machine(request.path_params["machine"])

    async def hang_machine(request: Request) -> None:
        site.machines.hang(request.path_params["machine"])

    async def repair_machine(request: Request) -> None:
        site.repair_machine(request.path_params["machine"])

    async def show_sensor(request: Request) -> None:
        shown = await body_of(request, SensorReading)
        site.machines.show(request.path_params["machine"], request.path_params["sensor"], shown.reading)

    async def fail_link(request: Request) -> None:
        fault = await body_of(request, LinkFault)
        site.fail_link(*_link(request), LinkState(fault.state))

    async def repair_link(request: Request) -> None:
        site.repair_link(*_link(request))

    async def fail_host(request: Request) -> None:
        await site.hosts.fail(request.path_params["host"])

    async def repair_host(request: Request) -> None:
        await site.hosts.repair(request.path_params["host"])

    return [
        calls.route("GET", "/v1/broken", "faults.broken", list_broken),
        calls.route("POST", "/v1/machines/{machine}:fail", "machines.fail", notifying(fail_machine)),
        calls.route("POST", "/v1/machines/{machine}:hang", "machines.hang", notifying(hang_machine)),
        calls.route("POST", "/v1/machines/{machine}:repair", "machines.repair", notifying(repair_machine)),
        calls.route("PUT", "/v1/machines/{machine}/sensors/{sensor}", "sensors.put", notifying(show_sensor)),
        calls.route("POST", "/v1/machines/{machine}/links/{kind}:fail", "links.fail", notifying(fail_link)),
        calls.route("POST", "/v1/machines/{machine}/links/{kind}:repair", "links.repair", notifying(repair_link)),
        calls.route("POST", "/v1/hosts/{host}:fail", "hosts.fail", notifying(fail_host)),
        calls.route("POST", "/v1/hosts/{host}:repair", "hosts.repair", notifying(repair_host)),
    ]


def _shown(site: Site, calls: Calls) -> list[Route]:
    """What hardware shows of itself in place of what it was built with, and what confines the programs of servers."""
    notifying = partial(_notifying, site)

    async def list_shown(request: Request) -> HardwareShownList:  # noqa: ARG001 - every call has the same signature
        return HardwareShownList(hardware=site.identities.all())

    async def put_shown(request: Request) -> HardwareShown:
        return site.show(request.path_params["name"], await body_of(request, HardwareShown))

    async def delete_shown(request: Request) -> None:
        site.identities.remove(request.path_params["name"])

    async def get_confinement(request: Request) -> ServersConfinement:  # noqa: ARG001 - as above
        return await site.confinement.shown()

    return [
        calls.route("GET", "/v1/confinement", "hardware.confinement", get_confinement),
        calls.route("GET", "/v1/hardware", "hardware.list", list_shown),
        calls.route("PUT", "/v1/hardware/{name}", "hardware.put", notifying(put_shown)),
        calls.route("DELETE", "/v1/hardware/{name}", "hardware.delete", notifying(delete_shown)),
    ]


def _notifying(site: Site, act: Act) -> Act:
    """The call, after whose effect whoever listens is told."""

    async def notifying(request: Request) -> BaseModel | None:
        answer = await act(request)
        site.events.notify(f"/redfish/v1/Systems/{next(iter(request.path_params.values()))}")
        return answer

    return notifying


def _answers(site: Site, machine: str) -> bool:
    """Whether the BMC of a machine answers."""
    return not site.identities.is_hidden(machine) and site.faults.plan("redfish.member", machine).rule is None


def number(text: str | None, default: int) -> int:
    """A count of a query parameter; refuses what is not a count."""
    if text is None:
        return default
    if not text.isascii() or not text.isdigit():
        raise invalid(f"{text!r} is not a count")
    return int(text)


def _link(request: Request) -> tuple[str, LinkKind]:
    machine, kind = request.path_params["machine"], request.path_params["kind"]
    if kind not in set(LinkKind):
        raise not_found(f"a machine has no {kind} link; it has {', '.join(LinkKind)}")
    return machine, LinkKind(kind)
