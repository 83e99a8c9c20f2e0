"""Files to and from a Poplar server, over OpenSSH: only what changed is sent."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ipucloud.cli import ssh as openssh
from ipucloud.cli.ignoring import ALWAYS_LEFT_OUT, Listing
from ipucloud.client.errors import UsageError
from ipucloud.client.models import PoplarServer, Ssh

LARGE = 1_000_000_000
"""Bytes of an upload above which the user is asked."""
_VANISHED = 24
"""Status of rsync when files were removed while it ran; everything else was sent."""
_SENT = re.compile(r"^(\d+) .*[^/\n]$", re.MULTILINE)
"""A file, but no folder, in what rsync writes: its bytes and its name."""
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
    """What an upload did: how many files were sent, of how many, and their bytes; by which program."""

    files: int
    of: int
    size: int
    by: str


Agree = Callable[[int], None]
"""Raises unless so many bytes, which are more than LARGE, may be sent."""


def upload(listing: Listing, target: str, remote: Remote, agree: Agree | None, *, rsync: bool = True) -> Sent:
    """Send what changed of a directory's files to `target` in the home of the server, if `agree` does not refuse it.

    With rsync where both sides have it, and `rsync` is not false. Files that vanish meanwhile are not sent. Raises
    UsageError for a name that cannot be sent, or if the transfer fails.
    """
    if rsync and shutil.which("rsync") and remote.run("command -v rsync", check=False).returncode == 0:
        return _by_rsync(listing, target, remote, agree)
    return _by_sftp(listing, target, remote, agree)


def fetch(source: str, target: Path, remote: Remote) -> None:
    """Copy a file or directory of the server here. Raises UsageError if that fails."""
    command = [
        *(openssh.program("scp"), "-r", "-p", "-q", *remote.options, "-P", str(remote.ssh.port)),
        *("--", f"{remote.login}:{source}", str(target)),
    ]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        raise _failed(f"{source} could not be fetched from {remote.server.name}", done)


def _by_rsync(listing: Listing, target: str, remote: Remote, agree: Agree | None) -> Sent:
    if agree and listing.size > LARGE and (size := _rsync(listing, target, remote, "--dry-run").size) > LARGE:
        agree(size)
    return _rsync(listing, target, remote)


def _rsync(listing: Listing, target: str, remote: Remote, *options: str) -> Sent:
    shell = shlex.join([openssh.program("ssh"), *remote.options, "-p", str(remote.ssh.port)])
    left_out = [part for name in ALWAYS_LEFT_OUT for part in ("--exclude", f"{name}/")]
    if listing.ignored:
        left_out += ["--from0", "--exclude-from=-"]
    literal = [] if shlex.quote(target) == target else ["-s"]  # else a shell of the server reads it, before 3.2.4
    how = ["-rtp", *options, *literal, "--out-format=%l %n", *left_out, "-e", shell]
    command = ["rsync", *how, f"{listing.directory}/", f"{remote.login}:{target}/"]
    ignored = "".join(f"/{_literally(name)}\0" for name in listing.ignored)
    done = subprocess.run(command, input=os.fsencode(ignored), capture_output=True, check=False)
    if done.returncode not in {0, _VANISHED}:
        raise _failed(f"{listing.directory} could not be sent to {remote.server.name}", done)
    lines = _SENT.findall(done.stdout.decode(errors="replace"))  # not that it skips a link
    return Sent(len(lines), len(listing.files), sum(map(int, lines)), "rsync")


def _literally(name: str) -> str:
    """A name as a pattern of rsync, to which a backslash is one unless there is a wildcard."""
    return re.sub(r"[\\*?\[]", r"\\\g<0>", name) if re.search(r"[*?\[]", name) else name


def _by_sftp(listing: Listing, target: str, remote: Remote, agree: Agree | None) -> Sent:
    directory, known = listing.directory, listing.files
    for path in (str(directory), *known):
        if "\\" in path:
            raise UsageError(f"sftp cannot send {path!r}, whose name has a backslash; install rsync, or rename it.")
    folder = shlex.quote(target)
    there = _there(folder, remote)
    changed = [name for name, facts in known.items() if there.get(name) != (facts.st_size, int(facts.st_mtime))]
    if agree and (size := sum(known[name].st_size for name in changed)) > LARGE:
        agree(size)
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
    return Sent(len(changed), len(known), sum(known[name].st_size for name in changed), "sftp")


def _there(folder: str, remote: Remote) -> dict[str, tuple[int, int]]:
    """Size and time of change, in seconds, of the files of a folder of the server, which is made if it is not there."""
    listing = remote.run(f"mkdir -p -- {folder} && cd -- {folder} && {_LISTING}").stdout
    words = listing.decode(errors="surrogateescape").split("\0")
    return {name: (int(size), int(float(changed))) for name, size, changed in _triples(words)}


def _triples(words: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    whole = len(words) // 3 * 3
    yield from zip(words[0:whole:3], words[1:whole:3], words[2:whole:3], strict=True)


def _quoted(path: str) -> str:
    """A path in a batch of sftp, where quotes also keep patterns from being read."""
    inner = path.replace('"', '\\"')
    return f'"{inner}"'


def _failed(what: str, done: subprocess.CompletedProcess[bytes]) -> UsageError:
    said = done.stderr.decode(errors="replace").strip().splitlines()
    telling = [line for line in said if not line.startswith("rsync error:")] or said  # whose last only counts them
    return UsageError(f"{what}: {telling[-1] if telling else f'status {done.returncode}'}")
