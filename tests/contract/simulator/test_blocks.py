"""Placement by buddy blocks, as pure functions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipucloud.laboratory.simulator.refusal import Refusal
from ipucloud.laboratory.simulator.vipu.blocks import explicit_blocks, find_blocks, is_free, largest_free
from ipucloud.laboratory.simulator.vipu.model import Block
from ipucloud.wire import vipu_pb2 as pb

WHOLE = (1 << 64) - 1
POWERS = [1 << k for k in range(7)]


def listed(*places: tuple[int, int]) -> list[pb.PartitionIpu]:
    return [pb.PartitionIpu(ipulink_domain_topology_id=domain, topology_id=ipu) for domain, ipu in places]


def mask(*places: int) -> int:
    return sum(1 << place for place in places)


@given(free=st.integers(0, WHOLE), size=st.sampled_from(POWERS))
def test_a_block_is_found_exactly_when_an_aligned_one_is_free(free: int, size: int) -> None:
    candidates = [Block(0, start, size) for start in range(0, 64, size)]
    possible = [block for block in candidates if free & block.mask == block.mask]
    blocks = find_blocks({0: free}, size, 1)
    if blocks is None:
        assert not possible
    else:
        assert blocks[0] in possible


@pytest.mark.parametrize(
    ("free", "size", "segments", "blocks"),
    [
        pytest.param({0: mask(*range(0, 64, 2))}, 2, 1, None, id="enough are free, but apart"),
        pytest.param({0: mask(*range(16, 32), *range(40, 44))}, 4, 1, [Block(0, 40, 4)], id="the smallest hole"),
        pytest.param({0: WHOLE, 1: mask(8, 9, 10, 11)}, 4, 1, [Block(1, 8, 4)], id="the smallest hole of any domain"),
        pytest.param({0: WHOLE, 2: WHOLE}, 128, 2, None, id="no neighbouring domains"),
        pytest.param({0: 0, 1: WHOLE, 2: WHOLE}, 128, 2, [Block(1, 0, 64), Block(2, 0, 64)], id="neighbours"),
    ],
)
def test_where_it_is_placed(free: dict[int, int], size: int, segments: int, blocks: list[Block] | None) -> None:
    assert find_blocks(free, size, segments) == blocks


def test_the_largest_free_block_is_aligned() -> None:
    assert [largest_free({0: free}) for free in (0, mask(*range(0, 64, 2)), WHOLE)] == [0, 1, 64]


def test_listed_ipus_form_their_block() -> None:
    assert explicit_blocks(listed((0, 5), (0, 4), (0, 6), (0, 7)), 1) == [Block(0, 4, 4)]
    assert is_free({0: mask(4, 5, 6, 7)}, [Block(0, 4, 4)])
    assert not is_free({0: mask(4, 5, 6)}, [Block(0, 4, 4)])


@pytest.mark.parametrize(
    ("places", "segments"),
    [
        pytest.param([(0, 1), (0, 2)], 1, id="not aligned"),
        pytest.param([(0, 0), (0, 2)], 1, id="not contiguous"),
        pytest.param([(0, 0), (0, 0)], 1, id="listed twice"),
        pytest.param([(0, 0), (0, 64)], 1, id="no such IPU"),
        pytest.param([(0, 0), (1, 0)], 1, id="two domains for one segment"),
        pytest.param([(0, 0), (0, 1), (1, 0)], 2, id="not spread evenly"),
    ],
)
def test_listed_ipus_that_form_no_block_are_refused(places: list[tuple[int, int]], segments: int) -> None:
    with pytest.raises(Refusal):
        explicit_blocks(listed(*places), segments)
