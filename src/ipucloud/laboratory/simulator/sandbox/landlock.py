"""Landlock: a process gives up files, signals and sockets for itself and all that it starts, without any privilege.

What one process gave up with all that it started is a *domain*. Those within one reach each other as ever. Files are
allowed by the folder that they are in; reading attributes, changing them and entering folders are not Landlock's.
(Documentation/userspace-api/landlock.rst of the Linux kernel.)
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable

from ipucloud.laboratory.simulator.sandbox import kernel

LEAST_VERSION = 6
"""The first version that keeps signals and abstract sockets within a domain (Linux 6.12)."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _BENEATH_PATH = 1, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRUNCATE, _IOCTL_OF_DEVICES = 1 << 14, 1 << 15
_EVERYTHING = (1 << 16) - 1
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_OF_DEVICES
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2


def version() -> int:
    """What the kernel knows of Landlock; 0 where it has none, or none that this process may use."""
    try:
        return kernel.syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)
    except OSError:
        return 0


def restrict(*, read: Iterable[str], change: Iterable[str]) -> None:
    """Give up all but these files and folders: to read and execute what is in them, or to do anything to it.

    Paths that are not there are passed over. Raises OSError.
    """
    ruleset_attr = struct.pack("QQQ", _EVERYTHING, 0, _ABSTRACT_SOCKETS | _SIGNALS)
    rules = kernel.syscall(_CREATE_RULESET, ruleset_attr, len(ruleset_attr), 0)
    try:
        for path in read:
            _allow(rules, path, _EXECUTE | _READ_FILE | _READ_DIR)
        for path in change:
            _allow(rules, path, _EVERYTHING)
        kernel.forbid_privileges()
        kernel.syscall(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def _allow(rules: int, path: str, access: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    try:
        of_kind = access if stat.S_ISDIR(os.fstat(place).st_mode) else access & _OF_FILES
        kernel.syscall(_ADD_RULE, rules, _BENEATH_PATH, struct.pack("=Qi", of_kind, place), 0)
    finally:
        os.close(place)
