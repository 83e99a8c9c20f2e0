"""Calls for what outlives clusters: volumes, snapshots and public addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ipucloud.client import call as request
from ipucloud.client.call import Call, Query, Ref, segment, without_none
from ipucloud.client.models import Address, Page, Snapshot, Volume

_PASSING = frozenset({"creating", "attaching", "detaching", "resizing", "deleting"})


def settled(item: Volume | Snapshot | Address) -> bool:
    """Whether its state lasts until another request; for `Client.until`."""
    return item.state not in _PASSING


class volumes:
    """Calls for volumes: storage that outlives clusters."""

    @staticmethod
    def create(
        name: str,
        *,
        region: str,
        size_gib: int,
        snapshot: Ref | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> Call[Volume]:
        """Create a volume, with the files of a snapshot, by name or id, if one is given.

        It is billed by the GiB and minute from when it is `available`.
        """
        body = without_none(
            name=name,
            region=region,
            size_gib=size_gib,
            snapshot=None if snapshot is None else str(snapshot),
            tags=None if tags is None else dict(tags),
        )
        return request.post("volumes", Volume, body)

    @staticmethod
    def list(*, state: Sequence[str] = (), order: str | None = None, limit: int | None = None) -> Call[Page[Volume]]:
        """The project's volumes, newest first. `state`: any of these; deleted ones are listed only if it says so."""
        query: Query = {"state": tuple(state), "order": order, "limit": limit}
        return request.get("volumes", Page[Volume], query)

    @staticmethod
    def get(volume: Ref) -> Call[Volume]:
        """One volume, by name or id."""
        return request.get(_volumes_path(volume), Volume)

    @staticmethod
    def update(volume: Ref, *, name: str | None = None, tags: Mapping[str, str] | None = None) -> Call[Volume]:
        """Change its name or its tags."""
        body = without_none(name=name, tags=None if tags is None else dict(tags))
        return request.patch(_volumes_path(volume), Volume, body)

    @staticmethod
    def attach(volume: Ref, cluster: Ref, *, poplar_server: str | None = None) -> Call[Volume]:
        """Let a Poplar server of a cluster, given by its id, have it at `/volumes/<name>`; by default the first."""
        body = without_none(cluster=str(cluster), poplar_server=poplar_server)
        return request.post(f"{_volumes_path(volume)}:attach", Volume, body)

    @staticmethod
    def detach(volume: Ref) -> Call[Volume]:
        """Take it from its server; its files stay."""
        return request.post(f"{_volumes_path(volume)}:detach", Volume)

    @staticmethod
    def resize(volume: Ref, size_gib: int) -> Call[Volume]:
        """Let it grow."""
        return request.post(f"{_volumes_path(volume)}:resize", Volume, {"size_gib": size_gib})

    @staticmethod
    def delete(volume: Ref) -> Call[Volume]:
        """Delete it with its data; no server may have it."""
        return request.delete(_volumes_path(volume), Volume)


class snapshots:
    """Calls for snapshots: copies of volumes, for new ones, and of servers, as the image of others."""

    @staticmethod
    def create(
        name: str,
        *,
        volume: Ref | None = None,
        cluster: Ref | None = None,
        poplar_server: Ref | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> Call[Snapshot]:
        """Take a snapshot, which is billed by the GiB and minute from when it is `available`.

        Either of a `volume`, by name or id; or of the disk of a Poplar server of the `cluster` with this id:
        `poplar_server`, by name or id, or the first.
        """
        body = without_none(
            name=name,
            volume=_snapshots_text(volume),
            cluster=_snapshots_text(cluster),
            poplar_server=_snapshots_text(poplar_server),
            tags=None if tags is None else dict(tags),
        )
        return request.post("snapshots", Snapshot, body)

    @staticmethod
    def list(*, state: Sequence[str] = (), order: str | None = None, limit: int | None = None) -> Call[Page[Snapshot]]:
        """The project's snapshots, newest first. `state`: any of these; deleted ones are listed only if it says so."""
        query: Query = {"state": tuple(state), "order": order, "limit": limit}
        return request.get("snapshots", Page[Snapshot], query)

    @staticmethod
    def get(snapshot: Ref) -> Call[Snapshot]:
        """One snapshot, by name or id."""
        return request.get(_snapshots_path(snapshot), Snapshot)

    @staticmethod
    def update(snapshot: Ref, *, name: str | None = None, tags: Mapping[str, str] | None = None) -> Call[Snapshot]:
        """Change its name or its tags."""
        body = without_none(name=name, tags=None if tags is None else dict(tags))
        return request.patch(_snapshots_path(snapshot), Snapshot, body)

    @staticmethod
    def delete(snapshot: Ref) -> Call[Snapshot]:
        """Delete it; volumes that were made from it stay. One that clusters are made from is refused."""
        return request.delete(_snapshots_path(snapshot), Snapshot)


class addresses:
    """Calls for addresses: public ones that outlive clusters."""

    @staticmethod
    def create(
        name: str, *, region: str, tags: Mapping[str, str] | None = None, allowed_sources: Sequence[str] = ()
    ) -> Call[Address]:
        """Reserve an address, which is billed by the minute from when it is `available`.

        `allowed_sources`: networks from which connections through it are taken; none: from everywhere.
        """
        body = without_none(
            name=name,
            region=region,
            tags=None if tags is None else dict(tags),
            allowed_sources=[*allowed_sources] or None,
        )
        return request.post("addresses", Address, body)

    @staticmethod
    def list(*, state: Sequence[str] = (), order: str | None = None, limit: int | None = None) -> Call[Page[Address]]:
        """The project's addresses, newest first. `state`: any of these; deleted ones are listed only if it says so."""
        query: Query = {"state": tuple(state), "order": order, "limit": limit}
        return request.get("addresses", Page[Address], query)

    @staticmethod
    def get(address: Ref) -> Call[Address]:
        """One address, by name or id."""
        return request.get(_addresses_path(address), Address)

    @staticmethod
    def update(
        address: Ref,
        *,
        name: str | None = None,
        tags: Mapping[str, str] | None = None,
        allowed_sources: Sequence[str] | None = None,
    ) -> Call[Address]:
        """Change its name, its tags, or the networks from which connections through it are taken."""
        body = without_none(
            name=name,
            tags=None if tags is None else dict(tags),
            allowed_sources=None if allowed_sources is None else [*allowed_sources],
        )
        return request.patch(_addresses_path(address), Address, body)

    @staticmethod
    def attach(address: Ref, cluster: Ref, *, poplar_server: str | None = None) -> Call[Address]:
        """Let a Poplar server of a cluster, given by its id, be reached through the address; by default the first."""
        body = without_none(cluster=str(cluster), poplar_server=poplar_server)
        return request.post(f"{_addresses_path(address)}:attach", Address, body)

    @staticmethod
    def detach(address: Ref) -> Call[Address]:
        """Take it from its server; it stays the project's."""
        return request.post(f"{_addresses_path(address)}:detach", Address)

    @staticmethod
    def delete(address: Ref) -> Call[Address]:
        """Give it back; no server may have it."""
        return request.delete(_addresses_path(address), Address)


def _volumes_path(volume: Ref) -> str:
    return f"volumes/{segment(volume)}"


def _snapshots_path(snapshot: Ref) -> str:
    return f"snapshots/{segment(snapshot)}"


def _snapshots_text(ref: Ref | None) -> str | None:
    return None if ref is None else str(ref)


def _addresses_path(address: Ref) -> str:
    return f"addresses/{segment(address)}"
