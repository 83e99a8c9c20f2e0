"""User data of clusters, for cloud-init: encrypted in the database where there is a key, and decrypted for the site.

What was stored before there was a key is readable as it is, until `worker.reencryption` encrypts it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from ipucloud.kernel.sealing import Keys, SealingError, is_sealed, place, seal, unseal


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
        if self.text is None or not is_sealed(self.text):
            return self.text
        if self.keys is None:
            raise SealingError("there is no key")
        return unseal(self.keys, self.text, self.where)


def to_store(keys: Keys | None, plain: str | None, where: str) -> str | None:
    """What the database gets: encrypted, or in an installation without a key the text itself."""
    return plain if plain is None or keys is None else seal(keys, plain, where)
