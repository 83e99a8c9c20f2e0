"""Secrets kept beside the data they open, readable by this user alone."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

TOKEN_BYTES = 32


def read_secret(path: Path) -> str | None:
    """The secret, None when there is none."""
    try:
        return path.read_text().strip() or None
    except FileNotFoundError:
        return None


def write_secret(path: Path, secret: str) -> None:
    """Keep the secret; the file is whole or as before, and at no moment readable by others."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secret + "\n")
    new.replace(path)


def kept_secret(path: Path) -> str:
    """The secret of this file, a random one from its first use on."""
    secret = read_secret(path)
    if secret is None:
        secret = secrets.token_urlsafe(TOKEN_BYTES)
        write_secret(path, secret)
    return secret
