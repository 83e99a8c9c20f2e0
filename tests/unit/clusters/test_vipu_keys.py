"""The server's own access key: another one for every life of a cluster, under an id that a controller takes."""

from __future__ import annotations

from uuid import UUID

import pytest

from ipucloud.clusters.vipu_access import access_of
from ipucloud.kernel.ids import EXTERNAL_NAME_LIMIT, external_name
from ipucloud.kernel.sealing import read_keys

NOTHING = {"keys": None, "ended_server_key": False}


@pytest.mark.parametrize("incarnation", [1, 9, 99, 100, 9_999])
def test_the_id_fits_however_often_the_cluster_was_resumed(incarnation: int) -> None:
    keys = read_keys("A" * 43)
    first, next_one = (
        access_of(external_name(UUID(int=7), each), keys, NOTHING).server for each in (incarnation, incarnation + 1)
    )
    assert first is not None
    assert next_one is not None
    assert len(first.id) <= EXTERNAL_NAME_LIMIT
    assert (first.id, first.secret) != (next_one.id, next_one.secret)
    assert first.secret != next_one.secret
