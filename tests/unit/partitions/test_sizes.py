"""Which sizes of partitions fit into a cluster, and why others do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ipucloud.partitions.topology import SeenLinks, picture


def machines(number: int) -> list[Mapping[str, Any]]:
    return [
        {
            "name": f"m{index}",
            "rack": f"r{index // 16}",
            "domain": index // 16,
            "slot": index % 16,
            "health": "ok",
            "observed_at": None,
            "faults": [],
            "topology": "torus",
            "gateways": "looped",
        }
        for index in range(number)
    ]


def sizes(number: int, occupied: Sequence[str]) -> dict[int, str | None]:
    """The sizes of a cluster, and why none of each fits beside partitions that have all IPUs of these machines."""
    partitions: list[Mapping[str, Any]] = [
        {
            "name": name,
            "partition_id": name,
            "origin": "api",
            "state": "active",
            "state_reason": None,
            "controller": None,
            "size": 4,
            "ipus": [{"machine": name, "ipu": ipu, "domain": 0, "segment": 0, "number": ipu} for ipu in range(4)],
        }
        for name in occupied
    ]
    offered = picture(machines(number), partitions, None, SeenLinks()).partition_sizes
    assert all(each.fits == (each.reason is None) for each in offered)
    return {each.size: each.reason for each in offered}


def test_an_empty_cluster_has_room_for_every_size_and_a_full_one_for_none() -> None:
    assert sizes(4, []) == {1: None, 2: None, 4: None, 8: None, 16: None}
    assert sizes(32, [])[128] is None  # two IPU-Link domains
    assert set(sizes(2, ["m0", "m1"]).values()) == {"too_few_free"}


def test_enough_free_ipus_are_no_room_unless_they_lie_together() -> None:
    assert sizes(4, ["m1"]) == {1: None, 2: None, 4: None, 8: None, 16: "too_few_free"}
    assert sizes(4, ["m1", "m3"]) == {1: None, 2: None, 4: None, 8: "no_aligned_block", 16: "too_few_free"}
    assert sizes(32, ["m0"])[128] == "too_few_free"
    assert sizes(32, ["m0"])[64] is None
