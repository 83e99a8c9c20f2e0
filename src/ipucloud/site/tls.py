"""TLS to V-IPU controllers: what a connection is secured with, and why one failed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ipucloud.wire.vipu_calls import tls_failure, was_closed

if TYPE_CHECKING:
    import grpc

PLAINTEXT = "IPUCLOUD_VIPU_PLAINTEXT"
CLIENT_CERTIFICATE = "IPUCLOUD_VIPU_CLIENT_CERTIFICATE"
CONTROLLER = "{controller}"
"""In a path of client files it stands for the controller's name."""


class UntrustedError(Exception):
    """A connection that may not be made, and what to do about it."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A client certificate with its key, PEM."""

    certificate: bytes
    key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class ClientFiles:
    """Where the client certificates for the administration services are: paths, with `{controller}` for its name.

    `key` None: in the file of the certificate.
    """

    certificate: str | None = None
    key: str | None = None

    def of(self, controller: str) -> tuple[Path, Path]:
        """Raises UntrustedError when none is configured."""
        if self.certificate is None:
            raise UntrustedError(
                f"no client certificate is configured for its administration: set {CLIENT_CERTIFICATE}"
            )
        certificate, key = (
            path.replace(CONTROLLER, controller) for path in (self.certificate, self.key or self.certificate)
        )
        return Path(certificate), Path(key)


class Identities:
    """Client certificates by controller, read again when their files change."""

    def __init__(self, files: ClientFiles) -> None:
        self._files = files
        self._read: dict[str, tuple[object, Identity]] = {}

    def of(self, controller: str) -> Identity:
        """Raises UntrustedError when there is none that can be used.

        While the two files do not belong together, the one before stays in use: they are being replaced.
        """
        paths = self._files.of(controller)
        known = self._read.get(controller)
        try:
            stamp = [(each.st_ino, each.st_size, each.st_mtime_ns) for each in (path.stat() for path in paths)]
            if known is not None and known[0] == stamp:
                return known[1]
            identity = _read(*paths)
            _check_pair(identity, paths)
        except OSError as error:
            raise UntrustedError(
                f"its client certificate cannot be read ({error.filename}: {error.strerror}): see {CLIENT_CERTIFICATE}"
            ) from error
        except UntrustedError:
            if known is None:
                raise
            return known[1]
        self._read[controller] = stamp, identity
        return identity


def _read(certificate: Path, key: Path) -> Identity:
    """A pair in one file is read at once: a file that is replaced between two reads would give parts of two pairs."""
    pem = certificate.read_bytes()
    return Identity(pem, pem if key == certificate else key.read_bytes())


def _check_pair(identity: Identity, paths: tuple[Path, Path]) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

    try:
        certificate = x509.load_pem_x509_certificate(identity.certificate)
        key = load_pem_private_key(identity.key, None)
    except (ValueError, TypeError) as error:
        raise UntrustedError(
            f"its client certificate ({paths[0]}) or key ({paths[1]}) is not PEM without a password:"
            f" see {CLIENT_CERTIFICATE}"
        ) from error
    form = Encoding.DER, PublicFormat.SubjectPublicKeyInfo
    if certificate.public_key().public_bytes(*form) != key.public_key().public_bytes(*form):
        raise UntrustedError(f"its client certificate ({paths[0]}) and key ({paths[1]}) do not belong together")


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user of secure controllers who sees every allocation, and the user's access key."""

    user: str
    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Secured:
    """What a connection is secured with: None and None is plaintext."""

    authority: str | None
    identity: Identity | None


class NoChannel:
    """In place of the channel of a connection that may not be made."""

    def unary_unary(self, *_: object, **__: object) -> None:
        """Make nothing: the connection's problem is the answer to every call."""

    async def close(self, grace: float | None) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class Connection:
    """An endpoint of a controller, by a `name` for sentences. `secured`: over TLS; `identified`: as a client, too.

    `problem`: why it may not be made.
    """

    name: str
    channel: grpc.aio.Channel | NoChannel
    secured: bool = False
    identified: bool = False
    problem: str | None = None

    def failure(self, details: str) -> str | None:
        """What to do about a call that found no connection, by gRPC's details; None when the cause is not TLS."""
        if not self.secured:
            closed = was_closed(details)
            return "it takes no plaintext, although the site's inventory gives no authority for it" if closed else None
        cause = tls_failure(details)
        if cause is not None:
            return f"{cause}. Its authority, host and ports are those of the site's inventory: correct it or them"
        if self.identified and was_closed(details):
            return (
                "it closed the connection during the TLS handshake. If it is up, it does not accept the client"
                f" certificate: one of its own authority is needed, which has not expired ({CLIENT_CERTIFICATE})"
            )
        return None
