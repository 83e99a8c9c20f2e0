"""How long a partition in error is left to its controller, which resets it by itself every 60 seconds, three times."""

from __future__ import annotations

import pytest

from ipucloud.partitions.decide import waited_for
from ipucloud.site.vipu_ports import PartitionState, PartitionStatus


@pytest.mark.parametrize(
    ("resets", "seconds", "waited"),
    [(0, 25.0, True), (1, 65.0, True), (2, 190.0, True), (3, 25.0, False), (2, 600.0, False)],
)
def test_a_partition_is_left_to_its_controller_while_that_has_tries_left(
    resets: int, seconds: float, waited: bool
) -> None:
    status = PartitionStatus(PartitionState.ERROR, errors=("3 of 4 IPUs came up",), resets=resets, max_resets=3)
    assert waited_for(status, seconds) is waited


def test_one_that_works_or_is_not_told_of_needs_no_waiting() -> None:
    assert not waited_for(None, 1.0)
    assert not waited_for(PartitionStatus(PartitionState.ACTIVE, max_resets=3), 1.0)
