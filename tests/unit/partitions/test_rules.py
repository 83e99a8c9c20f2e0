"""What can never be right about a partition, and what a customer reads about it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipucloud.kernel.vipu import GatewayRouting, IpuPlace, PartitionShape, Routing, SyncType
from ipucloud.partitions.room import Block, room
from ipucloud.partitions.rules import Hardware, faults

POD16 = Hardware(16, torus=True, looped=True)
POD256 = Hardware(256, torus=True, looped=True)
MESH = Hardware(64, torus=False, looped=False)


@pytest.mark.parametrize(
    ("shape", "hardware", "expected"),
    [
        (PartitionShape(3), POD16, [("/size", "not_a_power_of_two")]),
        (PartitionShape(32), POD16, [("/size", "larger_than_cluster")]),
        (PartitionShape(4, gcds=3), POD16, [("/gcds", "does_not_divide"), ("/replicas", "does_not_divide")]),
        (PartitionShape(4, gcds=2, replicas=3), POD16, [("/replicas", "not_a_multiple")]),
        (PartitionShape(2, replicas=4), POD16, [("/replicas", "does_not_divide")]),
        (PartitionShape(128), POD256, [("/gcds", "too_few")]),
        (PartitionShape(128, gcds=2, segments=1), POD256, [("/segments", "too_few")]),
        (PartitionShape(16, gcds=2, segments=2), POD16, [("/segments", "not_possible")]),
        (PartitionShape(128, gcds=2, reconfigurable=True), POD256, [("/reconfigurable", "one_domain_only")]),
        (
            PartitionShape(4, reconfigurable=True, sync_type=SyncType.POD_NATIVE),
            POD16,
            [("/sync_type", "not_reconfigurable")],
        ),
        (PartitionShape(64, routing=Routing.RINGSWNC), MESH, [("/routing", "needs_a_torus")]),
        (
            PartitionShape(64, gateway_routing=GatewayRouting.RING),
            MESH,
            [("/gateway_routing", "needs_looped_gateways")],
        ),
        (
            PartitionShape(16, gateway_routing=GatewayRouting.SWRING),
            POD16,
            [("/gateway_routing", "needs_switched_gateways")],
        ),
    ],
)
def test_a_fault_is_pointed_at(shape: PartitionShape, hardware: Hardware, expected: list[tuple[str, str]]) -> None:
    assert [(fault.pointer, fault.code) for fault in faults(shape, hardware)] == expected


@pytest.mark.parametrize(
    "shape",
    [
        PartitionShape(4, gcds=2, replicas=4),
        PartitionShape(2, gcds=2),
        PartitionShape(2, gcds=1, replicas=2),
        PartitionShape(16, reconfigurable=True, sync_type=SyncType.C2_COMPATIBLE),
        PartitionShape(1),
    ],
)
def test_the_documented_ones_are_taken(shape: PartitionShape) -> None:
    assert faults(shape, POD16) == []


def test_room_is_in_aligned_blocks() -> None:
    everything = [IpuPlace(0, ipu) for ipu in range(16)]
    used = [IpuPlace(0, ipu) for ipu in range(4, 8)]
    free = room(everything, used)
    assert free.blocks == (Block(0, 0, 4), Block(0, 8, 8))
    assert free.largest == 8
    assert free.fits(8, 1)
    assert not free.fits(16, 1)


@given(st.frozensets(st.builds(IpuPlace, st.integers(0, 3), st.integers(0, 63))))
def test_blocks_cover_what_is_free_and_nothing_else(free: frozenset[IpuPlace]) -> None:
    result = room(free, ())
    covered = [IpuPlace(b.domain, ipu) for b in result.blocks for ipu in range(b.start, b.start + b.size)]
    assert len(covered) == len(set(covered))
    assert set(covered) == free
    assert all(block.start % block.size == 0 for block in result.blocks)


@given(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6))
def test_a_partition_that_is_right_needs_no_luck(size: int, gcds: int, replicas: int) -> None:
    """Whatever passes the rules fits into the empty cluster."""
    shape = PartitionShape(2**size, gcds=2**gcds, replicas=2**replicas)
    for hardware in (POD16, replace(POD256, ipus=64)):
        if not faults(shape, hardware):
            places = [IpuPlace(0, ipu) for ipu in range(hardware.ipus)]
            assert room(places, ()).fits(shape.size, 1)
