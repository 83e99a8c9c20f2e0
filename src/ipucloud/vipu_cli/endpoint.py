"""The controller's address and the user: from options, else from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

USER_PORT = 8090
ADMIN_PORT = 8091
TIMEOUT = 120.0
"""Seconds that the vendor's clients wait for a partition; large pods need up to an hour."""


class VipuProblem(Exception):
    """Why a command or call failed. `missing`: its object does not exist."""

    def __init__(self, sentence: str, *, missing: bool = False) -> None:
        super().__init__(sentence)
        self.missing = missing


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A controller's user service, its administration port, and optionally a user with an access key."""

    host: str
    port: int = USER_PORT
    admin_port: int = ADMIN_PORT
    user: str = ""
    access_key: str = ""

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def admin_address(self) -> str:
        return f"{self.host}:{self.admin_port}"


def endpoint_from(env: Mapping[str, str], prefix: str, given: Mapping[str, str | None]) -> Endpoint:
    """The endpoint as `given`, else from the environment: `<prefix>_HOST`, `_PORT`, `_USER_ID`, `_ACCESS_KEY`.

    Raises VipuProblem without a host or with an invalid port.
    """

    def value(name: str) -> str:
        return given.get(name) or env.get(f"{prefix}_{name.upper()}", "")

    host = value("host")
    if not host:
        raise VipuProblem(f"no V-IPU controller is configured: {prefix}_HOST is not set")
    return Endpoint(
        host,
        _port(f"{prefix}_PORT", value("port"), USER_PORT),
        _port(f"{prefix}_ADMIN_PORT", value("admin_port"), ADMIN_PORT),
        value("user_id"),
        value("access_key"),
    )


def timeout_from(name: str, text: str) -> float:
    """Seconds to wait; default: `TIMEOUT`. Raises VipuProblem."""
    if not text:
        return TIMEOUT
    if not text.isdigit() or int(text) == 0:
        raise VipuProblem(f"{name} is {text!r}, not a number of seconds")
    return float(text)


def _port(name: str, text: str, default: int) -> int:
    if not text:
        return default
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise VipuProblem(f"{name} is {text!r}, not a port")
    return int(text)
