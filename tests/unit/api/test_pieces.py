"""The parts of the API that need neither a request nor a database."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from ipucloud.api import bodies, limits
from ipucloud.api.credentials import credentials
from ipucloud.api.etag import NO_VERSION, expected_version, tag
from ipucloud.api.paging import open_cursor, seal_cursor
from ipucloud.contract.lists import MOST, Listed
from ipucloud.identity.tokens import new_token
from ipucloud.kernel.errors import Problem

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


class ManualClock:
    at = 0.0

    def monotonic(self) -> float:
        return self.at


def request(path: str = "/", **headers: str) -> Request:
    named = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    return Request({"type": "http", "path": path, "headers": named})


@given(st.lists(st.tuples(st.floats(0, 5), st.integers(1, 40)), max_size=40))
def test_a_bucket_gives_its_burst_and_its_rate_and_no_more(steps: list[tuple[float, int]]) -> None:
    clock = ManualClock()
    limiter = limits.RateLimiter("token", 3.0, 10, clock)  # type: ignore[arg-type]  # all it is asked
    allowed = 0
    for pause, number in steps:
        clock.at += pause
        allowed += sum(limiter.take("caller") >= 0 for _ in range(number))
        assert allowed <= 10 + 3.0 * clock.at + 1e-6


def test_callers_are_forgotten_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_BUCKETS", 2)
    limiter = limits.RateLimiter("token", 1.0, 1, ManualClock())  # type: ignore[arg-type]  # all it is asked
    assert [limiter.take(caller) >= 0 for caller in ("a", "b", "a", "c", "b")] == [True, True, False, True, True]


@pytest.mark.parametrize(
    ("header", "version"),
    [
        ("*", None),
        ('"7"', 7),
        ('"7-0123456789abcdef"', 7),
        ('"7-0123456789abcdef-gzip"', 7),
        ('"7.12"', 7),
        ('W/"7"', NO_VERSION),
        ("7", NO_VERSION),
        ('"x"', NO_VERSION),
    ],
)
def test_the_version_a_caller_expects(header: str, version: int | None) -> None:
    assert expected_version(request(if_match=header)) == version


@given(st.integers(0, 10**17), st.binary(max_size=20))
def test_a_tag_names_its_version(version: int, body: bytes) -> None:
    assert expected_version(request(if_match=tag(version, body))) == version


@given(st.text(st.characters(codec="ascii", exclude_characters="\x00"), min_size=1), st.text())
def test_a_cursor_opens_in_its_own_list_only(position: str, path: str) -> None:
    cursor = seal_cursor(Listed(), request("/here"), position).decode()
    assert open_cursor(Listed(cursor=cursor), request("/here")) == position
    if path != "/here":
        with pytest.raises(Problem):
            open_cursor(Listed(cursor=cursor), request(path))


@given(st.text())
def test_whatever_is_sent_as_a_cursor_is_refused_kindly(text: str) -> None:
    with pytest.raises(Problem):
        open_cursor(Listed(cursor=text), request())


@given(st.integers())
def test_a_limit_is_between_one_and_the_most(number: int) -> None:
    assert Listed(limit=str(number)).limit == min(max(number, 1), MOST)


@given(JSON)
def test_bodies_that_are_not_too_deep_pass(value: Any) -> None:
    if "\x00" not in repr(value) and "\\x00" not in repr(value):
        bodies._checked(value)


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}])
def test_depth_is_counted(wrap: Any) -> None:
    value: object = 1
    for _ in range(bodies.DEEPEST):
        value = wrap(value)
    bodies._checked(value)
    with pytest.raises(Problem):
        bodies._checked(wrap(value))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("3.0", 3),
        ('{"a": [1e2, 0.5, -0.0], "b": 1}', {"a": [100, 0.5, 0], "b": 1}),
        ("9007199254740994.0", 9007199254740994.0),
        ("true", True),
    ],
)
def test_a_number_without_a_fraction_is_an_integer_while_that_is_exact(written: str, read: Any) -> None:
    value, _ = bodies._checked(json.loads(written))
    assert (value, repr(value)) == (read, repr(read))


def sent(*headers: tuple[bytes, bytes]) -> tuple[bytes | None, bool]:
    return credentials({"scheme": "http", "headers": list(headers)})


def test_a_credential_is_one_token_under_a_known_scheme() -> None:
    token = new_token("test")
    secret = token.secret.encode()
    for value in (b"Bearer " + secret, b"bearer  " + secret, b"APIKey " + secret, b"apikey " + secret + b" "):
        assert sent((b"authorization", value)) == (token.hash, False)
    for value in (secret, b"Basic " + secret, b"Bearer", b"Bearer " + secret[:-1], b"Bearer \xff", b""):
        assert sent((b"authorization", value)) == (None, False)
    assert sent(*[(b"authorization", b"Bearer " + secret)] * 2) == (None, False)
