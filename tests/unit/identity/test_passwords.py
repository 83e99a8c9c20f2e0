"""How passwords are stored. Everywhere else, tests hash with the least cost there is."""

from __future__ import annotations

import runpy

import pytest

from ipucloud.identity import passwords

pytestmark = pytest.mark.anyio


async def test_a_stored_password_costs_whoever_guesses_it() -> None:
    """RFC 9106, section 4: 64 MiB with three passes and four lanes is its second recommended option."""
    product = runpy.run_path(passwords.__file__)["Passwords"]()
    stored = await product.hash("quiet-harbour-42-lamp")
    assert stored.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert await product.verify(stored, "quiet-harbour-42-lamp")
    assert not await product.verify(stored, "quiet-harbour-42-lamq")
    assert not await product.verify(None, "quiet-harbour-42-lamp")
