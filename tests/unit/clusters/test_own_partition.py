"""What Poplar servers are told of their cluster's partition."""

from __future__ import annotations

import pytest

from ipucloud.clusters.vipu_access import environment, ipus_of_server


@pytest.mark.parametrize(
    ("ipus", "server", "gcd", "seconds"),
    [(4, 0, "0", "120"), (64, 3, "0", "120"), (128, 0, "0", "3600"), (128, 1, "1", "3600"), (128, 2, "0", "3600")],
)
def test_each_server_of_a_large_pod_has_a_graph_compile_domain(ipus: int, server: int, gcd: str, seconds: str) -> None:
    assert environment(ipus, server) == {"IPUOF_VIPU_API_GCD_ID": gcd, "IPUOF_VIPU_API_TIMEOUT": seconds}


@pytest.mark.parametrize(("ipus", "visible"), [(4, 4), (64, 64), (128, 64), (1024, 64)])
def test_a_server_sees_the_ipus_of_one(ipus: int, visible: int) -> None:
    assert ipus_of_server(ipus) == visible
