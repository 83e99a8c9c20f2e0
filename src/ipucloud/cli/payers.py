"""What a payer's token has instead of a project: a billing account."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ipucloud.cli.session import Session
from ipucloud.client import tokens
from ipucloud.client.call import Call
from ipucloud.client.errors import ApiError

Result = TypeVar("Result")


def own_account(session: Session) -> str | None:
    """The account of a payer's token."""
    me = session.run(tokens.whoami()).token
    return None if me is None or me.account_id is None else str(me.account_id)


def run_for_payers(session: Session, of_project: Call[Result], of_account: Callable[[], Call[Result]]) -> Result:
    """What the project gives, or what the account of a payer's token gives.

    A payer's token of the environment may come with the project of a stored profile.
    """
    if session.configured.project is None and own_account(session) is not None:
        return session.run(of_account())
    try:
        return session.run(of_project)
    except ApiError as error:
        if error.code != "not_found" or session.project or own_account(session) is None:
            raise
        return session.run(of_account())
