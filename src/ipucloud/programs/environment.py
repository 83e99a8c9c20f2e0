"""Secrets of programs, encrypted as user data is, each on its own: the values of variables, a registry's password."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from uuid import UUID

from ipucloud.kernel.sealing import Keys, place, stored_plain, to_store


def variable_place(table: str, program: UUID, project: UUID, name: str) -> str:
    """The place of a variable's encrypted value; `table`: of the program."""
    return place(table, program, f"environment.{name}", project)


def password_place(table: str, program: UUID, project: UUID) -> str:
    """The place of the encrypted password of a program's registry."""
    return place(table, program, "registry_password", project)


def environment_to_store(
    keys: Keys | None, variables: Mapping[str, str], table: str, program: UUID, project: UUID
) -> dict[str, str]:
    """What the database gets."""
    where = partial(variable_place, table, program, project)
    return {name: to_store(keys, value, where(name)) for name, value in variables.items()}


def plain_environment(
    keys: Keys | None, stored: Mapping[str, str], table: str, program: UUID, project: UUID
) -> dict[str, str]:
    """As the customer gave them. Raises SealingError: the key that encrypted them is missing."""
    where = partial(variable_place, table, program, project)
    return {name: stored_plain(keys, value, where(name)) for name, value in stored.items()}
