"""The serial console of one server: what it writes in each boot, kept outside of its disk, within bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import orjson
from pydantic import TypeAdapter

from ipucloud.laboratory.simulator.store import read_document, replace_file
from ipucloud.wire.site import CONSOLE_BOOTS, CONSOLE_BYTES, ConsoleBoot

_BOOT = (
    "Linux version 5.4.0-216-generic (buildd@lcy02) (gcc 9.4.0) #236-Ubuntu SMP",
    "Command line: BOOT_IMAGE=/vmlinuz root=LABEL=cloudimg-rootfs ro console=tty1 console=ttyS0",
    "x86/fpu: x87 FPU will use FXSAVE",
    "Memory: 4042204K/4193784K available",
    "NET: Registered protocol family 2",
    "EXT4-fs (vda1): mounted filesystem with ordered data mode",
    "systemd[1]: Detected architecture x86-64.",
)
_SERVICES = (
    "Reached target Local File Systems",
    "Reached target Network is Online",
    "Started OpenBSD Secure Shell server",
)
_STOPPED = ("Stopped OpenBSD Secure Shell server", "Unmounted all filesystems")


@dataclass
class _Kept:
    """One boot; times are seconds since the epoch."""

    number: int
    boot_id: str
    started_at: float
    ended_at: float | None = None
    text: str = ""
    dropped: int = 0
    written: int = 0


@dataclass
class _Log:
    written: int = 0
    boots: list[_Kept] = field(default_factory=list)


_LOG = TypeAdapter(_Log)


class Console:
    """Everything here takes effect in `file` at once: a site that is killed loses none of it."""

    def __init__(self, file: Path, now: Callable[[], float]) -> None:
        self._file = file
        self._now = now
        stored = read_document(file)
        self._log = _Log() if stored is None else _LOG.validate_json(stored)

    @property
    def written(self) -> int:
        """Bytes that were ever written."""
        return self._log.written

    def boot(self, boot_id: str) -> bool:
        """A boot begins; False when it had begun before, in an earlier process of the site."""
        boots = self._log.boots
        if boots and boots[-1].boot_id == boot_id:
            return False
        number = boots[-1].number + 1 if boots else 1
        self._log.boots = [*boots[1 - CONSOLE_BOOTS :], _Kept(number, boot_id, self._now())]
        kernel = [f"[{number * 0.173:12.6f}] {line}" for number, line in enumerate(_BOOT)]
        self._write("\n".join([*kernel, *_listed(_SERVICES), ""]))
        return True

    def cloud_init(self, stage: str, output: bytes = b"") -> None:
        """A stage of cloud-init, and what its programs have written."""
        self._write(f"cloud-init[612]: {stage}\n{output.decode(errors='replace')}")

    def login(self, hostname: str) -> None:
        """The server waits for logins."""
        self._write(f"\nUbuntu 20.04.6 LTS {hostname} ttyS0\n\n{hostname} login: ")

    def end(self, why: str | None) -> None:
        """The boot ends, if one has begun: orderly, with these words, or with its power when there are none."""
        if not self._log.boots or self._log.boots[-1].ended_at is not None:
            return
        if why is not None:
            self._write("\n".join(["", *_listed(_STOPPED), f"[{self._uptime():12.6f}] reboot: {why}", ""]))
        self._log.boots[-1].ended_at = self._now()
        self._write("")

    def boots(self, after: int = 0) -> Sequence[ConsoleBoot]:
        """The boots that were written to after so many bytes, the oldest first."""
        return [
            ConsoleBoot(
                number=boot.number,
                boot_id=boot.boot_id,
                started_at=datetime.fromtimestamp(boot.started_at, UTC),
                ended_at=None if boot.ended_at is None else datetime.fromtimestamp(boot.ended_at, UTC),
                text=boot.text,
                dropped=boot.dropped,
                written=boot.written,
            )
            for boot in self._log.boots
            if boot.written > after
        ]

    def _uptime(self) -> float:
        return max(0.0, self._now() - self._log.boots[-1].started_at)

    def _write(self, text: str) -> None:
        """Add to the present boot. The count grows with every change, so that whoever asks for what follows sees it."""
        boot = self._log.boots[-1]
        content = (boot.text + text).encode()
        boot.text = content[-CONSOLE_BYTES:].decode(errors="ignore")
        boot.dropped += len(content) - len(boot.text.encode())
        self._log.written += max(1, len(text.encode()))
        boot.written = self._log.written
        self._file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self._file, orjson.dumps(self._log), fsync=False, mode=0o600)


def _listed(lines: Sequence[str]) -> list[str]:
    return [f"[  OK  ] {line}." for line in lines]


class Consoles:
    """The consoles of a site's hosts, each a file of one folder."""

    def __init__(self, folder: Path, now: Callable[[], float]) -> None:
        self._folder = folder
        self._now = now
        self._known: dict[str, Console] = {}

    def of(self, host: str) -> Console:
        if host not in self._known:
            self._known[host] = Console(self._file(host), self._now)
        return self._known[host]

    def remove(self, host: str) -> None:
        """Forget what the server of a host wrote."""
        self._known.pop(host, None)
        self._file(host).unlink(missing_ok=True)

    def _file(self, host: str) -> Path:
        return self._folder / f"{host}.json"
