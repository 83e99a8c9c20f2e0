"""Calls for clusters. Changes of hardware return an operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, segment, without_none
from ipucloud.client.models import (
    Charge,
    Cluster,
    Console,
    Estimate,
    Machine,
    Metrics,
    NewVipuKey,
    Operation,
    Page,
    PoplarServer,
    RepairWindow,
    ResizeEstimate,
    SshCertificate,
    Topology,
    Usage,
    UsePeriod,
    Vipu,
)


@dataclass(frozen=True)
class Schedule:
    """When a cluster is in use; outside of the periods, and of those that would begin on a holiday, it is suspended."""

    time_zone: str
    periods: Sequence[UsePeriod]
    holidays: Sequence[date] = ()

    def body(self) -> dict[str, object]:
        return {
            "time_zone": self.time_zone,
            "periods": [period.model_dump(mode="json") for period in self.periods],
            "holidays": [day.isoformat() for day in self.holidays],
        }


@dataclass(frozen=True)
class NewClusterVolume:
    """A volume, by name or id, and the number of the Poplar server that has it, counted from 0."""

    volume: str
    server: int = 0


@dataclass(frozen=True)
class NewCluster:
    """A cluster to create or to estimate. `ssh_keys`: names of the project's keys; `user_data`: for cloud-init.

    `allowed_sources`: networks from which SSH to its servers is let in; none: from everywhere.
    `volumes`: available ones that its servers have when it is active; a name alone: the first server.
    `repair_window`: when repairs may begin without a request; None: at any time. `schedule`: when it is in use.
    `poplar_servers`: their number; None: as many as the flavor has.
    `wait_for_capacity`: it waits for machines, until `wait_until` or for a day, instead of being refused.
    `preemptible`: it costs less, and is suspended with notice when an ordinary cluster needs its machines.
    `reservation`: id of the active reservation that it is created from; None: of none.
    `idle_suspend_minutes`: minutes without a login and an attached IPU until it is suspended; None: never.
    """

    name: str
    region: str
    flavor: str
    image: str
    ssh_keys: Sequence[str] = ()
    allowed_sources: Sequence[str] = ()
    s3_connections: Sequence[str] = ()
    volumes: Sequence[str | NewClusterVolume] = ()
    user_data: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    reconfigurable: bool = True
    delete_protection: bool = False
    expires_at: datetime | None = None
    auto_repair: bool = True
    repair_window: RepairWindow | None = None
    schedule: Schedule | None = None
    idle_suspend_minutes: int | None = None
    poplar_servers: int | None = None
    wait_for_capacity: bool = False
    wait_until: datetime | None = None
    preemptible: bool = False
    reservation: str | None = None

    def body(self) -> dict[str, object]:
        return without_none(
            name=self.name,
            region=self.region,
            flavor=self.flavor,
            image=self.image,
            ssh_keys=[*self.ssh_keys],
            allowed_sources=[*self.allowed_sources] or None,
            s3_connections=[*self.s3_connections] or None,
            volumes=[_volume(each) for each in self.volumes] or None,
            user_data=self.user_data,
            tags=dict(self.tags),
            poplar_servers=self.poplar_servers,
            partition={"reconfigurable": self.reconfigurable},
            delete_protection=self.delete_protection,
            expires_at=self.expires_at,
            auto_repair=self.auto_repair,
            repair_window=self.repair_window and self.repair_window.model_dump(mode="json"),
            schedule=self.schedule and self.schedule.body(),
            idle_suspend_minutes=self.idle_suspend_minutes,
            wait_for_capacity=self.wait_for_capacity or None,
            wait_until=self.wait_until,
            preemptible=self.preemptible or None,
            reservation=self.reservation,
        )


def _volume(spec: str | NewClusterVolume) -> dict[str, object]:
    volume = NewClusterVolume(spec) if isinstance(spec, str) else spec
    return {"volume": volume.volume, "server": volume.server}


def create(cluster: NewCluster) -> Call[Operation]:
    """Create a cluster; it is listed immediately in state `creating`."""
    return request.post("clusters", Operation, cluster.body())


def estimate(cluster: NewCluster) -> Call[Estimate]:
    """Cost of `create`, and whether it is possible now."""
    return request.post("clusters:estimate", Estimate, cluster.body())


def list(
    *,
    state: str | None = None,
    region: str | None = None,
    flavor: str | None = None,
    name: str | None = None,
    tags: Mapping[str, str] | None = None,
    order: str | None = None,
    limit: int | None = None,
) -> Call[Page[Cluster]]:
    """The project's clusters that match all filters; deleted ones only with `state="deleted"`.

    `order`: `-created_at` (default), `created_at`, `name` or `-name`.
    """
    query = {"state": state, "region": region, "flavor": flavor, "name": name, "order": order, "limit": limit}
    query |= {f"tag.{key}": value for key, value in (tags or {}).items()}
    return request.get("clusters", Page[Cluster], query)


def get(cluster: Ref) -> Call[Cluster]:
    """One cluster, by name or id. A deleted cluster has only its id."""
    return request.get(f"clusters/{segment(cluster)}", Cluster)


def update(
    cluster: Ref,
    *,
    name: str | None = None,
    tags: Mapping[str, str] | None = None,
    delete_protection: bool | None = None,
    expires_at: datetime | Literal["never"] | None = None,
    auto_repair: bool | None = None,
    repair_window: RepairWindow | Literal["any"] | None = None,
    ssh_keys: Sequence[str] | None = None,
    allowed_sources: Sequence[str] | None = None,
    s3_connections: Sequence[str] | None = None,
    schedule: Schedule | Literal["none"] | None = None,
    idle_suspend_minutes: int | Literal["never"] | None = None,
    if_match: str | None = None,
) -> Call[Cluster]:
    """Change the given fields; `tags` replaces all tags. `repair_window="any"`: repairs may begin at any time.

    `ssh_keys`: names or ids of the keys that may log in, in place of the present ones; if the cluster is in use, its
    `operation` brings them to the servers.

    `allowed_sources`: networks from which SSH is let in, in place of the present ones; none: from everywhere.

    `schedule`: when it is in use, from the next moment on; `"none"`: it is suspended and resumed by requests only.
    `idle_suspend_minutes="never"`: it stays in use although nobody uses it.

    `if_match`: only if the cluster still has this entity tag.
    """
    body = without_none(
        name=name,
        tags=tags,
        delete_protection=delete_protection,
        expires_at=expires_at,
        auto_repair=auto_repair,
        repair_window=repair_window.model_dump(mode="json") if isinstance(repair_window, RepairWindow) else None,
        ssh_keys=None if ssh_keys is None else [*ssh_keys],
        allowed_sources=None if allowed_sources is None else [*allowed_sources],
        s3_connections=None if s3_connections is None else [*s3_connections],
        schedule=schedule.body() if isinstance(schedule, Schedule) else None,
        idle_suspend_minutes=None if idle_suspend_minutes == "never" else idle_suspend_minutes,
    )
    if expires_at == "never":
        body["expires_at"] = None
    if repair_window == "any":
        body["repair_window"] = None
    if idle_suspend_minutes == "never":
        body["idle_suspend_minutes"] = None
    if schedule == "none":
        body["schedule"] = None
    return request.patch(f"clusters/{segment(cluster)}", Cluster, body, if_match=if_match)


def delete(cluster: Ref, *, if_match: str | None = None) -> Call[Operation]:
    """Delete the cluster; billing ends immediately. `if_match`: only if it still has this entity tag."""
    return request.delete(f"clusters/{segment(cluster)}", Operation, if_match=if_match)


def suspend(cluster: Ref, *, if_match: str | None = None) -> Call[Operation]:
    """Release the machines and keep the servers, switched off. Billing ends immediately."""
    return request.post(f"clusters/{segment(cluster)}:suspend", Operation, if_match=if_match)


def resume(
    cluster: Ref,
    *,
    wait_for_capacity: bool = False,
    wait_until: datetime | None = None,
    if_match: str | None = None,
) -> Call[Operation]:
    """Resume a suspended cluster; refused like a create for lack of quota, capacity or funds.

    `wait_for_capacity`: it waits for machines, suspended, until `wait_until` or for a day, instead of being refused.
    """
    body = without_none(wait_for_capacity=wait_for_capacity or None, wait_until=wait_until)
    return request.post(f"clusters/{segment(cluster)}:resume", Operation, body, if_match=if_match)


def resize(
    cluster: Ref,
    flavor: str,
    *,
    wait_for_capacity: bool = False,
    wait_until: datetime | None = None,
    if_match: str | None = None,
) -> Call[Operation]:
    """Give the cluster more or fewer machines of its type. It restarts with its servers; partitions that fit stay.

    `wait_for_capacity`: it waits for machines, in use as before, until `wait_until` or for a day, instead of being
    refused.
    """
    body = without_none(flavor=flavor, wait_for_capacity=wait_for_capacity or None, wait_until=wait_until)
    return request.post(f"clusters/{segment(cluster)}:resize", Operation, body, if_match=if_match)


def estimate_resize(cluster: Ref, flavor: str) -> Call[ResizeEstimate]:
    """What `resize` would do: price, time, room, and what becomes of the partitions."""
    return request.post(f"clusters/{segment(cluster)}:estimate-resize", ResizeEstimate, {"flavor": flavor})


def repair(cluster: Ref, *, if_match: str | None = None) -> Call[Operation]:
    """Take other hardware for what has failed. The servers restart; one whose host has failed loses its data."""
    return request.post(f"clusters/{segment(cluster)}:repair", Operation, if_match=if_match)


def reboot(cluster: Ref, *, servers: Sequence[str] | None = None, if_match: str | None = None) -> Call[Operation]:
    """Restart the Poplar servers of these names, or all. Programs on them end; partitions and billing go on."""
    body = without_none(poplar_servers=servers and [*servers])
    return request.post(f"clusters/{segment(cluster)}:reboot", Operation, body, if_match=if_match)


def power_cycle(cluster: Ref, *, servers: Sequence[str] | None = None, if_match: str | None = None) -> Call[Operation]:
    """As `reboot`, by cutting the power: what was not yet written to disk is lost."""
    body = without_none(poplar_servers=servers and [*servers])
    return request.post(f"clusters/{segment(cluster)}:power-cycle", Operation, body, if_match=if_match)


def rebuild(
    cluster: Ref,
    *,
    disk: Literal["keep", "wipe"],
    image: str | None = None,
    user_data: str | None = None,
    clear_user_data: bool = False,
    ssh_keys: Sequence[str] | None = None,
    servers: Sequence[str] | None = None,
    if_match: str | None = None,
) -> Call[Operation]:
    """Rebuild the Poplar servers, or those of these names; what is None stays. Partitions and addresses stay.

    `disk`: `keep` keeps `/home` and the SSH host key, `wipe` nothing. `clear_user_data`: from now on there is none.
    """
    body = without_none(
        disk=disk,
        image=image,
        user_data=user_data,
        ssh_keys=None if ssh_keys is None else [*ssh_keys],
        poplar_servers=servers and [*servers],
    )
    if clear_user_data:
        body["user_data"] = None
    return request.post(f"clusters/{segment(cluster)}:rebuild", Operation, body, if_match=if_match)


def reschedule_repair(cluster: Ref, *, starts_at: datetime, if_match: str | None = None) -> Call[Cluster]:
    """Choose another time for the scheduled repair: in the future, and not after its `latest_at`."""
    path, body = f"clusters/{segment(cluster)}:reschedule-repair", without_none(starts_at=starts_at)
    return request.post(path, Cluster, body, if_match=if_match)


def sign_ssh_key(cluster: Ref, public_key: str, *, valid_seconds: int | None = None) -> Call[SshCertificate]:
    """A certificate with which the key's private half logs in to the cluster's servers, by default for an hour.

    For people: a service token gets none. `public_key`: one line, as in `id_ed25519.pub`.
    """
    body = without_none(public_key=public_key, valid_seconds=valid_seconds)
    return request.post(f"clusters/{segment(cluster)}:sign-ssh-key", SshCertificate, body)


def poplar_servers(cluster: Ref) -> Call[Page[PoplarServer]]:
    return request.get(f"clusters/{segment(cluster)}/poplar-servers", Page[PoplarServer])


def console(cluster: Ref, server: Ref, *, boot: int = -1) -> Call[Console]:
    """The serial console of a Poplar server in one boot: its number, or -1 for the newest, -2 for that before it."""
    return request.get(f"clusters/{segment(cluster)}/poplar-servers/{segment(server)}/console", Console, {"boot": boot})


def usage(cluster: Ref) -> Call[Usage]:
    """Minutes and cost so far."""
    return request.get(f"clusters/{segment(cluster)}/usage", Usage)


def metrics(
    cluster: Ref, *, since: datetime | None = None, until: datetime | None = None, step: int | None = None
) -> Call[Metrics]:
    """How busy it was in a period, by default the last hour; `step`: seconds of each point."""
    return request.get(f"clusters/{segment(cluster)}/metrics", Metrics, {"since": since, "until": until, "step": step})


def charges(cluster: Ref, *, since: datetime | None = None, until: datetime | None = None) -> Call[Page[Charge]]:
    """Charges in a period, each with usage, price and formula."""
    return request.get(f"clusters/{segment(cluster)}/charges", Page[Charge], {"since": since, "until": until})


def machines(cluster: Ref) -> Call[Page[Machine]]:
    return request.get(f"clusters/{segment(cluster)}/machines", Page[Machine])


def topology(cluster: Ref) -> Call[Topology]:
    """Racks, machines, IPUs, links and partitions."""
    return request.get(f"clusters/{segment(cluster)}/topology", Topology)


def vipu(cluster: Ref, *, partition: str | None = None) -> Call[Vipu]:
    """The controller's endpoint and the environment for a partition."""
    return request.get(f"clusters/{segment(cluster)}/vipu", Vipu, {"partition": partition})


def rotate_vipu_key(cluster: Ref, *, end_server_key: bool = False) -> Call[NewVipuKey]:
    """Replace the access key of the cluster's V-IPU user; the new secret is shown once.

    `end_server_key`: also revoke the key in the environment of the Poplar servers.
    """
    path, body = f"clusters/{segment(cluster)}/vipu:rotate-key", {"end_server_key": end_server_key}
    return request.post(path, NewVipuKey, body)
