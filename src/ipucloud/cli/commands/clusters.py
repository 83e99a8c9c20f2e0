"""`ipucloud clusters`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ipucloud.cli import certificates
from ipucloud.cli import ssh as openssh
from ipucloud.cli.commands.cluster_facts import affected, facts, troubled
from ipucloud.cli.completion import its_partitions, names
from ipucloud.cli.finding import (
    CLUSTER,
    CONNECTION,
    FLAVOR,
    IMAGE,
    REGION,
    SSH_KEY,
    VOLUME,
    find_cluster,
    partition_kind,
    suggesting,
)
from ipucloud.cli.following import carry_out, follow
from ipucloud.cli.output import shown
from ipucloud.cli.repair_windows import AutoRepair, Window
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.times import ExpiresAt, WaitUntil
from ipucloud.cli.values import Order, Sorted, key_values, volumes_of
from ipucloud.client import clusters, flavors, images, operations, partitions, ssh_keys
from ipucloud.client.call import Call
from ipucloud.client.clusters import NewCluster
from ipucloud.client.errors import ApiError, OperationFailedError, UsageError
from ipucloud.client.models import (
    Cluster,
    ClusterState,
    EstimateWait,
    Machine,
    Operation,
    OperationState,
    Origin,
    PoplarServer,
    TopologyMachine,
)

app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Name or id of the cluster.", autocompletion=names(CLUSTER))]
Flavor = Annotated[
    str, typer.Option(help="Size of the cluster; see `ipucloud flavors list`.", autocompletion=names(FLAVOR))
]
Region = Annotated[
    str | None, typer.Option(help="Region; required if the flavor is sold in several.", autocompletion=names(REGION))
]
Image = Annotated[str | None, typer.Option(help="Poplar image; default: the newest.", autocompletion=names(IMAGE))]
Keys = Annotated[
    list[str] | None,
    typer.Option(
        "--ssh-key",
        help="Name of an SSH key; repeatable. Default: the project's only key.",
        autocompletion=names(SSH_KEY),
    ),
]
Buckets = Annotated[
    list[str] | None,
    typer.Option(
        "--s3-connection",
        help="Name of an S3 connection for its servers; repeatable.",
        autocompletion=names(CONNECTION),
    ),
]
Volumes = Annotated[
    list[str] | None,
    typer.Option(
        "--volume",
        metavar="VOLUME[:SERVER]",
        help="Name or id of a volume for its first Poplar server, or the one with this number, from 0; repeatable.",
        autocompletion=names(VOLUME),
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it is done.")]
Idle = Annotated[
    int | None,
    typer.Option(
        "--idle-suspend", min=5, max=43_200, metavar="MINUTES", help="Suspend it when nobody has used it for so long."
    ),
]
Preemptible = Annotated[
    bool,
    typer.Option(
        "--preemptible",
        help="At the preemptible price; suspended with notice when another cluster needs its room.",
    ),
]
PoplarServers = Annotated[
    int | None, typer.Option("--poplar-servers", min=1, help="Number of Poplar servers; by default, the flavor's.")
]
WaitForCapacity = Annotated[
    bool, typer.Option("--wait-for-capacity", help="Wait in the queue when no machines are free for it.")
]
Patience = Annotated[float | None, typer.Option("--timeout", help="Maximum seconds to wait; the operation continues.")]
Server = Annotated[int, typer.Option(help="Index of the Poplar server, from 0.")]
Identity = Annotated[
    Path | None, typer.Option("--identity", "-i", exists=True, dir_okay=False, help="Private key to log in with.")
]


@customer_command(
    app,
    "create",
    "bert --flavor m2000-pod16",
    "bert --flavor m2000-pod16 --tag team=nlp --expires-at 8h --volume checkpoints --no-wait",
)
def create(
    session: Session,
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and hyphens; starts with a letter.")],
    *,
    flavor: Flavor,
    region: Region = None,
    image: Image = None,
    ssh_keys: Keys = None,
    s3_connections: Buckets = None,
    volumes: Volumes = None,
    user_data: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            readable=True,
            help="File with user data for cloud-init: #cloud-config, or a script.",
        ),
    ] = None,
    tags: Annotated[
        list[str] | None, typer.Option("--tag", metavar="KEY=VALUE", help="Set this tag; repeatable.")
    ] = None,
    poplar_servers: PoplarServers = None,
    reconfigurable: Annotated[bool, typer.Option(help="Make the default partition reconfigurable.")] = True,
    protect: Annotated[bool, typer.Option("--protect", "--delete-protection", help="Refuse deletion.")] = False,
    expires_at: ExpiresAt = None,
    auto_repair: AutoRepair = True,
    repair_window: Window = None,
    idle: Idle = None,
    wait_for_capacity: WaitForCapacity = False,
    wait_until: WaitUntil = None,
    preemptible: Preemptible = False,
    reservation: Annotated[
        str | None, typer.Option(help="Id of the active reservation to create it from (ipucloud reservations list).")
    ] = None,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Create a cluster and wait until it is active."""
    with _suggesting(session, flavor, region, image, ssh_keys):
        region = region or only_region(session, flavor)
        wanted = NewCluster(
            name,
            region=region,
            flavor=flavor,
            image=image or newest_image(session, region),
            ssh_keys=ssh_keys or only_key(session),
            s3_connections=s3_connections or (),
            volumes=volumes_of(volumes),
            user_data=user_data.read_text() if user_data else None,
            tags=key_values(tags),
            reconfigurable=reconfigurable,
            poplar_servers=poplar_servers,
            delete_protection=protect,
            expires_at=expires_at,
            auto_repair=auto_repair,
            repair_window=repair_window,
            idle_suspend_minutes=idle,
            wait_for_capacity=wait_for_capacity or wait_until is not None,
            wait_until=wait_until,
            preemptible=preemptible,
            reservation=reservation,
        )
        operation = session.run(clusters.create(wanted))
    if wait:
        try:
            operation = follow(session, operation, patience)
        except OperationFailedError as error:
            if error.operation.state == OperationState.FAILED:
                error.detail += f" The failed cluster keeps its name until: ipucloud clusters delete {name}"
            raise
    _show(session, session.run(clusters.get(operation.target.id)), operation)


@customer_command(app, "list", "", "--state active --tag team=nlp", "--order name")
def list_clusters(
    session: Session,
    *,
    state: Annotated[ClusterState | None, typer.Option(help="Only those in this state.")] = None,
    region: Annotated[str | None, typer.Option(help="Only those in this region.", autocompletion=names(REGION))] = None,
    flavor: Annotated[str | None, typer.Option(help="Only those of this flavor.", autocompletion=names(FLAVOR))] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", metavar="KEY=VALUE", help="Only with this tag.")] = None,
    order: Sorted = Order.NEWEST_FIRST,
) -> None:
    """List the project's clusters."""
    session.list(
        clusters.list(state=state, region=region, flavor=flavor, tags=key_values(tags), order=order),
        ("NAME", "STATE", "FAULTS", "FLAVOR", "REGION", "IPUS", "PREEMPTIBLE", "MINUTES", "COST", "CREATED"),
        lambda each: (
            each.name,
            each.state,
            affected(each.faults),
            each.flavor,
            each.region,
            each.ipus,
            each.preempt_at or each.preemptible or None,
            each.billing and each.billing.minutes,
            each.billing and each.billing.cost,
            each.created_at,
        ),
        drop=("PREEMPTIBLE", "MINUTES", "IPUS", "CREATED", "COST", "REGION", "FAULTS", "FLAVOR"),
        filters=((REGION, region), (FLAVOR, flavor)),
    )


@customer_command(app, "show", "bert")
def show(session: Session, name: Name) -> None:
    """Show a cluster."""
    cluster = find_cluster(session.client, name)
    last = None
    if cluster.state == ClusterState.ERROR:
        last = next(iter(session.run(operations.list(cluster=cluster.id, limit=1)).items), None)
    session.show(cluster, facts(cluster, last))


@customer_command(app, "machines", "bert", "bert --watch")
def machines(session: Session, name: Name) -> None:
    """List a cluster's IPU machines and Poplar servers with their health, as last observed."""
    cluster = find_cluster(session.client, name)
    held: list[Machine | PoplarServer] = [*cluster.machines, *cluster.poplar_servers]
    session.show_items(
        held,
        ("NAME", "HEALTH", "OBSERVED", "FAULTS"),
        lambda each: (each.name, each.health, each.observed_at, [fault.message for fault in each.faults]),
        drop=("OBSERVED",),
        wrap="FAULTS",
    )


@customer_command(app, "delete", "bert", "bert --yes --no-wait")
def delete(
    session: Session,
    name: Name,
    yes: Yes = False,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Delete a cluster and wipe its servers. Billing ends immediately."""
    cluster = find_cluster(session.client, name)
    if cluster.delete_protection:
        allowed = f"ipucloud clusters update {cluster.name} --no-protect"
        raise ApiError(
            409, "delete_protected", f"Cluster {cluster.name} is protected. To allow its deletion: {allowed}"
        )
    if not yes:
        session.confirm(
            f"Delete {cluster.name} and everything on its servers?", "delete the cluster and everything on its servers"
        )
    ask(session, cluster, clusters.delete, wait=wait, patience=patience)


@customer_command(app, "suspend", "bert", "bert --yes --no-wait")
def suspend(session: Session, name: Name, yes: Yes = False, wait: Wait = True, patience: Patience = None) -> None:
    """Release a cluster's machines and keep its servers, switched off. Billing ends immediately.

    Programs on the IPUs end. Resuming recreates the cluster's default partition, and no other.
    """
    cluster = find_cluster(session.client, name)
    if not yes:
        found = session.client.items(partitions.list(cluster.id))
        lost = [f"{each.name} ({each.size or '?'} IPUs)" for each in found if each.origin != Origin.CLUSTER]
        loses = f" These partitions will be lost: {', '.join(lost)}." if lost else ""
        session.confirm(
            f"Suspend {cluster.name}? Programs on its IPUs will end.{loses}", "suspend the cluster and end its programs"
        )
    ask(session, cluster, clusters.suspend, wait=wait, patience=patience)


@customer_command(app, "resume", "bert", "bert --wait-for-capacity --no-wait")
def resume(
    session: Session,
    name: Name,
    *,
    wait_for_capacity: WaitForCapacity = False,
    wait_until: WaitUntil = None,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Resume a suspended cluster with the data on its servers."""
    waits = wait_for_capacity or wait_until is not None
    call = partial(clusters.resume, wait_for_capacity=waits, wait_until=wait_until)
    ask(session, find_cluster(session.client, name), call, wait=wait, patience=patience)


@customer_command(app, "repair", "bert", "bert --yes --no-wait")
def repair(session: Session, name: Name, yes: Yes = False, wait: Wait = True, patience: Patience = None) -> None:
    """Take other hardware for a cluster's failed hardware. Its servers restart; nothing is billed meanwhile.

    Partitions are made again. A Poplar server whose host has failed is built again, without the data on its disk.
    """
    cluster = find_cluster(session.client, name)
    if not yes:
        lost = [each.name for each in cluster.faults if each.code == "host_failed"]
        loses = f" The data on these Poplar servers will be lost: {', '.join(lost)}." if lost else ""
        session.confirm(
            f"Repair {cluster.name}? Programs on its IPUs will end, and its servers will restart.{loses}",
            "repair the cluster, end its programs and restart its servers",
        )
    ask(session, cluster, clusters.repair, wait=wait, patience=patience)


@customer_command(app, "estimate", "--flavor m2000-pod16")
def estimate(
    session: Session,
    *,
    flavor: Flavor,
    region: Region = None,
    image: Image = None,
    ssh_keys: Keys = None,
    s3_connections: Buckets = None,
    volumes: Volumes = None,
    poplar_servers: PoplarServers = None,
    preemptible: Preemptible = False,
) -> None:
    """Show the cost of a cluster, and whether it could be created now."""
    with _suggesting(session, flavor, region, image, ssh_keys):
        region = region or only_region(session, flavor)
        wanted = NewCluster(
            "estimate",
            region=region,
            flavor=flavor,
            image=image or newest_image(session, region),
            ssh_keys=ssh_keys or (),
            s3_connections=s3_connections or (),
            volumes=volumes_of(volumes),
            poplar_servers=poplar_servers,
            preemptible=preemptible,
        )
        found = session.run(clusters.estimate(wanted))
    quota, capacity = found.quota, found.capacity
    session.show(
        found,
        [
            ("per minute", found.price_per_minute),
            ("per hour", found.price_per_hour),
            ("per day", found.price_per_day),
            ("per month", found.price_per_month),
            ("quota sufficient", f"{'yes' if quota.allowed else 'no'}: {quota.used} of {quota.limit} machines used"),
            ("capacity", capacity.why_not.detail if capacity.why_not else capacity.available),
            ("with --wait-for-capacity", capacity.wait and would_wait(capacity.wait)),
            ("preemptible clusters", capacity.preemption_minutes and _room_after(capacity.preemption_minutes)),
            ("ready after", f"{found.expected_seconds} s"),
        ],
    )


def would_wait(found: EstimateWait) -> str:
    """What a request that waits for capacity would wait for, in a line."""
    expected = f", expected {shown(found.expected_at)}" if found.expected_at else ""
    return f"waits, at place {found.place} in the queue{expected}"


def _room_after(minutes: int) -> str:
    return f"make room within {minutes} min for a create with --wait-for-capacity"


@customer_command(app, "ssh", "bert", "bert -- gc-info --list-devices", "bert --forward 9000:8000")
def ssh(
    session: Session,
    name: Name,
    remote: Annotated[list[str] | None, typer.Argument(help="Command to run on the server, after `--`.")] = None,
    server: Server = 0,
    *,
    forward: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[LOCAL:]PORT",
            help="Reach this port of the server at 127.0.0.1 here, at the same or a LOCAL port; repeatable.",
        ),
    ] = None,
    identity_file: Identity = None,
) -> None:
    """Log in to a cluster's Poplar server with OpenSSH, which accepts only this server's host key.

    With `--forward` and no command, only the ports are forwarded, until Ctrl-C. People get an SSH certificate for it,
    unless they choose a key with --identity.
    """
    cluster = find_cluster(session.client, name)
    poplar, address = openssh.reachable(cluster, server)
    known_hosts = openssh.pin_host_key(session.config_dir / "known_hosts", poplar, address)
    openssh.forwardings(forward or ())  # a certificate is not asked for in vain
    issued = None if identity_file else certificates.obtain(session, cluster.id)
    identity = issued if isinstance(issued, certificates.Certificate) else identity_file
    command = openssh.command(poplar, address, known_hosts, identity, remote or [], forward=forward or ())
    session.close()
    ended = openssh.converse(command)
    if ended.denied:
        if isinstance(issued, certificates.Certificate):
            issued.forget()  # it was issued before the project's authority was rotated
        elif issued is not None:
            session.note(f"You have no SSH certificate: {issued.why}")
        accepted = ", ".join(cluster.ssh_keys) or "none"
        session.note(f"{cluster.name} accepts these SSH keys: {accepted}. Choose a private key with --identity.")
    raise typer.Exit(ended.status)


@customer_command(app, "topology", "bert")
def topology(session: Session, name: Name) -> None:
    """Show a cluster's racks, machines and links, and its partitions with what is wrong with them."""
    found = session.run(clusters.topology(find_cluster(session.client, name).id))
    racks = [(f"rack {rack.name}", f"domain {rack.domain}, {rack.topology}") for rack in found.racks]
    held = [(f"  {machine.name}", f"{machine.health}; {_used(machine)}") for machine in found.machines]
    failed = [(f"partition {each.name}", troubled(each)) for each in found.partitions if each.state != "active"]
    unhealthy = [(f"{link.kind} {' – '.join(link.ends)}", link.state) for link in found.links if link.state != "up"]
    rest = [
        ("links", f"{len(found.links)}, {len(unhealthy)} of them not up"),
        *unhealthy,
        ("free IPUs", found.free_ipus),
        ("sizes that fit", ", ".join(str(each.size) for each in found.partition_sizes if each.fits) or "none"),
        ("observed", found.observed_at),
    ]
    session.show(found, [*racks, *held, *failed, *rest])


def _used(machine: TopologyMachine) -> str:
    uses = Counter(ipu.partition or "free" for ipu in machine.ipus)
    return ", ".join(f"{use} ({ipus} of {len(machine.ipus)} IPUs)" for use, ipus in uses.items())


@customer_command(app, "vipu", "bert --partition training")
def vipu(
    session: Session,
    name: Name,
    partition: Annotated[
        str | None, typer.Option(help="Partition for the environment.", autocompletion=names(its_partitions))
    ] = None,
    save_ca: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the controller's authority there, for `ipucloud vipu`.")
    ] = None,
) -> None:
    """Show how to reach the cluster's V-IPU controller."""
    cluster = find_cluster(session.client, name).id
    with suggesting(session.client, (partition_kind(cluster), partition)):
        found = session.run(clusters.vipu(cluster, partition=partition))
    key = None if found.access_key is None else found.access_key.id
    facts = [("host", found.host), ("port", found.port), ("user", found.user), ("access key", key)]
    facts.append(("partition", found.partition))
    environment = dict(found.environment)
    if save_ca is not None and found.authority is not None:
        save_ca.write_text(found.authority)
        environment["VIPU_CLI_API_CA_FILE"] = str(save_ca.absolute())
    session.show(found, [*facts, *((f"  {key}", value) for key, value in environment.items())])


@customer_command(app, "rotate-vipu-key", "bert")
def rotate_vipu_key(
    session: Session,
    name: Name,
    *,
    end_server_key: Annotated[
        bool, typer.Option("--end-server-key", help="Also revoke the key of the Poplar servers.")
    ] = False,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Replace the access key of the cluster's V-IPU user. The new key is shown only once."""
    made = session.run(clusters.rotate_vipu_key(find_cluster(session.client, name).id, end_server_key=end_server_key))
    facts = [("user", made.user), ("key id", made.access_key_id), ("access key", made.access_key)]
    session.show(made, [*facts, *((f"  {key}", value) for key, value in made.environment.items())])
    if wait:
        follow(session, made.operation, patience)


def ask(
    session: Session,
    cluster: Cluster,
    request: Callable[[str], Call[Operation]],
    *,
    wait: bool,
    patience: float | None,
) -> None:
    operation = carry_out(session, request(cluster.id), wait=wait, patience=patience)
    _show(session, session.run(clusters.get(cluster.id)), operation)


def _suggesting(
    session: Session, flavor: str, region: str | None, image: str | None, ssh_keys: list[str] | None
) -> AbstractContextManager[None]:
    keys = [(SSH_KEY, each) for each in ssh_keys or ()]
    return suggesting(session.client, (FLAVOR, flavor), (REGION, region), (IMAGE, image), *keys)


def only_region(session: Session, flavor: str) -> str:
    regions = session.run(flavors.get(flavor)).regions
    if len(regions) != 1:
        raise UsageError(f"Flavor {flavor} is sold in {', '.join(regions) or 'no region'}: choose one with --region.")
    return regions[0]


def newest_image(session: Session, region: str) -> str:
    offered = [image for image in session.client.items(images.list()) if region in image.regions]
    if not offered:
        raise UsageError(f"No image is offered in {region}.")
    return max(offered, key=lambda image: image.release).name


def only_key(session: Session) -> list[str]:
    names = [key.name for key in session.client.items(ssh_keys.list())]
    if not names:
        raise UsageError("The project has no SSH key. Add one with `ipucloud ssh-keys create`.")
    if len(names) > 1:
        raise UsageError(f"Choose SSH keys with --ssh-key: {', '.join(names)}.")
    return names


def _show(session: Session, cluster: Cluster, operation: Operation) -> None:
    session.show({"cluster": cluster, "operation": operation}, facts(cluster, operation))
