"""`ipucloud clusters scp`, `ssh-config`: what OpenSSH's programs need to know, with the host key pinned."""

from __future__ import annotations

import os
import re
import sys
from typing import Annotated

import typer

from ipucloud.cli import certificates
from ipucloud.cli import ssh as openssh
from ipucloud.cli.cluster_options import Identity, Server
from ipucloud.cli.completion import names
from ipucloud.cli.finding import CLUSTER, find_cluster
from ipucloud.cli.output import write_json
from ipucloud.cli.session import Session, customer_command
from ipucloud.client import clusters
from ipucloud.client.errors import UsageError

app = typer.Typer()

_REMOTE = re.compile(r"(?P<cluster>[^:/]+):(?P<path>.*)", re.DOTALL)
"""As in scp: what has a slash before its first colon is a local file."""


@customer_command(app, "scp", "train.py bert:", "-r bert:results .")
def scp(
    session: Session,
    paths: Annotated[list[str], typer.Argument(metavar="SOURCE... TARGET", help="Files; on a server, cluster:path.")],
    *,
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="Copy directories.")] = False,
    server: Server = 0,
    identity_file: Identity = None,
) -> None:
    """Copy files to or from a cluster's Poplar server with OpenSSH's scp, which accepts only this server's host key."""
    remote = [_REMOTE.fullmatch(each) for each in paths]
    names = {each["cluster"] for each in remote if each}
    to_server = remote[-1] is not None
    if len(paths) < 2 or len(names) != 1 or any((each is None) != to_server for each in remote[:-1]):
        raise UsageError("Copy from here to one cluster, or back. Write a path on a server as cluster:path.")
    cluster = find_cluster(session.client, names.pop())
    poplar, address = openssh.reachable(cluster, server)
    known_hosts = openssh.pin_host_key(session.config_dir / "known_hosts", poplar, address)
    login = openssh.login(address)
    ends = [f"{login}:{each['path']}" if each else path for each, path in zip(remote, paths, strict=True)]
    command = [
        openssh.program("scp"),
        *(["-r"] if recursive else []),
        *openssh.options(poplar, known_hosts, identity_file or certificates.usable(session, cluster.id)),
        *("-P", str(address.port), "--", *ends),
    ]
    session.close()
    os.execv(command[0], command)  # noqa: S606 (the user asked to become this program)


@customer_command(app, "ssh-config", "> ~/.ssh/ipucloud.conf", "bert --identity ~/.ssh/id_ed25519")
def ssh_config(
    session: Session,
    names: Annotated[
        list[str] | None, typer.Argument(help="Names or ids of clusters; default: all.", autocompletion=names(CLUSTER))
    ] = None,
    identity_file: Identity = None,
) -> None:
    """Print OpenSSH client configuration for clusters, so that `ssh bert`, rsync and editors find them.

    Poplar servers are called bert.0, bert.1 and so on; the first is also called bert. Host keys are pinned.
    """
    chosen = [find_cluster(session.client, each) for each in names] if names else session.client.items(clusters.list())
    hosts = [
        {
            "Host": f"{cluster.name}.{place}" if place else f"{cluster.name} {cluster.name}.0",
            "HostName": server.ssh.host,
            "Port": str(server.ssh.port),
            "User": server.ssh.user,
            **openssh.settings(
                server, openssh.pin_host_key(session.config_dir / "known_hosts", server, server.ssh), identity_file
            ),
        }
        for cluster in chosen
        for place, server in enumerate(cluster.poplar_servers)
        if server.state == "running" and server.ssh is not None
    ]
    if session.as_json:
        write_json(hosts)
        return
    for host in hosts:
        lines = (f"{'' if name == 'Host' else '  '}{name} {value}\n" for name, value in host.items())
        sys.stdout.writelines((*lines, "\n"))
