"""A sealed secret opens with its key at its place, and nowhere else."""

from __future__ import annotations

from uuid import UUID

import pytest
from pydantic import SecretStr, ValidationError

from ipucloud.config import Settings
from ipucloud.kernel.sealing import (
    Keys,
    SealingError,
    is_current,
    new_key,
    place,
    read_keys,
    seal,
    stored_plain,
    to_store,
    unseal,
)

OLD, NEW = new_key(), new_key()
PROJECT, OTHER = UUID(int=1), UUID(int=2)
HERE = place("webhooks", UUID(int=3), "secret", PROJECT)


def test_a_secret_opens_at_its_place_and_is_sealed_differently_every_time() -> None:
    keys = read_keys(NEW)
    sealed = {seal(keys, "whsec_ä", HERE) for _ in range(1000)}
    assert len(sealed) == 1000
    assert all(unseal(keys, each, HERE) == "whsec_ä" and "whsec" not in each for each in sealed)


@pytest.mark.parametrize(
    "elsewhere",
    [
        place("webhooks", UUID(int=4), "secret", PROJECT),
        place("webhooks", UUID(int=3), "secret", OTHER),
        place("webhooks", UUID(int=3), "previous_secret", PROJECT),
        place("storage_connections", UUID(int=3), "secret", PROJECT),
    ],
)
def test_a_secret_moved_to_another_row_column_table_or_project_opens_nowhere(elsewhere: str) -> None:
    keys = read_keys(NEW)
    with pytest.raises(SealingError):
        unseal(keys, seal(keys, "whsec_", HERE), elsewhere)


def test_an_old_key_opens_what_it_sealed_until_it_is_taken_away() -> None:
    sealed = seal(read_keys(OLD), "whsec_", HERE)
    both = read_keys(f"{NEW}, {OLD}")
    assert unseal(both, sealed, HERE) == "whsec_"
    assert not is_current(both, sealed)
    assert is_current(both, seal(both, "whsec_", HERE))
    with pytest.raises(SealingError, match="not among the keys"):
        unseal(read_keys(NEW), sealed, HERE)


@pytest.mark.parametrize("where", [0, 1, 2])
def test_a_changed_text_opens_no_more(where: int) -> None:
    keys = read_keys(NEW)
    parts = seal(keys, "whsec_", HERE).split(".")
    flipped = "A" if parts[where][5:6] != "A" else "B"
    parts[where] = parts[where][:5] + flipped + parts[where][6:]
    with pytest.raises(SealingError):
        unseal(keys, ".".join(parts), HERE)


@pytest.mark.parametrize("text", ["v1.2.3", "v1.0123456789ab.short", "plain", ""])
@pytest.mark.parametrize("keys", [None, read_keys(NEW)])
def test_what_was_stored_without_a_key_is_read_as_it_is(text: str, keys: Keys | None) -> None:
    assert stored_plain(keys, to_store(None, text, HERE), HERE) == text
    sealed = to_store(read_keys(NEW), text, HERE)
    assert stored_plain(read_keys(NEW), sealed, HERE) == text
    with pytest.raises(SealingError, match="no key"):
        stored_plain(None, sealed, HERE)


@pytest.mark.parametrize("text", ["", "v1", "v1..", "v1.é.é", "{}"])
def test_what_was_never_sealed_is_recognized(text: str) -> None:
    with pytest.raises(SealingError):
        unseal(read_keys(NEW), text, HERE)


@pytest.mark.parametrize(
    "text",
    ["", "short", "é" * 43, NEW[:-1], f"{NEW},"],
    ids=["empty", "short", "other letters", "one short", "a comma more"],
)
def test_a_key_that_is_none_is_refused_at_the_start(text: str) -> None:
    with pytest.raises(SealingError, match="32 bytes"):
        read_keys(text)
    with pytest.raises(ValidationError, match="32 bytes"):
        Settings(secrets_key=SecretStr(text))


def test_keys_do_not_show_in_their_representation() -> None:
    assert NEW not in repr(Settings(secrets_key=SecretStr(NEW)))
    assert repr(read_keys(NEW).by_id) not in repr(read_keys(NEW))
