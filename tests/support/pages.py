"""Commands of the documentation's pages, as a reader would type them."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.machine import program
from tests.support.openssh import make_key

DOCS = Path(__file__).parents[2] / "docs"
_SECONDS = 300
_YES = b"y\n"
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def script(page: Path) -> str:
    """All `sh` blocks of a page in one shell script, which ends with the first command that fails."""
    return "\n".join(["set -eu", *_BLOCK.findall(page.read_text())])


def commands(page: Path, title: str) -> list[str]:
    """The lines of the first block of shell commands under a title."""
    section = re.search(rf"^##+ {title}$.*?^```sh\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    assert section is not None, title
    return [line.partition("  #")[0].rstrip() for line in section[1].splitlines()]


@contextmanager
def user(folder: Path) -> Iterator[dict[str, str]]:
    """The environment of a user with an SSH key, which OpenSSH finds in an agent: it does not go by HOME."""
    key, socket = make_key(folder), folder / "agent"
    (folder / "home" / ".ssh").mkdir(parents=True)
    (folder / "home" / ".ssh" / "id_ed25519.pub").write_text(key.public_line)
    environment = {**os.environ, "HOME": str(folder / "home"), "SSH_AUTH_SOCK": str(socket)}
    with subprocess.Popen([program("ssh-agent"), "-D", "-a", socket], stdout=subprocess.DEVNULL) as agent:
        try:
            add = ["sh", "-c", 'until ssh-add -q "$1"; do :; done', "sh", str(key.private)]
            subprocess.run(add, env=environment, check=True, capture_output=True, timeout=_SECONDS)
            yield environment
        finally:
            agent.terminate()


def typed(line: str, folder: Path, environment: dict[str, str]) -> str:
    """Run a line in a terminal whose user agrees to what is asked; it must succeed."""
    controlling, terminal = pty.openpty()
    try:
        os.write(controlling, _YES)
        done = subprocess.run(
            [program("bash"), "-c", line],
            cwd=folder,
            env=environment,
            stdin=terminal,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
            start_new_session=True,
        )
    finally:
        os.close(controlling)
        os.close(terminal)
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return done.stdout
