"""`ipucloud clusters ssh`, `topology`, `vipu` and `rotate-vipu-key`: a cluster's servers, machines and controller."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from ipucloud.cli import certificates
from ipucloud.cli import ssh as openssh
from ipucloud.cli.cluster_options import Identity, Name, Patience, Server, Wait
from ipucloud.cli.commands.cluster_facts import troubled
from ipucloud.cli.completion import its_partitions, names
from ipucloud.cli.examples import COMMAND
from ipucloud.cli.finding import find_cluster, partition_kind
from ipucloud.cli.following import follow
from ipucloud.cli.session import Session, customer_command
from ipucloud.client import clusters
from ipucloud.client.models import TopologyMachine

app = typer.Typer(no_args_is_help=True)


@customer_command(app, "ssh", "bert", "bert -- gc-info --list-devices", "bert --forward 9000:8000")
def ssh(
    session: Session,
    name: Name,
    remote: Annotated[list[str] | None, typer.Argument(metavar=COMMAND, help="Command to run on the server.")] = None,
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
    if ended.status == openssh.FAILED and cluster.allowed_sources:
        networks = ", ".join(cluster.allowed_sources)
        change = f"ipucloud clusters update {cluster.name} --allow-from NETWORK"
        session.note(f"{cluster.name} takes SSH only from {networks}. To let in others as well, name all: {change}")
    raise typer.Exit(ended.status)


@customer_command(app, "topology", "bert")
def topology(session: Session, name: Name) -> None:
    """Show a cluster's racks, machines and links, and its partitions with what is wrong with them."""
    hardware = session.run(clusters.topology(find_cluster(session.client, name).id))
    racks = [(f"rack {rack.name}", f"domain {rack.domain}, {rack.topology}") for rack in hardware.racks]
    held = [(f"  {machine.name}", f"{machine.health}; {_used(machine)}") for machine in hardware.machines]
    failed = [(f"partition {each.name}", troubled(each)) for each in hardware.partitions if each.state != "active"]
    unhealthy = [(f"{link.kind} {' – '.join(link.ends)}", link.state) for link in hardware.links if link.state != "up"]
    rest = [
        ("links", f"{len(hardware.links)}, {len(unhealthy)} of them not up"),
        *unhealthy,
        ("free IPUs", hardware.free_ipus),
        ("sizes that fit", ", ".join(str(each.size) for each in hardware.partition_sizes if each.fits) or "none"),
        ("observed", hardware.observed_at),
    ]
    session.show(hardware, [*racks, *held, *failed, *rest])


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
    access = session.run(clusters.vipu(cluster, partition=partition), (partition_kind(cluster), partition))
    key = None if access.access_key is None else access.access_key.id
    facts = [("host", access.host), ("port", access.port), ("user", access.user), ("access key", key)]
    facts.append(("partition", access.partition))
    environment = dict(access.environment)
    if save_ca is not None and access.authority is not None:
        save_ca.write_text(access.authority)
        environment["VIPU_CLI_API_CA_FILE"] = str(save_ca.absolute())
    session.show(access, [*facts, *((f"  {key}", value) for key, value in environment.items())])


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
    credentials = session.run(
        clusters.rotate_vipu_key(find_cluster(session.client, name).id, end_server_key=end_server_key)
    )
    facts = [("user", credentials.user), ("key id", credentials.access_key_id), ("access key", credentials.access_key)]
    session.show(credentials, [*facts, *((f"  {key}", value) for key, value in credentials.environment.items())])
    if wait:
        follow(session, credentials.operation, patience)
