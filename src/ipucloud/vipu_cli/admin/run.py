"""Runs one `vipu-admin` command."""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Callable, Sequence

from ipucloud.vipu_cli.admin import show
from ipucloud.vipu_cli.admin.arguments import parse
from ipucloud.vipu_cli.admin.service import AdminController
from ipucloud.vipu_cli.configured import written
from ipucloud.vipu_cli.endpoint import Endpoint, VipuProblem
from ipucloud.vipu_cli.partitions import VERBS, list_partitions, server_version, succeeded
from ipucloud.vipu_cli.show import json, plain, plain_all
from ipucloud.vipu_cli.waiting import until_tested
from ipucloud.vipu_cli.world import Act, World, run_command
from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire.vipu_calls import OF_THE_SERVICE

FIRST_KEY = "first"
"""The id of the access key that a new user has."""


async def run(args: Sequence[str], world: World, connect: Callable[[Endpoint], AdminController]) -> int:
    """The exit status: 0 done, 1 failed with the cause on standard error, 2 invalid command line."""
    return await run_command(world, lambda: parse(args, world.prog), connect, _chosen)


def _chosen(options: argparse.Namespace) -> tuple[Act[AdminController], str]:
    if options.server_version:
        return server_version, "server version"
    noun = options.noun.removesuffix("s")
    verb = "remove" if options.verb == "delete" else options.verb
    named = f" ({options.id})" if "id" in options else ""
    return _ACTS.get((verb, noun)) or _partition, f"{options.verb} {options.noun}{named}"


async def _partition(world: World, controller: AdminController, options: argparse.Namespace) -> None:
    if options.verb == "create" and not options.allocation:
        options.allocation = await _only_allocation(controller, options.cluster)
    act = list_partitions if options.verb == "list" else VERBS[options.verb]
    await act(world, controller.about(options.allocation), options)


async def _only_allocation(controller: AdminController, cluster: str) -> str:
    """The only allocation that an operator made; empty if there is none at all. Without one, the controller takes any.

    What a cluster of a customer, or a validation of machines, has is used only by who names it. Raises VipuProblem.
    """
    known = [each.id for each in await controller.allocations() if cluster in {"", each.cluster_id}]
    own = [name for name in known if not OF_THE_SERVICE.fullmatch(name)]
    if known and not own:
        raise VipuProblem(
            "every allocation is of a cluster of the service: create one (`create allocation`), or name one with"
            f" --allocation: {', '.join(known)}"
        )
    if len(own) > 1:
        raise VipuProblem(f"name the allocation with --allocation: {', '.join(own)}")
    return own[0] if own else ""


async def _list_agents(world: World, controller: AdminController, options: argparse.Namespace) -> None:
    agents = await controller.agents()
    world.out(json({"agents": plain_all(agents)}) if options.showjson else show.agents(agents))


async def _get_agent(world: World, controller: AdminController, options: argparse.Namespace) -> None:
    agent = await controller.agent(options.id)
    if options.showjson:
        world.out(json({"agent": plain(agent)}))
        return
    entries = await controller.attributes([options.id])
    ipus = {number: dict(each.attributes) for entry in entries for number, each in entry.ipu_attributes.items()}
    world.out(show.agent(agent, await controller.version(), ipus))


async def _create_agent(world: World, controller: AdminController, options: argparse.Namespace) -> None:
    await controller.create_agent(options.id, options.host)
    succeeded(world, options)


async def _remove_agent(world: World, controller: AdminController, options: argparse.Namespace) -> None:
    await controller.remove_agent(options.id)
    succeeded(world, options)


async def _discover(world: World, controller: AdminController, options: argparse.Namespace) -> None:
    agents = await controller.discover_agents()
    world.out(json({"agents": plain_all(agents)}) if options.showjson else show.discovered(agents))


async def _list_clusters(world: World, controller: AdminController, options: argparse.Namespace) -> None:
    clusters = await controller.clusters()
    world.out(json({"clusters": plain_all(clusters)}) if options.showjson else show.clusters(clusters))


async def _get_cluster(world: World, controller: AdminController, options: argparse.Namespace) -> None:
    cluster = await controller.cluster(options.id)
    world.out(json({"cluster": plain(cluster)}) if options.showjson else show.clusters([cluster]))


async def _create_cluster(world: World, controller: AdminController, options: argparse.Namespace) -> None:
    cluster = admin.Cluster(
        id=options.id,
        agent_ids=options.agents,
        topology=f"TOPOLOGY_{(options.topology or 'undefined').upper()}",
        num_ipulink_domains=options.num_ipulinkdomains,
        gateway_topology=f"GATEWAY_{(options.cluster_topology or 'undefined').upper()}",
    )
    await controller.create_cluster(cluster)
    succeeded(world, options)


async def _remove_cluster(world: World, controller: AdminController, options: argparse.Namespace) -> None:
    await controller.remove_cluster(options.id)
    succeeded(world, options)


async def _test_cluster(world: World, controller: AdminController, options: argparse.Namespace) -> None:
    """Test the machines of one allocation of the cluster: our service tests none that nobody has set apart."""
    known = [each.id for each in await controller.allocations() if each.cluster_id == options.id]
    chosen = [options.allocation] if options.allocation else known
    if len(chosen) != 1 or chosen[0] not in known:
        raise VipuProblem(
            f"name one of its allocations with --allocation: {', '.join(known)}"
            if known
            else "no machine of it is in an allocation: create one of the machines to test"
        )
    test = f"vipu-admin-{secrets.token_hex(6)}"
    await controller.start_test(test, chosen[0])
    result = await until_tested(lambda: controller.test(test), options.timeout, world.sleep)
    world.out(json({"test": plain(result)}) if options.showjson else show.test(result))
    if result.state != admin.TS_PASSED:
        raise VipuProblem(f"the test of allocation {chosen[0]!r} failed")


async def _list_allocations(world: World, controller: AdminController, options: argparse.Namespace) -> None:
    allocations = await controller.allocations()
    documents = [show.allocation(each) for each in allocations]
    world.out(json({"allocations": documents}) if options.showjson else show.allocations(allocations))


async def _get_allocation(world: World, controller: AdminController, options: argparse.Namespace) -> None:
    allocation = await controller.allocation(options.id)
    world.out(
        json({"allocation": show.allocation(allocation)}) if options.showjson else show.allocations([allocation]),
    )


async def _create_allocation(world: World, controller: AdminController, options: argparse.Namespace) -> None:
    cluster = options.cluster
    if not cluster:
        clusters = [each.id for each in await controller.clusters()]
        if len(clusters) != 1:
            raise VipuProblem(f"name the cluster with --cluster: {', '.join(clusters) or 'there is none'}")
        cluster = clusters[0]
    await controller.create_allocation(
        admin.CreateAllocationRequest(id=options.id, cluster_id=cluster, agent_ids=options.agents, size=options.size)
    )
    succeeded(world, options)


async def _remove_allocation(world: World, controller: AdminController, options: argparse.Namespace) -> None:
    await controller.remove_allocation(options.id)
    succeeded(world, options)


async def _list_users(world: World, controller: AdminController, options: argparse.Namespace) -> None:
    users = await controller.users()
    world.out(json({"users": plain_all(users)}) if options.showjson else show.users(users))


async def _create_user(world: World, controller: AdminController, options: argparse.Namespace) -> None:
    """With an access key, which is also in the user's configuration files: one for each endpoint."""
    files = await _files(controller, options)
    await controller.create_user(options.id, options.allocations)
    try:
        secret = await controller.create_access_key(options.id, FIRST_KEY)
    except VipuProblem as problem:
        raise VipuProblem(f"the user was created without an access key, remove it: {problem}") from problem
    for path, endpoint in files.items():
        program = "vipu-admin" if "admin-port" in endpoint else "vipu"
        try:
            world.files.write(path, written(endpoint | {"api-user-id": options.id, "api-access-key": secret}))
        except OSError as error:
            world.err(f"warning: {path} was not written: {error.strerror}\n")
        else:
            world.err(f"wrote {path}, for: {program} --config {path} list partitions\n")
    succeeded(world, options, f" Access key is '{secret}'.")


async def _files(controller: AdminController, options: argparse.Namespace) -> dict[str, dict[str, str]]:
    """The endpoints that a new user may call, by the name of the file for it."""
    own = f"{options.id}.vipu-cli.hcl"
    if not options.allocations:
        return {own: {"api-host": controller.endpoint.host, "admin-port": str(controller.endpoint.port)}}
    allocations = [await controller.allocation(name) for name in options.allocations]
    return {
        own if len(allocations) == 1 else f"{options.id}.{each.id}.vipu-cli.hcl": {
            "api-host": each.endpoint_host,
            "api-port": str(each.endpoint_port),
        }
        for each in allocations
    }


async def _remove_user(world: World, controller: AdminController, options: argparse.Namespace) -> None:
    await controller.remove_user(options.id)
    succeeded(world, options)


_ACTS: dict[tuple[str, str], Act[AdminController]] = {
    ("list", "agent"): _list_agents,
    ("list", "cluster"): _list_clusters,
    ("list", "allocation"): _list_allocations,
    ("list", "user"): _list_users,
    ("get", "agent"): _get_agent,
    ("get", "cluster"): _get_cluster,
    ("get", "allocation"): _get_allocation,
    ("create", "agent"): _create_agent,
    ("create", "cluster"): _create_cluster,
    ("create", "allocation"): _create_allocation,
    ("create", "user"): _create_user,
    ("remove", "agent"): _remove_agent,
    ("remove", "cluster"): _remove_cluster,
    ("remove", "allocation"): _remove_allocation,
    ("remove", "user"): _remove_user,
    ("discover", "agent"): _discover,
    ("test", "cluster"): _test_cluster,
}
