"""How the times of answers are counted and told."""

from __future__ import annotations

import pytest

from ipucloud.programs.services.requests import BOUNDS, Counts, quantile


def counted(*seconds: float) -> Counts:
    counts = Counts()
    for each in seconds:
        counts.add(each, failed=each > 1)
    return counts


def test_requests_errors_and_seconds_add_up() -> None:
    counts = counted(0.005, 0.0051, 2.0, 60.0)
    assert (counts.requests, counts.errors) == (4, 2)
    assert counts.seconds == pytest.approx(62.0101)
    assert counts.buckets == [1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1]


@pytest.mark.parametrize(
    ("seconds", "part", "expected"),
    [
        ((), 0.5, None),
        ((0.003,) * 4, 0.5, 0.0025),  # half of the way through the first bucket
        ((0.003,) * 4, 1.0, 0.005),
        ((0.003, 0.2, 0.2, 0.2), 0.5, 0.15),  # a third of the way from 0.1 to 0.25
        ((0.003,) * 99 + (4.0,), 0.99, 0.005),
        ((60.0,), 0.5, BOUNDS[-1]),
    ],
)
def test_a_quantile_is_interpolated_within_its_bucket(seconds: tuple[float, ...], part: float, expected: float) -> None:
    assert quantile(counted(*seconds).buckets, part) == expected
