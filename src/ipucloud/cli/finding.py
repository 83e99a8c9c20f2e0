"""Names on the command line: the object that is meant, or the nearest that there are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import ipucloud.client as sdk
from ipucloud.cli.targets import period
from ipucloud.client.call import Call
from ipucloud.client.errors import ApiError, ClientError, UsageError
from ipucloud.client.sync import Client

if TYPE_CHECKING:
    from ipucloud.client.models import (
        Address,
        BillingAccount,
        Budget,
        Cluster,
        Export,
        ExportSchedule,
        Flavor,
        HardwareHost,
        HardwareMachine,
        Invitation,
        Job,
        Member,
        Operation,
        Page,
        PartitionDetails,
        Pod,
        Price,
        Project,
        Recipe,
        Region,
        Reservation,
        S3Connection,
        Service,
        Snapshot,
        SshKey,
        Token,
        Volume,
        Webhook,
    )

Item = TypeVar("Item")

UUID = re.compile(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
SUGGESTED = 8
"""Names in a suggestion."""
_READ = 1000
"""Objects that are compared with a name that does not exist."""


@dataclass(frozen=True)
class Kind(Generic[Item]):
    """A kind of object: its noun, the call that lists it, what one can be called by, and where it is looked for.

    The first of `names` is the one that is suggested, the last one the id.
    """

    noun: str
    page: Callable[[], Call[Page[Item]]]
    names: Callable[[Item], Sequence[str]]
    where: str = " in the project"
    also: Callable[[Client], Iterable[Item]] | None = None
    """Further ones, where one call does not list all."""

    def read(self, client: Client) -> Iterator[Item]:
        yield from client.items(self.page())
        if self.also is not None:
            yield from self.also(client)

    @property
    def plural(self) -> str:
        return self.noun + "s"


Reference = tuple[Kind[Any], str | None]
"""A name that was given, and what it should be the name of."""


def _server_snapshots(client: Client) -> Iterator[Snapshot]:
    """Those that can be an image; none where they cannot be listed."""
    with suppress(ClientError):
        yield from (
            each
            for each in client.items(sdk.snapshots.list(state=(sdk.models.SnapshotState.AVAILABLE,)))
            if each.cluster
        )


FLAVOR: Kind[Flavor] = Kind("flavor", lambda: sdk.flavors.list(), lambda each: (each.name,), "")
REGION: Kind[Region] = Kind("region", lambda: sdk.regions.list(), lambda each: (each.slug, str(each.number)), "")
MACHINE_TYPE: Kind[Any] = Kind(
    "machine type",
    lambda: sdk.flavors.list(),
    lambda each: (each if isinstance(each, str) else each.machine_type,),
    "",
    lambda _: ("volume-gib", "address"),  # what else has a quota
)
MACHINE: Kind[HardwareMachine] = Kind(
    "machine", lambda: sdk.operator.hardware.machines(limit=_READ), lambda each: (each.name,), ""
)
HOST: Kind[HardwareHost] = Kind("host", lambda: sdk.operator.hardware.hosts(limit=_READ), lambda each: (each.name,), "")
POD: Kind[Pod] = Kind("pod", lambda: sdk.operator.capacity.pods(limit=_READ), lambda each: (each.name,), "")
RACK: Kind[Pod] = Kind("GW-Link group", POD.page, lambda each: (each.rack,), "")
RECIPE: Kind[Recipe] = Kind("recipe", lambda: sdk.recipes.list(), lambda each: (each.id,), "")
IMAGE: Kind[Any] = Kind(
    "image",
    lambda: sdk.images.list(),
    lambda each: (each.name, each.id) if isinstance(each, sdk.models.Snapshot) else (each.name,),
    "",
    _server_snapshots,
)
SKU: Kind[Price] = Kind("SKU", lambda: sdk.prices.list(), lambda each: (each.sku,), "")
SSH_KEY: Kind[SshKey] = Kind("SSH key", lambda: sdk.ssh_keys.list(), lambda each: (each.name, each.id))
TOKEN: Kind[Token] = Kind("active token", lambda: sdk.tokens.list(), lambda each: (each.name, each.id), "")
PROJECT: Kind[Project] = Kind(
    "project",
    lambda: sdk.projects.list(),
    lambda each: (each.slug, str(each.number), each.id),
    " that this token has access to",
)
CLUSTER: Kind[Cluster] = Kind("cluster", lambda: sdk.clusters.list(), lambda each: (each.name, each.id))
OPERATION: Kind[Operation] = Kind("operation", lambda: sdk.operations.list(), lambda each: (each.id,))
ACCOUNT: Kind[BillingAccount] = Kind(
    "billing account", lambda: sdk.accounts.list(), lambda each: (each.name, each.id), ""
)
BUDGET: Kind[Budget] = Kind("budget", lambda: sdk.budgets.list(), lambda each: (each.name, each.id))
WEBHOOK: Kind[Webhook] = Kind(
    "webhook", lambda: sdk.webhooks.list(), lambda each: (each.url, each.description, each.id)
)
CONNECTION: Kind[S3Connection] = Kind(
    "S3 connection", lambda: sdk.s3_connections.list(), lambda each: (each.name, each.id)
)
SCHEDULE: Kind[ExportSchedule] = Kind(
    "schedule", lambda: sdk.export_schedules.list(), lambda each: (each.name, each.id)
)
ADDRESS: Kind[Address] = Kind("address", lambda: sdk.addresses.list(), lambda each: (each.name, each.id))
RESERVATION: Kind[Reservation] = Kind("reservation", lambda: sdk.reservations.list(), lambda each: (each.name, each.id))
SNAPSHOT: Kind[Snapshot] = Kind("snapshot", lambda: sdk.snapshots.list(), lambda each: (each.name, each.id))
VOLUME: Kind[Volume] = Kind("volume", lambda: sdk.volumes.list(), lambda each: (each.name, each.id))
EXPORT: Kind[Export] = Kind("export", lambda: sdk.exports.list(), lambda each: (period(each), each.id))


def budget_kind(account: str | None) -> Kind[Budget]:
    """The budgets of a billing account; None: of the project."""
    if account is None:
        return BUDGET
    return replace(BUDGET, page=lambda: sdk.budgets.list(account=account), where=f" of the billing account {account}")


def webhook_kind(account: str | None) -> Kind[Webhook]:
    """The webhooks of a billing account; None: of the project."""
    if account is None:
        return WEBHOOK
    return replace(WEBHOOK, page=lambda: sdk.webhooks.list(account=account), where=f" of the billing account {account}")


def connection_kind(account: str | None) -> Kind[S3Connection]:
    """The S3 connections of a billing account; None: of the project."""
    return (
        CONNECTION
        if account is None
        else _of_account(CONNECTION, account, lambda: sdk.s3_connections.list(account=account))
    )


def schedule_kind(account: str | None) -> Kind[ExportSchedule]:
    """The export schedules of a billing account; None: of the project."""
    return (
        SCHEDULE
        if account is None
        else _of_account(SCHEDULE, account, lambda: sdk.export_schedules.list(account=account))
    )


def export_kind(account: str | None) -> Kind[Export]:
    """The exports of a billing account; None: of the project."""
    return EXPORT if account is None else _of_account(EXPORT, account, lambda: sdk.exports.list(account=account))


def _of_account(kind: Kind[Item], account: str, page: Callable[[], Call[Page[Item]]]) -> Kind[Item]:
    return replace(kind, page=page, where=f" of the billing account {account}")


def member_kind(account: str | None) -> Kind[Member]:
    """The members of the project, or the payers of a billing account."""
    where = " in the project" if account is None else f" of the billing account {account}"
    return Kind("member", lambda: sdk.members.list(account=account), lambda each: (each.email, each.id), where)


def invitation_kind(account: str | None) -> Kind[Invitation]:
    """The invitations that are neither accepted nor revoked, to the project or a billing account."""
    where = " to the project" if account is None else f" to the billing account {account}"
    return Kind(
        "open invitation",
        lambda: sdk.invitations.list(account=account),
        lambda each: (each.email, each.id) if each.state in {"open", "expired"} else (each.id,),
        where,
    )


def partition_kind(cluster: str) -> Kind[PartitionDetails]:
    """The partitions of the cluster with this id."""
    return Kind("partition", lambda: sdk.partitions.list(cluster), lambda each: (each.name, each.partition_id))


def job_kind(cluster: str) -> Kind[Job]:
    """The jobs of the cluster with this id."""
    return Kind("job", lambda: sdk.jobs.list(cluster), lambda each: (str(each.number), str(each.id)))


def service_kind(cluster: str) -> Kind[Service]:
    """The services of the cluster with this id."""
    return Kind(
        "service", lambda: sdk.services.list(cluster), lambda each: (each.name, str(each.id)), " on this cluster"
    )


def find(client: Client, kind: Kind[Item], name: str) -> Item:
    """The one object with this name or id.

    Raises ApiError not_found, which lists the nearest names; UsageError if several have the name.
    """
    known = [*kind.read(client)]
    return only(kind, name, known)


def only(kind: Kind[Item], name: str, known: Sequence[Item]) -> Item:
    """As `find`, among these."""
    matches = [each for each in known if name in kind.names(each)]
    if len(matches) > 1:
        ids = ", ".join(kind.names(each)[-1] for each in matches)
        raise UsageError(f"{len(matches)} {kind.plural} are named {name}. Use an id: {ids}.")
    if not matches:
        raise ApiError(404, "not_found", unknown(kind, name, known))
    return matches[0]


def id_of(client: Client, kind: Kind[Any], name: str) -> str:
    """The id of the object with this name; an id as it is, for the service to judge. Raises as `find`."""
    return name if UUID.fullmatch(name) else kind.names(find(client, kind, name))[-1]


def find_cluster(client: Client, name: str, *, deleted: bool = False) -> Cluster:
    """The cluster with this id, or the one with this name that is not deleted.

    `deleted`: if there is none, the deleted one with this name. Raises ApiError; UsageError if several had the name.
    """
    if UUID.fullmatch(name):
        return client.run(sdk.clusters.get(name))
    for state in (None, "deleted") if deleted else (None,):
        listed = client.items(sdk.clusters.list(name=name, state=state))
        named = [each for each in listed if each.name == name and (each.deleted_at is None) == (state is None)]
        if named:
            return client.run(sdk.clusters.get(only(replace(CLUSTER, noun="deleted cluster"), name, named).id))
    raise ApiError(404, "not_found", unknown(CLUSTER, name, client.items(sdk.clusters.list())))


@contextmanager
def suggesting(client: Client, *references: Reference) -> Iterator[None]:
    """Say which of these names does not exist, and which do, if the service refuses a request."""
    try:
        yield
    except ApiError as error:
        raise explained(client, error, *references) from None


def require(client: Client, references: Iterable[Reference]) -> None:
    """Raises ApiError, with the nearest names, for names that do not exist."""
    absent = _absent(client, references, ids=False)  # what had an id can be gone, and still be asked about
    if absent:
        raise ApiError(404, "not_found", " ".join(sentence for _, sentence in absent))


def explained(client: Client, error: ApiError, *references: Reference) -> ApiError:
    """The error, or with not_found and the nearest names, that some of these do not exist.

    Costs further requests only if a wrong name can be why the service refused.
    """
    missing = error.code == "not_found"
    if error.document and (missing or error.code == "validation_failed"):
        absent = _absent(client, references, ids=missing)
        if absent:
            detail = " ".join(sentence for _, sentence in absent)
            codes = {f"unknown_{kind.noun.lower().replace(' ', '_')}" for kind, _ in absent}
            rest = [each for each in error.errors if each.code not in codes]
            document = {key: value for key, value in error.document.items() if key not in {"type", "title"}}
            document |= {"status": 404, "code": "not_found", "detail": detail}
            return replace(error, status=404, code="not_found", detail=detail, errors=rest, document=document)
    return error


def unknown(kind: Kind[Item], name: str, known: Iterable[Item]) -> str:
    """A sentence for a name that does not exist, with the nearest ones that do."""
    names = [kind.names(each)[0] for each in islice(known, _READ)]
    sentence = f"There is no {kind.noun} {name}{kind.where}."
    if not names:
        return f"{sentence} There are no {kind.plural}."
    nearest = sorted(dict.fromkeys(names), key=lambda each: -SequenceMatcher(None, name, each).ratio())
    more = ", …" if len(nearest) > SUGGESTED else ""
    subject = kind.plural[0].upper() + kind.plural[1:]
    return f"{sentence} {subject}, nearest first: {', '.join(nearest[:SUGGESTED])}{more}."


def _absent(client: Client, references: Iterable[Reference], *, ids: bool) -> list[tuple[Kind[Any], str]]:
    """Sentences about objects that do not exist. `ids`: ids are looked for too."""
    sentences = []
    for kind, name in dict.fromkeys(references):
        if not name or (UUID.fullmatch(name) and not ids):
            continue
        with suppress(ClientError):  # the refusal itself is shown then
            known = [*islice(kind.read(client), _READ)]
            if not any(each == name or name.startswith(f"{each}:") for item in known for each in kind.names(item)):
                sentences.append((kind, unknown(kind, name, known)))
    return sentences
