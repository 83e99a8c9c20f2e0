"""The passwords of the server's roles, in a file that libpq reads by itself (`passfile`).

The file belongs to the user who starts the server and has mode 0600. The server learns verifiers only.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
from pathlib import Path

from ipucloud.db.tenancy import APP_ROLE, OWNER_ROLE
from ipucloud.process.secret_files import TOKEN_BYTES, write_secret

SUPERUSER = "postgres"
ROLES = (SUPERUSER, OWNER_ROLE, APP_ROLE)

# RFC 5802, and RFC 7677 for SHA-256 and the least number of iterations; PostgreSQL's default too.
ITERATIONS = 4096
SALT_BYTES = 16


class Passwords:
    """The passwords in one file, a line `*:*:*:role:password` each."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def make(self) -> None:
        """Write new passwords unless the file has one for every role."""
        if self.path.exists():
            self.path.chmod(0o600)  # libpq ignores a file that others may read
            if self._known().keys() >= set(ROLES):
                return
        write_secret(self.path, "\n".join(f"*:*:*:{role}:{secrets.token_urlsafe(TOKEN_BYTES)}" for role in ROLES))

    def of(self, role: str) -> str:
        """The password of a role. Raises KeyError when the file has none."""
        return self._known()[role]

    def fingerprint(self, role: str) -> str:
        """A fingerprint of a role's password that does not help to guess it."""
        return hashlib.sha256(self.of(role).encode()).hexdigest()[:16]

    def verifier(self, role: str) -> str:
        """What the server stores of a role's password; another one at every call."""
        return scram_verifier(self.of(role), os.urandom(SALT_BYTES))

    def _known(self) -> dict[str, str]:
        rows = (line.split(":") for line in self.path.read_text().splitlines())
        return {row[3]: row[4] for row in rows if len(row) == 5}


def scram_verifier(password: str, salt: bytes) -> str:
    """A SCRAM-SHA-256 verifier as PostgreSQL stores it, of a password in ASCII."""
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, ITERATIONS)
    stored_key = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server_key = hmac.digest(salted, b"Server Key", "sha256")
    encoded = (base64.b64encode(part).decode() for part in (salt, stored_key, server_key))
    return "SCRAM-SHA-256${}:{}${}:{}".format(ITERATIONS, *encoded)
