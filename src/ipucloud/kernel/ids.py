"""Identifiers: UUIDv7 rows and the names of external objects."""

from __future__ import annotations

from uuid import UUID

from uuid_utils.compat import uuid7

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford base 32."""

EXTERNAL_NAME_LIMIT = 36
"""Longest partition id that a V-IPU controller accepts (rule 11 of its documentation)."""

VALIDATION_PREFIX = "val-"
"""Begins the names of validations."""


def new_id() -> UUID:
    """A time-ordered UUIDv7: consecutive inserts touch neighbouring index pages."""
    return uuid7()


def external_name(cluster_id: UUID, incarnation: int) -> str:
    """The external name `<cluster>-<incarnation>` of everything built at a site for one incarnation of a cluster.

    The cluster is written as 26 characters of Crockford base 32, so that ten thousand incarnations stay within the 36
    characters that a controller allows. A name is never used for another incarnation, so a delayed duplicate of an old
    request cannot reach a new object.
    """
    number = cluster_id.int
    digits = [ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5)]
    name = f"{''.join(digits)}-{incarnation}"
    if len(name) > EXTERNAL_NAME_LIMIT:
        raise ValueError(f"incarnation {incarnation} makes a name of more than {EXTERNAL_NAME_LIMIT} characters")
    return name


def validation_name(validation_id: UUID) -> str:
    """The name of everything at a site of one validation of machines; like an external name, it is never used again."""
    return VALIDATION_PREFIX + external_name(validation_id, 1).partition("-")[0]


def read_external_name(name: str) -> tuple[UUID, int] | None:
    """The cluster and incarnation of a name made by `external_name`; None for any other text."""
    digits, _, incarnation = name.partition("-")
    if not incarnation.isdecimal() or not all(digit in ALPHABET for digit in digits):
        return None
    number = 0
    for digit in digits:
        number = number << 5 | ALPHABET.index(digit)
    if number >> 128:
        return None
    parsed = UUID(int=number), int(incarnation)
    return parsed if len(name) <= EXTERNAL_NAME_LIMIT and external_name(*parsed) == name else None


def partition_name(external_name: str, number: int) -> str:
    """The id at the controller of a cluster's `number`-th requested partition.

    Numbers are counted per cluster and never reused, so neither are these ids. Raises ValueError when the number no
    longer fits (after a million, for the first incarnation).
    """
    name = f"{external_name}-{number}"
    if len(name) > EXTERNAL_NAME_LIMIT:
        raise ValueError(f"partition {number} makes a name of more than {EXTERNAL_NAME_LIMIT} characters")
    return name
