"""Files to and from a Poplar server, over OpenSSH: only what changed is sent."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ipucloud.cli import ssh as openssh
from ipucloud.client.errors import UsageError
from ipucloud.client.models import PoplarServer, Ssh

LEFT_OUT = (".git", "__pycache__")
"""Names of directories that are not sent."""
_VANISHED = 24
"""Status of rsync when files were removed while it ran; everything else was sent."""
_LISTING = "find . -type f -printf '%P\\0%s\\0%T@\\0'"


@dataclass(frozen=True)
class Remote:
    """The way to one server, whose host key is pinned."""

    server: PoplarServer
    ssh: Ssh
    known_hosts: Path
    identity: openssh.Identity

    @property
    def login(self) -> str:
        return openssh.login(self.ssh)

    @property
    def options(self) -> list[str]:
        return openssh.options(self.server, self.known_hosts, self.identity)

    def run(self, command: str, *, stdin: bytes = b"", check: bool = True) -> subprocess.CompletedProcess[bytes]:
        """Run a command there, with `stdin` as its input. Raises UsageError if that fails."""
        arguments = openssh.command(self.server, self.ssh, self.known_hosts, self.identity, [command])
        done = subprocess.run(arguments, input=stdin, capture_output=True, check=False)
        if check and done.returncode != 0:
            raise _failed(f"Server {self.server.name} did not do what is needed", done)
        return done


@dataclass(frozen=True)
class Sent:
    """What an upload did: how many files were sent, of how many; by which program."""

    files: int
    of: int
    by: str


def upload(directory: Path, target: str, remote: Remote, *, rsync: bool = True) -> Sent:
    """Send what changed of a directory's files to `target` in the home of the server.

    With rsync where both sides have it, and `rsync` is not false. Files that vanish meanwhile are not sent. Raises
    UsageError for a name that cannot be sent, a folder that cannot be read, or if the transfer fails.
    """
    known = _files(directory)
    for name in known:
        if "\n" in name or "\r" in name:
            raise UsageError(f"The name of {name!r} has a line break; rename the file, or leave it out.")
    if rsync and shutil.which("rsync") and remote.run("command -v rsync", check=False).returncode == 0:
        return _by_rsync(directory, target, remote, len(known))
    return _by_sftp(directory, target, remote, known)


def fetch(source: str, target: Path, remote: Remote) -> None:
    """Copy a file or directory of the server here. Raises UsageError if that fails."""
    command = [
        *(openssh.program("scp"), "-r", "-p", "-q", *remote.options, "-P", str(remote.ssh.port)),
        *("--", f"{remote.login}:{source}", str(target)),
    ]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        raise _failed(f"{source} could not be fetched from {remote.server.name}", done)


def _files(directory: Path) -> dict[str, os.stat_result]:
    """The files to send, by their names in the directory; no links."""
    files: dict[str, os.stat_result] = {}
    for folder, folders, names in os.walk(directory, onerror=_unreadable):
        folders[:] = sorted(each for each in folders if each not in LEFT_OUT)
        for name in sorted(names):
            path = Path(folder, name)
            with suppress(FileNotFoundError):  # removed meanwhile
                if stat.S_ISREG((facts := path.lstat()).st_mode):
                    files[path.relative_to(directory).as_posix()] = facts
    return files


def _unreadable(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise UsageError(f"{error.filename} cannot be read: {error.strerror}.") from error


def _by_rsync(directory: Path, target: str, remote: Remote, known: int) -> Sent:
    shell = shlex.join([openssh.program("ssh"), *remote.options, "-p", str(remote.ssh.port)])
    left_out = [part for name in LEFT_OUT for part in ("--exclude", f"{name}/")]
    literal = [] if shlex.quote(target) == target else ["-s"]  # else a shell of the server reads it, before 3.2.4
    how = ["-rtp", *literal, "--out-format=%n", *left_out, "-e", shell]
    command = ["rsync", *how, f"{directory}/", f"{remote.login}:{target}/"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode not in {0, _VANISHED}:
        raise _failed(f"{directory} could not be sent to {remote.server.name}", done)
    sent = [line for line in done.stdout.decode(errors="replace").splitlines() if not line.endswith("/")]
    return Sent(len(sent), known, "rsync")


def _by_sftp(directory: Path, target: str, remote: Remote, known: dict[str, os.stat_result]) -> Sent:
    for path in (str(directory), *known):
        if "\\" in path:
            raise UsageError(f"sftp cannot send {path!r}, whose name has a backslash; install rsync, or rename it.")
    folder = shlex.quote(target)
    listing = remote.run(f"mkdir -p -- {folder} && cd -- {folder} && {_LISTING}").stdout.decode(
        errors="surrogateescape"
    )
    there = {name: (int(size), int(float(changed))) for name, size, changed in _triples(listing.split("\0"))}
    changed = [name for name, facts in known.items() if there.get(name) != (facts.st_size, int(facts.st_mtime))]
    while changed:
        parents = {str(parent) for name in changed for parent in PurePosixPath(name).parents if str(parent) != "."}
        if parents:
            remote.run(f"cd -- {folder} && mkdir -p -- {shlex.join(sorted(parents))}")
        batch = "".join(f"put -p {_quoted(str(directory / name))} {_quoted(f'{target}/{name}')}\n" for name in changed)
        command = [openssh.program("sftp"), "-q", *remote.options, "-P", str(remote.ssh.port), "-b", "-", remote.login]
        done = subprocess.run(command, input=os.fsencode(batch), capture_output=True, check=False)
        if done.returncode == 0:
            break
        if len(left := [name for name in changed if (directory / name).exists()]) == len(changed):
            raise _failed(f"{directory} could not be sent to {remote.server.name}", done)
        changed = left  # sftp stops at the first file that was removed meanwhile
    return Sent(len(changed), len(known), "sftp")


def _triples(words: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    whole = len(words) // 3 * 3
    yield from zip(words[0:whole:3], words[1:whole:3], words[2:whole:3], strict=True)


def _quoted(path: str) -> str:
    """A path in a batch of sftp, where quotes also keep patterns from being read."""
    inner = path.replace('"', '\\"')
    return f'"{inner}"'


def _failed(what: str, done: subprocess.CompletedProcess[bytes]) -> UsageError:
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return UsageError(f"{what}: {said[-1] if said else f'status {done.returncode}'}")
