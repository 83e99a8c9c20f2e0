"""What a Poplar server is asked to be: its user, keys and user data."""

from __future__ import annotations

import re

from ipucloud.laboratory.simulator.refusal import invalid
from ipucloud.laboratory.simulator.ssh.authorized_keys import parse_keys
from ipucloud.wire.site import ServerSpec
from ipucloud.wire.user_data import UserData, UserDataProblem
from ipucloud.wire.user_data import parse as parse_user_data

_USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}")


def check_spec(spec: ServerSpec) -> None:
    """Refuse a server that could not be deployed as it is asked for."""
    if not _USER.fullmatch(spec.user):
        raise invalid(f"{spec.user!r} is not the name of a user")
    try:
        user_data = parse_user_data(spec.user_data)
    except UserDataProblem as problem:
        raise invalid(f"the user data is not supported: {problem}") from problem
    parse_keys([*spec.ssh_authorized_keys, *user_data.ssh_authorized_keys])


def kept_user_data(spec: ServerSpec) -> UserData:
    """What is to be done at the first boot; nothing for a server of a time when user data was not looked at."""
    try:
        return parse_user_data(spec.user_data)
    except UserDataProblem:
        return UserData()
