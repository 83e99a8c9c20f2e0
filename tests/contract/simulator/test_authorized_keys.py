"""What lines of `authorized_keys` the simulated site takes: keys, and authorities for one name."""

from __future__ import annotations

import asyncssh
import pytest

from ipucloud.laboratory.simulator.refusal import Refusal
from ipucloud.laboratory.simulator.ssh.authorized_keys import parse_keys

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGsLsPG0tEBYgAJSQm/bNPNAkrF3HXFGDWmMvVWOWcU1"
AUTHORITY = f'cert-authority,principals="bert" {KEY}'


def test_keys_and_authorities_are_kept_apart() -> None:
    key = asyncssh.import_public_key(KEY)
    only_key, only_authority = parse_keys([KEY]), parse_keys([AUTHORITY])
    assert (only_key.keys, only_key.authorities) == (frozenset({key.public_data}), None)
    assert only_authority.keys == frozenset()
    assert only_authority.authorities is not None
    for principals, accepted in ((["bert"], True), (["ernie"], False), ([], False)):
        options = only_authority.authorities.validate(key, "here", "127.0.0.1", principals, ca=True)
        assert (options is not None) == accepted


@pytest.mark.parametrize(
    "line",
    [
        f"cert-authority {KEY}",
        f'cert-authority,principals="" {KEY}',
        f'cert-authority,principals="*" {KEY}',
        f'cert-authority,principals="bert,ernie" {KEY}',
        f'principals="bert",cert-authority {KEY}',
        f'cert-authority,principals="bert",command="sh" {KEY}',
        f'command="sh" {KEY}',
        'cert-authority,principals="bert" ssh-ed25519 AAAA',
        'cert-authority,principals="bert" ',
        f"{AUTHORITY}\n{KEY}",
        "",
    ],
)
def test_what_a_site_does_not_understand_is_refused(line: str) -> None:
    with pytest.raises(Refusal):
        parse_keys([KEY, line])
