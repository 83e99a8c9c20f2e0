"""Whether anybody uses the Poplar servers of clusters that are suspended when nobody does."""

from __future__ import annotations

from collections.abc import Mapping

from ipucloud.clusters.idle.store import Use, Watched
from ipucloud.wire.site import Host, HostState


def use_of(server: Watched, hosts: Mapping[str, Host]) -> Use:
    """What the site shows of it. Of a host that does not run this server nobody knows anything."""
    host = hosts.get(server.host)
    if host is None or host.server is None or host.server.name != server.name or host.state is not HostState.RUNNING:
        return Use(server, None, None, None)
    return Use(server, host.sessions, host.attached_ipus, host.idle_seconds)
