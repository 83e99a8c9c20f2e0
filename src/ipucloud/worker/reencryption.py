"""Re-encrypts stored secrets with the current key, so that older keys can be removed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import sqlalchemy as sa
import structlog
from sqlalchemy.dialects.postgresql import JSONB, JSONPATH

from ipucloud.billing.exports.connections import secret_place as s3_place
from ipucloud.billing.exports.tables import s3_connections
from ipucloud.clusters.tables import cluster_rebuilds, clusters
from ipucloud.clusters.user_data import user_data_place
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.identity.ssh_authorities import secret_place as authority_place
from ipucloud.identity.tables import ssh_authorities
from ipucloud.kernel.sealing import Keys, SealingError, current_prefix, is_current, read_keys, seal, stored_plain
from ipucloud.programs.environment import password_place, variable_place
from ipucloud.programs.jobs.tables import jobs
from ipucloud.programs.services.tables import services
from ipucloud.webhooks.messages import secret_place as webhook_place
from ipucloud.webhooks.tables import webhooks
from ipucloud.webhooks.urls import query_place

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Sealed:
    """A column of encrypted secrets, and the place that each one is bound to, by the row's `key` and its owner.

    A column of JSON has names with encrypted texts; the place of one is also by its name.
    """

    column: sa.Column[Any]
    place: Callable[..., str]
    key: str = "id"


SEALED = (
    Sealed(webhooks.c.secret, webhook_place),
    Sealed(webhooks.c.previous_secret, webhook_place),
    Sealed(webhooks.c.query, query_place),
    Sealed(jobs.c.environment, partial(variable_place, "jobs")),
    Sealed(services.c.environment, partial(variable_place, "services")),
    Sealed(jobs.c.registry_password, partial(password_place, "jobs")),
    Sealed(services.c.registry_password, partial(password_place, "services")),
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
    others = sa.select(key.label("id"), owner, column.label("stored")).where(_of_other_keys(keys, column))
    async with database.begin() as connection:
        rows = (await connection.execute(others)).all()
    for row in rows:
        try:
            anew = _anew(keys, row.stored, partial(sealed.place, row.id, row.owner))
        except SealingError as error:
            log.error("secret_not_reencrypted", table=table.name, id=str(row.id), error=str(error))
            continue
        change = sa.update(table).where(key == row.id, column == row.stored).values({column.name: anew})
        async with database.begin() as connection:
            await connection.execute(change)


def _of_other_keys(keys: Keys, column: sa.Column[Any]) -> sa.ColumnElement[bool]:
    """Whether a row has a text that the current key did not encrypt."""
    prefix = current_prefix(keys)
    if isinstance(column.type, JSONB):
        return sa.func.jsonb_path_exists(column, sa.cast(f'$.* ? (!(@ starts with "{prefix}"))', JSONPATH))
    return ~column.startswith(prefix)


def _anew(keys: Keys, stored: str | dict[str, str], place: Callable[..., str]) -> str | dict[str, str]:
    """Encrypted by the current key. Raises SealingError."""
    if isinstance(stored, dict):
        return {
            name: text if is_current(keys, text) else seal(keys, stored_plain(keys, text, place(name)), place(name))
            for name, text in stored.items()
        }
    return seal(keys, stored_plain(keys, stored, place()), place())
