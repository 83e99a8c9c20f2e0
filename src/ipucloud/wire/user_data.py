"""User data of a server: which of cloud-init's formats and keys a site has to carry out, and how they are read.

A site carries out what `parse` answers, once, at the first boot of a server; a control plane refuses what it does not
take before anything is built. Pure.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

CONFIG, SCRIPT = "#cloud-config", "#!"
MAX_DEPTH = 16
"""Of lists and mappings within each other; what is supported has fewer."""
_HOSTNAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
_KEY_KIND = re.compile(r"ssh-(ed25519|rsa)|ecdsa-sha2-nistp(256|384|521)|sk-[a-z0-9-]+@openssh\.com", re.ASCII)
_KEY = re.compile(r"[a-z][a-z0-9_-]{0,63}", re.ASCII)
_PERMISSIONS = re.compile(r"0?[0-7]{3}", re.ASCII)
_ENCODINGS = {"text/plain": False, "b64": True, "base64": True}

Command = str | tuple[str, ...]
"""A line for the shell, or a program with its arguments."""


class UserDataProblem(Exception):
    """The user data is not taken; the text says what is wrong with it, and what is supported."""


@dataclass(frozen=True)
class WrittenFile:
    """A file to write, with folders on the way to it. `mode`: its permissions. `append`: to what is there."""

    path: str
    content: bytes
    mode: int
    append: bool


@dataclass(frozen=True)
class UserData:
    """What is to be done, in this order: `boot_commands`, files, `run_commands`, and the script.

    `skipped`: keys that are taken, and do nothing.
    """

    hostname: str | None = None
    ssh_authorized_keys: tuple[str, ...] = ()
    boot_commands: tuple[Command, ...] = ()
    files: tuple[WrittenFile, ...] = ()
    run_commands: tuple[Command, ...] = ()
    script: str | None = None
    skipped: tuple[str, ...] = ()

    @property
    def does_something(self) -> bool:
        """Whether there is something to do at the first boot."""
        return bool(self.boot_commands or self.files or self.run_commands or self.script or self.skipped)


def parse(text: str | None) -> UserData:
    """What the user data asks for. Raises UserDataProblem."""
    if not text or not text.strip():
        return UserData()
    if text.startswith(SCRIPT):
        if "\r\n" in text:
            raise UserDataProblem("the lines of the script end with CR LF, as on Windows; it runs only with LF alone")
        return UserData(script=text)
    head = text.lstrip("\ufeff").split("\n", 1)[0].strip()
    if not head.startswith(CONFIG):
        raise UserDataProblem(
            f"its first line is neither {CONFIG}, for a configuration, nor begins with {SCRIPT}, for a script;"
            " it is given as plain text, neither compressed nor as base64"
        )
    return _config(_document(text))


def _document(text: str) -> dict[str, Any]:
    import yaml

    try:
        depth = 0
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise UserDataProblem("it uses a YAML alias; write what it stands for instead")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise UserDataProblem(f"its lists and mappings are more than {MAX_DEPTH} within each other")
        document = yaml.load(text, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark is not None else ""
        cause = getattr(error, "problem", None) or "it cannot be read"
        raise UserDataProblem(f"it is not YAML{where}: {cause}") from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise UserDataProblem("it is not a mapping of keys to values, as in 'runcmd: [...]'")
    return document


def _config(document: dict[Any, Any]) -> UserData:
    for key in document:
        if key not in _KEYS and key not in _SKIPPED:
            supported = ", ".join(sorted((*_KEYS, *_SKIPPED)))
            raise UserDataProblem(f"{_named(key)} is not supported; supported are {supported}")
    values = {field: read(key, document[key]) for key, (field, read) in _KEYS.items() if document.get(key) is not None}
    return UserData(**values, skipped=tuple(sorted(key for key in _SKIPPED if document.get(key))))


def _named(key: Any) -> str:
    """A key as a sentence names it. What is not written as one may be something else, and is not repeated."""
    return f"key {key!r}" if isinstance(key, str) and _KEY.fullmatch(key) else "a key that is no name"


def _hostname(key: str, value: Any) -> str:
    if not isinstance(value, str) or not _HOSTNAME.fullmatch(value):
        raise UserDataProblem(f"{key!r} is not a host name: lower-case letters, digits and hyphens, at most 63")
    return value


def _keys(key: str, value: Any) -> tuple[str, ...]:
    lines = [str(line).strip() for line in _list(key, value)]
    for number, line in enumerate(lines, 1):
        if not _is_public_key(line):
            raise UserDataProblem(f"item {number} of {key!r} is not an OpenSSH public key, as in 'ssh-ed25519 AAAA…'")
    return tuple(lines)


def _is_public_key(line: str) -> bool:
    """Whether it is the name of a kind of key, and a key that says that it is of this kind."""
    kind, _, rest = line.partition(" ")
    try:
        key = base64.b64decode((rest.split() or [""])[0], validate=True)
    except binascii.Error:
        return False
    named = kind.encode()
    return bool(_KEY_KIND.fullmatch(kind)) and key.startswith(len(named).to_bytes(4) + named) and "\n" not in line


def _commands(key: str, value: Any) -> tuple[Command, ...]:
    return tuple(_command(key, number, item) for number, item in enumerate(_list(key, value), 1))


def _command(key: str, number: int, item: Any) -> Command:
    if isinstance(item, str):
        return item
    if isinstance(item, list) and item and all(isinstance(word, str | int | float) for word in item):
        return tuple(str(word) for word in item)
    raise UserDataProblem(f"item {number} of {key!r} is neither a line for the shell nor a list of a program's words")


def _files(key: str, value: Any) -> tuple[WrittenFile, ...]:
    return tuple(_file(f"item {number} of {key!r}", item) for number, item in enumerate(_list(key, value), 1))


def _file(what: str, item: Any) -> WrittenFile:
    if not isinstance(item, dict):
        raise UserDataProblem(f"{what} is not a mapping with a path")
    unknown = [_named(name) for name in item if name not in _FILE_KEYS]
    if unknown:
        raise UserDataProblem(f"{what} has {unknown[0]}; supported are {', '.join(sorted(_FILE_KEYS))}")
    path, content, encoding = item.get("path"), item.get("content", ""), item.get("encoding", "text/plain")
    if not isinstance(path, str) or not path.startswith("/") or "\0" in path:
        raise UserDataProblem(f"{what} has no path that begins with '/'")
    if not isinstance(content, str | bytes):
        raise UserDataProblem(f"the content of {what} is not a text")
    if encoding not in _ENCODINGS:
        raise UserDataProblem(f"the encoding of {what} is not one of {', '.join(_ENCODINGS)}")
    data = content.encode() if isinstance(content, str) else content
    if _ENCODINGS[encoding]:
        try:
            data = base64.b64decode(data)
        except binascii.Error:
            raise UserDataProblem(f"the content of {what} is not base64") from None
    permissions = item.get("permissions", "0644")
    if not isinstance(permissions, str) or not _PERMISSIONS.fullmatch(permissions):
        raise UserDataProblem(f"the permissions of {what} are not three octal digits in quotes, as in '0644'")
    append = item.get("append", False)
    if not isinstance(append, bool):
        raise UserDataProblem(f"'append' of {what} is neither true nor false")
    return WrittenFile(path, data, int(permissions, 8), append)


def _list(key: str, value: Any) -> Sequence[Any]:
    if not isinstance(value, list):
        raise UserDataProblem(f"{key!r} is not a list")
    return value


_FILE_KEYS = frozenset({"path", "content", "encoding", "permissions", "append"})
_SKIPPED = frozenset({"package_update", "package_upgrade"})
_KEYS: dict[str, tuple[str, Callable[[str, Any], Any]]] = {
    "bootcmd": ("boot_commands", _commands),
    "hostname": ("hostname", _hostname),
    "runcmd": ("run_commands", _commands),
    "ssh_authorized_keys": ("ssh_authorized_keys", _keys),
    "write_files": ("files", _files),
}
