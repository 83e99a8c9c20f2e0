"""A token is known by its checksum before anything is asked, and only its hash is kept."""

from __future__ import annotations

import hashlib
import random
import re
import string
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipucloud.identity.tokens import new_token, token_hash

BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
TOKEN = new_token("test").secret
positions = st.integers(0, len(TOKEN) - 1)


def value(digits: str) -> int:
    number = 0
    for digit in digits:
        number = number * 62 + BASE62.index(digit)
    return number


def test_the_form_is_the_documented_one_for_ever() -> None:
    secret = new_token("live").secret
    assert re.fullmatch(r"ipu_live_[0-9A-Za-z]{49}", secret)
    assert value(secret[9:52]) < 2**256
    assert value(secret[52:]) == zlib.crc32(secret[:52].encode())
    text = "ipu_live_" + "0" * 42 + "1" + "1VVlyF"
    assert token_hash(text) == hashlib.sha256(text.encode()).digest()


def test_a_new_token_is_another_one_stores_its_hash_and_shows_little() -> None:
    token = new_token("prod")
    assert token_hash(token.secret) == token.hash == hashlib.sha256(token.secret.encode()).digest()
    assert token.secret.startswith(token.display_prefix)
    assert len(token.display_prefix) == len("ipu_prod_") + 8
    assert token.secret not in repr(token)
    assert len({new_token("test").secret for _ in range(1000)}) == 1000


@given(positions, st.sampled_from(BASE62 + "_- \n\x00é"))
def test_a_mistyped_character_is_always_noticed(position: int, typed: str) -> None:
    if typed != TOKEN[position]:
        assert token_hash(TOKEN[:position] + typed + TOKEN[position + 1 :]) is None


@given(positions)
def test_swapped_missing_and_doubled_characters_are_noticed(position: int) -> None:
    a, b = TOKEN[position], TOKEN[(position + 1) % len(TOKEN)]
    if position + 1 < len(TOKEN) and a != b:
        assert token_hash(TOKEN[:position] + b + a + TOKEN[position + 2 :]) is None
    assert token_hash(TOKEN[:position] + TOKEN[position + 1 :]) is None
    assert token_hash(TOKEN[: position + 1] + TOKEN[position:]) is None


def test_invented_tokens_reach_no_query() -> None:
    draw = random.Random(20260501)  # noqa: S311 - invents wrong tokens, makes none
    invented = ("ipu_test_" + "".join(draw.choices(BASE62, k=49)) for _ in range(50_000))
    assert not any(token_hash(text) for text in invented)


@given(st.text())
def test_any_other_text_is_no_token(text: str) -> None:
    assert token_hash(text) is None


@pytest.mark.parametrize(
    "text",
    [TOKEN + "\n", " " + TOKEN, TOKEN.upper(), TOKEN.replace("test", "live"), "Bearer " + TOKEN, TOKEN[:-1], ""],
    # The token is another one in every process of a run, and a test's name must not be.
    ids=["line end", "space", "upper case", "other environment", "scheme", "cut", "empty"],
)
def test_a_token_with_anything_else_around_it_is_no_token(text: str) -> None:
    assert token_hash(text) is None


@pytest.mark.parametrize("env", ["", "a", "toolongenv", "Live", "a_b", "te5t", "tést", "test\n"])
def test_an_environment_is_a_few_lower_case_letters(env: str) -> None:
    with pytest.raises(ValueError, match="lower-case"):
        new_token(env)
