"""Re-encrypts stored secrets with the current key, so that older keys can be removed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
import structlog

from ipucloud.billing.exports.connections import secret_place as s3_place
from ipucloud.billing.exports.tables import s3_connections
from ipucloud.clusters.tables import cluster_rebuilds, clusters
from ipucloud.clusters.user_data import user_data_place
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.identity.ssh_authorities import secret_place as authority_place
from ipucloud.identity.tables import ssh_authorities
from ipucloud.kernel.sealing import Keys, SealingError, is_current, is_sealed, read_keys, seal, unseal
from ipucloud.webhooks.messages import secret_place as webhook_place
from ipucloud.webhooks.tables import webhooks

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Sealed:
    """A column of encrypted secrets, and the place that each one is bound to, by the row's `key` and its owner."""

    column: sa.Column[str]
    place: Callable[[UUID, UUID], str]
    key: str = "id"


SEALED = (
    Sealed(webhooks.c.secret, webhook_place),
    Sealed(webhooks.c.previous_secret, webhook_place),
    Sealed(s3_connections.c.secret, s3_place),
    Sealed(clusters.c.user_data, user_data_place),
    Sealed(cluster_rebuilds.c.user_data, user_data_place, "cluster_id"),
    Sealed(ssh_authorities.c.private_key, authority_place),
)
"""Every column of encrypted secrets."""


async def reseal(database: Database, settings: Settings) -> None:
    """Re-encrypt all, if there is a key."""
    if settings.secrets_key is not None:
        await reencrypt(database, read_keys(settings.secrets_key.get_secret_value()))


async def reencrypt(database: Database, keys: Keys) -> None:
    """Re-encrypt all, and encrypt what was stored before there was a key.

    A secret that cannot be decrypted, or that changes meanwhile, stays as it is.
    """
    for each in SEALED:
        await _reencrypt(database, keys, each)


async def _reencrypt(database: Database, keys: Keys, sealed: Sealed) -> None:
    table, column = sealed.column.table, sealed.column
    key = table.c[sealed.key]
    owners = [table.c[name] for name in ("project_id", "account_id") if name in table.c]
    owner = sa.func.coalesce(*owners, type_=sa.Uuid).label("owner")
    everything = sa.select(key.label("id"), owner, column.label("text")).where(column.is_not(None))
    async with database.begin() as connection:
        rows = (await connection.execute(everything)).all()
    for row in rows:
        if is_current(keys, row.text):
            continue
        where = sealed.place(row.id, row.owner)
        try:
            plain = unseal(keys, row.text, where) if is_sealed(row.text) else row.text
        except SealingError as error:
            log.error("secret_not_reencrypted", table=table.name, id=str(row.id), error=str(error))
            continue
        text = seal(keys, plain, where)
        change = sa.update(table).where(key == row.id, column == row.text).values({column.name: text})
        async with database.begin() as connection:
            await connection.execute(change)
