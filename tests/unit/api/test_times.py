"""Times of requests."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from ipucloud.contract.fields import Instant

INSTANT = TypeAdapter(Instant)


@pytest.mark.parametrize("text", ["2026-01-31T23:59:30 02:00", "2026-01-31 23:59:30.5 02:00"])
def test_a_plus_that_a_query_made_a_space_is_told(text: str) -> None:
    with pytest.raises(ValidationError, match="%2B"):
        INSTANT.validate_python(text)
    assert INSTANT.validate_python(text.replace(" 02:00", "+02:00")).utcoffset() is not None


def test_what_is_no_time_is_told_as_before() -> None:
    with pytest.raises(ValidationError, match="2026-01-31T23:59:30Z"):
        INSTANT.validate_python("yesterday")
