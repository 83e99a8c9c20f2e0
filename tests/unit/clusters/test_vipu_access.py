"""What Poplar servers are told of their cluster's partition, and the access key of their own."""

from __future__ import annotations

from uuid import UUID

import pytest

from ipucloud.clusters.vipu_access import access_of, environment, ipus_of_server
from ipucloud.kernel.ids import EXTERNAL_NAME_LIMIT, external_name
from ipucloud.kernel.sealing import read_keys

NOTHING = {"keys": None, "ended_server_key": False}


@pytest.mark.parametrize(
    ("ipus", "server", "gcd", "seconds"),
    [(4, 0, "0", "120"), (64, 3, "0", "120"), (128, 0, "0", "3600"), (128, 1, "1", "3600"), (128, 2, "0", "3600")],
)
def test_each_server_of_a_large_pod_has_a_graph_compile_domain(ipus: int, server: int, gcd: str, seconds: str) -> None:
    assert environment(ipus, server) == {"IPUOF_VIPU_API_GCD_ID": gcd, "IPUOF_VIPU_API_TIMEOUT": seconds}


@pytest.mark.parametrize(("ipus", "visible"), [(4, 4), (64, 64), (128, 64), (1024, 64)])
def test_a_server_sees_the_ipus_of_one(ipus: int, visible: int) -> None:
    assert ipus_of_server(ipus) == visible


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
