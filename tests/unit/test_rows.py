"""What a typed statement makes of the values of a row."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from ipucloud.db.rows import Query


class Colour(StrEnum):
    RED = "red"


class Place(NamedTuple):
    row: int
    seat: int | None


class Guest(NamedTuple):
    name: str
    place: Place | None
    colour: Colour | None


class Booking(NamedTuple):
    place: Place
    name: str


GUESTS = Query("SELECT 1", Guest)


def test_a_row_within_takes_its_columns_unless_the_first_is_null() -> None:
    assert GUESTS.build(("Ada", 3, None, "red")) == Guest("Ada", Place(3, None), Colour.RED)
    assert Query("SELECT 1", Booking).build((3, None, "Ada")) == Booking(Place(3, None), "Ada")
    assert GUESTS.build(("Ada", None, 7, None)) == Guest("Ada", None, None)
    assert Query("SELECT 1", int).build((5,)) == 5
