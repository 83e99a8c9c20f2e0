"""Secrets of the installation that are not in its environment: in files, or printed by a command."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

COMMAND_SECONDS = 10.0


class SecretFile:
    """A secret in a file, read again whenever the file has changed.

    `valid`: whether a text can be the secret. Whoever replaces a file may be seen at it: while the file is missing,
    empty or holds something else, the last secret is used.
    """

    def __init__(self, path: Path, valid: Callable[[str], bool]) -> None:
        self._path = path
        self._valid = valid
        self._stamp: tuple[int, int, int] | None = None
        self._secret: str | None = None

    def secret(self) -> str:
        """Raises OSError if the file could never be read, ValueError if it never held a secret."""
        try:
            self._secret = self._read()
        except (OSError, ValueError):
            if self._secret is None:
                raise
        return self._secret

    def _read(self) -> str:
        status = self._path.stat()
        stamp = (status.st_ino, status.st_mtime_ns, status.st_size)
        if stamp == self._stamp and self._secret is not None:
            return self._secret
        text = self._path.read_text().strip()
        if not text or not self._valid(text):
            raise ValueError("the file does not hold a secret")
        self._stamp = stamp
        return text


def printed_by(command: str) -> str:
    """What a command prints, without white space around it. Raises ValueError, which repeats none of it."""
    try:
        done = subprocess.run(  # the operator's own command, without a shell
            shlex.split(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=COMMAND_SECONDS,
            check=True,
            text=True,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"the command did not end within {COMMAND_SECONDS:g} s") from None
    except subprocess.CalledProcessError as error:
        raise ValueError(f"the command ended with status {error.returncode}; run it by hand to see why") from None
    except (OSError, ValueError) as error:
        raise ValueError(f"the command could not be run ({type(error).__name__})") from None
    return done.stdout.strip()
