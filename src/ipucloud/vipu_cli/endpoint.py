"""The address of a controller's endpoint and the user: from options, else from the environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

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
class Security:
    """How calls are secured: over TLS, unless in `plaintext`, which sends an access key unencrypted.

    `authority`: the certificates, PEM, that the controller is verified with; None: the system's. `client`: certificate
    and key, for the administration port.
    """

    authority: bytes | None = None
    client: tuple[bytes, bytes] | None = field(default=None, repr=False)
    plaintext: bool = False


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A user endpoint of a controller, or its administration, and optionally a user with an access key."""

    host: str
    port: int = USER_PORT
    user: str = ""
    access_key: str = ""
    security: Security = Security()

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"


def endpoint_from(
    env: Mapping[str, str], prefix: str, arguments: Mapping[str, str | None], *, admin: bool = False
) -> Endpoint:
    """The endpoint as `arguments`, else from the environment: `<prefix>_HOST`, `_PORT`, `_USER_ID`, `_ACCESS_KEY`.

    `admin`: that of the administration, whose port is in `<prefix>_ADMIN_PORT`. Raises VipuProblem without a host or
    with an invalid port.
    """
    port, default = ("admin_port", ADMIN_PORT) if admin else ("port", USER_PORT)
    value = _values(env, prefix, arguments)
    host = value("host")
    if not host:
        raise VipuProblem(f"no V-IPU controller is configured: {prefix}_HOST is not set")
    return Endpoint(
        host,
        _port(f"{prefix}_{port.upper()}", value(port), default),
        value("user_id"),
        value("access_key"),
    )


def security_from(
    env: Mapping[str, str], prefix: str, arguments: Mapping[str, str | None], read: Callable[[str], bytes]
) -> Security:
    """The same for `<prefix>_CA_FILE`, `_CLIENT_CERT_FILE`, `_CLIENT_KEY_FILE`, which `read` reads, and `_PLAINTEXT`.

    The key may be in the certificate's file. Raises VipuProblem for a file that cannot be read.
    """
    value = _values(env, prefix, arguments)

    def content(name: str) -> bytes | None:
        path = value(name)
        try:
            return read(path) if path else None
        except OSError as error:
            raise VipuProblem(f"{prefix}_{name.upper()} is {path!r}, which cannot be read: {error.strerror}") from error

    plaintext = value("plaintext")
    if plaintext not in {"", "true", "false"}:
        raise VipuProblem(f"{prefix}_PLAINTEXT is {plaintext!r}, neither true nor false")
    certificate = content("client_cert_file")
    client = None if certificate is None else (certificate, content("client_key_file") or certificate)
    return Security(content("ca_file"), client, plaintext == "true")


def _values(env: Mapping[str, str], prefix: str, arguments: Mapping[str, str | None]) -> Callable[[str], str]:
    return lambda name: arguments.get(name) or env.get(f"{prefix}_{name.upper()}", "")


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
