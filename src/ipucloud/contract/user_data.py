"""User data of a request: refused, by the name of what is not supported, before anything is built."""

from __future__ import annotations

from ipucloud.wire.user_data import UserDataProblem, parse


def supported_user_data(value: str) -> str:
    """The user data as it is. Raises ValueError for one that a site would not carry out."""
    try:
        parse(value)
    except UserDataProblem as problem:
        raise ValueError(f"the user data is not supported: {problem}") from None
    return value
