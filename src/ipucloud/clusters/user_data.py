"""User data of clusters, for cloud-init: encrypted in the database where there is a key, and decrypted for the site."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from ipucloud.kernel.sealing import Keys, place, stored_plain, to_store


def user_data_place(cluster_id: UUID, project_id: UUID) -> str:
    """The place of the encrypted text, in the cluster's row and in that of a rebuild."""
    return place("clusters", cluster_id, "user_data", project_id)


@dataclass(frozen=True, slots=True)
class StoredUserData:
    """User data as the database has it; `where`: see `user_data_place`."""

    text: str | None
    keys: Keys | None = field(repr=False)
    where: str

    @property
    def plain(self) -> str | None:
        """As the customer gave it. Raises SealingError: the key that encrypted it is missing."""
        return None if self.text is None else stored_plain(self.keys, self.text, self.where)


def user_data_to_store(keys: Keys | None, plain: str | None, where: str) -> str | None:
    """What the database gets."""
    return None if plain is None else to_store(keys, plain, where)
