"""Tokens that are narrowed to some of the scopes that their role has, or limited to networks.

The law: nobody gives out more than his own token may do. A narrowed token therefore creates and rotates only narrowed
tokens, within its own scopes: what a role is given later must not come to it by way of another token.
"""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.identity.access import listed
from ipucloud.identity.roles import Permission, Rights, Role, scopes_of
from ipucloud.kernel.errors import PERMISSION_DENIED, VALIDATION_FAILED, FieldError, Problem
from ipucloud.kernel.networks import within

_KNOWN = frozenset(Permission)


def chosen(role: Role, scopes: Sequence[str] | None, sources: Sequence[str]) -> Rights:
    """What a new token of the role may do, narrowed to `scopes` if there are any, from `sources` only.

    Raises `Problem` validation_failed for scopes that do not exist, or that the role does not have.
    """
    if scopes is None:
        return Rights(role, sources=tuple(sources))
    having = scopes_of(role)
    faults = [_fault(place, each, role) for place, each in enumerate(scopes) if each not in having]
    if faults:
        raise Problem(VALIDATION_FAILED, "Some values are not valid.", faults)
    return Rights(role, frozenset(scopes), tuple(sources))


def require_within(giver: Rights, rights: Rights) -> None:
    """Raises `Problem` permission_denied if a token with these `rights` might do more than that of `giver`."""
    _require_sources(giver, rights)
    if not giver.narrowed:
        return
    if not rights.narrowed:
        raise Problem(
            PERMISSION_DENIED,
            f"This token was narrowed to {listed(giver.scopes)}, so a token that it creates or rotates must be narrowed"
            " too: name some of these in `scopes`, or use a token that was not narrowed.",
        )
    _require_scopes(giver, rights, "a token that it creates or rotates")


def require_role_within(giver: Rights, role: Role) -> None:
    """Raises `Problem` permission_denied if a narrowed token would give a person a role that may do more than it."""
    if giver.narrowed:
        _require_scopes(giver, Rights(role), f"a person to whom it gives the role {role}")


def _require_scopes(giver: Rights, rights: Rights, whose: str) -> None:
    beyond = rights.scopes - giver.scopes
    if beyond:
        raise Problem(
            PERMISSION_DENIED,
            f"This token was narrowed to {listed(giver.scopes)}, and {whose} may not do more: it would have"
            f" {listed(beyond)} too. Use a token that has these scopes, or that was not narrowed.",
        )


def _require_sources(giver: Rights, rights: Rights) -> None:
    beyond = [each for each in rights.sources if not within(each, giver.sources)]
    if giver.sources and (beyond or not rights.sources):
        raise Problem(
            PERMISSION_DENIED,
            f"This token may be used from {', '.join(giver.sources)} only, so a token that it creates or rotates must"
            " be limited to these networks or parts of them: name some in `allowed_sources`, or use a token without"
            " allowed sources.",
        )


def _fault(place: int, scope: str, role: Role) -> FieldError:
    if scope not in _KNOWN:
        return FieldError(f"/scopes/{place}", "unknown_scope", f"There is no such scope. There are: {listed(_KNOWN)}.")
    sentence = f"The role {role} does not have the scope {scope}. It has: {listed(scopes_of(role))}."
    return FieldError(f"/scopes/{place}", "scope_not_of_role", sentence)
