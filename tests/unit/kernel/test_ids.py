"""Names outside: each says which cluster and which of its lives it is of."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipucloud.kernel.ids import external_name, read_external_name


@given(st.uuids(), st.integers(1, 10**9 - 1))
def test_a_name_is_read_as_it_was_written(cluster: UUID, incarnation: int) -> None:
    assert read_external_name(external_name(cluster, incarnation)) == (cluster, incarnation)


WRITTEN = external_name(UUID(int=31), 3)


@pytest.mark.parametrize(
    "name",
    [
        *("", "-", "stray", "training-1", WRITTEN[:-2], WRITTEN[1:], f"{WRITTEN}-4", f"z{WRITTEN}", f"z{WRITTEN[1:]}"),
        *(WRITTEN.replace("-3", "-03"), WRITTEN.replace("-3", "-0x3"), WRITTEN.upper()),
    ],
)
def test_what_was_not_written_like_this_is_no_name_of_ours(name: str) -> None:
    assert read_external_name(name) is None
