"""What a Poplar server is asked to be: its user, keys and user data."""

from __future__ import annotations

import re

from ipucloud.laboratory.simulator.refusal import invalid
from ipucloud.laboratory.simulator.sources import read_network
from ipucloud.laboratory.simulator.ssh.authorized_keys import parse_keys
from ipucloud.wire.site import ServerSpec, SourcesSeen
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
    try:
        sources_of(spec, None)
    except ValueError as error:
        raise invalid(str(error)) from error
    parse_keys([*spec.ssh_authorized_keys, *user_data.ssh_authorized_keys])


def sources_of(spec: ServerSpec, present: SourcesSeen | None) -> SourcesSeen | None:
    """The allowed sources of a server that is written: those of the spec, unless it has had later ones."""
    if spec.sources_revision <= (present.revision if present is not None else 0):
        return present
    networks = [str(read_network(each)) for each in spec.allowed_sources]
    return SourcesSeen(revision=spec.sources_revision, allowed_sources=networks)


def kept_user_data(spec: ServerSpec) -> UserData:
    """What is to be done at the first boot; nothing for a server of a time when user data was not looked at."""
    try:
        return parse_user_data(spec.user_data)
    except UserDataProblem:
        return UserData()
