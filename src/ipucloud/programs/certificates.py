"""SSH certificates for people: a key that a person has is signed for the servers of one cluster, for a while.

The servers accept what the project's authority signs (`policies/authority_rollout.py`), so no site is called, and a
person who has left the project gets no further certificate.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.states import BILLABLE
from ipucloud.config import Settings
from ipucloud.contract.clusters import ClusterState
from ipucloud.contract.event_payloads.projects import SshCertificateOf
from ipucloud.contract.event_types.projects import SSH_CERTIFICATE_ISSUED
from ipucloud.contract.ssh_keys import SshCertificateOut, SshCertificateRequest
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.identity.people import holder_of
from ipucloud.identity.ssh_authorities import Authority, current, next_serial, secret_place
from ipucloud.identity.ssh_certificates import EARLIER, Certified, fingerprint_of, sign
from ipucloud.identity.ssh_keys import SshKeyError, SshPublicKey, parse_public_key
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import (
    SSH_KEY_REFUSED,
    STATE_CONFLICT,
    VALIDATION_FAILED,
    FieldError,
    Problem,
    not_found,
)
from ipucloud.kernel.sealing import needed, unseal

_NOT_UP = {
    ClusterState.CREATING: "wait until it is active",
    ClusterState.SUSPENDED: "resume it first",
    ClusterState.DELETED: "create another",
}


class _Cluster(NamedTuple):
    """`trusts`: the authority that all of its servers were last seen to trust; None: not all the same one."""

    state: ClusterState
    trusts: str | None
    now: datetime


_CLUSTER = Query(
    """
    SELECT c.state,
           (SELECT CASE WHEN count(s.ssh_authority) = count(*) AND count(DISTINCT s.ssh_authority) = 1
                        THEN min(s.ssh_authority) END
              FROM poplar_servers AS s WHERE s.project_id = c.project_id AND s.cluster_id = c.id) AS trusts,
           app_now() AS now
      FROM clusters AS c WHERE c.project_id = :project_id AND c.id = :cluster_id FOR KEY SHARE OF c
    """,
    _Cluster,
)


async def certify(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, *, body: SshCertificateRequest, settings: Settings
) -> SshCertificateOut:
    """Sign the key for the servers of the cluster, for the person whose the token is.

    It ends with the token at the latest. Raises `Problem`: not_found, ssh_key_refused, validation_failed,
    state_conflict, not_configured.
    """
    cluster = await _CLUSTER.one_or_none(connection, {"project_id": actor.project_id, "cluster_id": cluster_id})
    if cluster is None:
        raise not_found()
    key, seconds = _key(body.public_key), _seconds(body.valid_seconds, settings)
    keys = needed(settings.sealing_keys())
    holder = await holder_of(connection, actor.token_id)
    if holder is None:
        raise Problem(
            STATE_CONFLICT,
            "A service token is nobody's, and certificates are for people. Programs log in with an SSH key of the"
            " project.",
        )
    authority = await current(connection, actor.project_id)
    _check_trust(cluster, authority)
    serial = None if authority is None else await next_serial(connection, authority.id)
    if authority is None or serial is None:
        raise _changing()
    until = cluster.now + timedelta(seconds=seconds)
    what = Certified(
        key_id=f"{holder.email}#{serial}",
        serial=serial,
        cluster_id=cluster_id,
        valid_from=(cluster.now - EARLIER).replace(microsecond=0),
        valid_until=min(until, holder.expires_at or until).replace(microsecond=0),
    )
    private_key = unseal(keys, authority.private_key, secret_place(authority.id, actor.project_id))
    issued = SshCertificateOut(
        certificate=sign(private_key, key.text, what),
        key_id=what.key_id,
        serial=serial,
        fingerprint=key.fingerprint,
        authority=fingerprint_of(authority.public_key),
        valid_from=what.valid_from,
        valid_until=what.valid_until,
    )
    await _record(connection, actor, cluster_id, issued)
    return issued


async def _record(connection: AsyncConnection, actor: Actor, cluster_id: UUID, issued: SshCertificateOut) -> None:
    await record(
        connection,
        SSH_CERTIFICATE_ISSUED,
        project_id=actor.project_id,
        subject_id=cluster_id,
        request_id=actor.request_id,
        data=SshCertificateOf(
            key_id=issued.key_id,
            serial=issued.serial,
            fingerprint=issued.fingerprint,
            authority=issued.authority,
            valid_until=issued.valid_until,
        ),
    )


def _key(text: str) -> SshPublicKey:
    """Raises `Problem` ssh_key_refused."""
    try:
        return parse_public_key(text)
    except SshKeyError as refused:
        fault = FieldError("/public_key", refused.code, refused.sentence)
        raise Problem(SSH_KEY_REFUSED, refused.sentence, [fault]) from None


def _seconds(requested: int | None, settings: Settings) -> int:
    """Raises `Problem` validation_failed."""
    limit = settings.ssh_certificate_limit
    if requested is None:
        return min(settings.ssh_certificate_seconds, limit)
    if requested > limit:
        sentence = f"Certificates of this installation are valid for {limit} seconds at most."
        fault = FieldError("/valid_seconds", "less_than_equal", sentence)
        raise Problem(VALIDATION_FAILED, "No certificate is issued; `errors` says why.", [fault])
    return requested


def _check_trust(cluster: _Cluster, authority: Authority | None) -> None:
    """Raises `Problem` state_conflict for servers that would not accept the certificate."""
    if cluster.state not in BILLABLE:
        what = _NOT_UP.get(cluster.state, "wait until it is active again")
        raise Problem(STATE_CONFLICT, f"The cluster is {cluster.state}, and nobody can log in to it: {what}.")
    if cluster.trusts is None:
        raise Problem(
            STATE_CONFLICT,
            "The cluster's Poplar servers accept no certificates yet: it is older than the project's SSH authority."
            " Change its SSH keys, to the present ones if you like, and try again when that operation has succeeded.",
        )
    if authority is None or authority.public_key != cluster.trusts:
        raise _changing()


def _changing() -> Problem:
    return Problem(
        STATE_CONFLICT,
        "The project's SSH authority was rotated, and the cluster's Poplar servers do not know the new one yet. Try"
        " again in a minute.",
    )
