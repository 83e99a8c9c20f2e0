"""How many connections a process can hold, and whose they are."""

from __future__ import annotations

from resource import RLIM_INFINITY

import pytest

from ipucloud.http.limits import Limits, subscriber


@pytest.mark.parametrize(
    ("connections", "descriptors", "room"),
    [(10_000, 1024, 768), (10_000, 20_000, 10_000), (10_000, 256, 128), (10_000, RLIM_INFINITY, 10_000), (5, 1024, 5)],
)
def test_descriptors_are_left_for_the_process_itself(connections: int, descriptors: int, room: int) -> None:
    assert Limits(connections=connections).room(descriptors) == room


@pytest.mark.parametrize(
    ("host", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2::", "2001:db8:1:2::"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::"),
        ("unknown", "unknown"),
        ("", ""),
    ],
)
def test_a_client_is_an_ipv4_address_or_an_ipv6_network(host: str, counted: str) -> None:
    assert subscriber(host) == counted
