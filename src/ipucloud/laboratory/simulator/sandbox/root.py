"""The file system of a sandbox, built in its own mount namespace before any program of a customer runs there."""

from __future__ import annotations

import fcntl
import os
import secrets
import socket
import stat
import struct
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ipucloud.laboratory.simulator.sandbox import kernel
from ipucloud.laboratory.simulator.sandbox.kernel import (
    ATTR_NODEV,
    ATTR_NOSUID,
    ATTR_RDONLY,
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_RDONLY,
    MS_REC,
    MS_REMOUNT,
    MS_SLAVE,
)
from ipucloud.laboratory.simulator.sandbox.plan import INSIDE_UID, SETTINGS, Plan

_SYSTEM = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")
_OF_EACH_BOOT = frozenset({"hostname", "hosts"})
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_SIOCSIFFLAGS, _IFF_UP_RUNNING = 0x8914, 0x41
_MiB = 1024 * 1024
_NOT_OF_AN_IMAGE = frozenset({"dev", "home", "proc", "root", "run", "sys"})


def build(plan: Plan) -> None:
    """Make this process's file system that of the sandbox. It holds every capability of its user namespace.

    The working directory is the server's disk: this namespace may have no way to its path.
    What the customer could have prepared on the disk, such as links, is met only after the change of root: links lead
    within the sandbox, and the way to the old root has a name that nobody could know. It is gone before this returns.
    """
    kernel.mount(None, "/", None, MS_REC | MS_SLAVE)
    new, old = "/tmp", f".{secrets.token_hex(16)}"  # noqa: S108 - a mount point in a namespace of this process alone
    kernel.mount("tmpfs", new, "tmpfs", MS_NOSUID | MS_NODEV, "size=16m,mode=755")
    _bind_disk(plan, new)
    if plan.image:
        _bind_image(plan.image, new)
    os.mkdir(f"{new}/{old}")
    kernel.pivot_root(new, f"{new}/{old}")
    os.chdir("/")
    os.umask(0o022)
    if plan.image:
        _show_settings(plan)
    else:
        _bind_system(plan, f"/{old}")
        _write_settings(plan, f"/{old}")
    _mount_kernels(plan, f"/{old}")
    write_programs(plan)
    kernel.detach(f"/{old}")
    os.rmdir(f"/{old}")
    for folder in ("/dev", plan.own_programs, "/"):
        kernel.mount(None, folder, None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)
    kernel.set_hostname(plan.hostname)
    _loopback_up()
    for kind in ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup"):
        Path(f"/proc/sys/user/max_{kind}_namespaces").write_text("0")


def _bind_disk(plan: Plan, new: str) -> None:
    """The folders of the disk. Customers change what is in them, never these entries: none of them is a link."""
    for folder in (*plan.disk_folders, f"home/{plan.user}"):
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            raise OSError(f"{folder} on the server's disk is no folder")
        os.makedirs(f"{new}/{folder}")
        kernel.bind(folder, f"{new}/{folder}", ATTR_NOSUID | ATTR_NODEV)


def _bind_image(image: str, new: str) -> None:
    """What is directly in the root directory of an image, but for what is the server's, or the kernel's."""
    for name in os.listdir(image):
        source, target = f"{image}/{name}", f"{new}/{name}"
        mode = os.lstat(source).st_mode
        if name in _NOT_OF_AN_IMAGE or os.path.lexists(target):
            continue
        if stat.S_ISLNK(mode):
            if name != "etc":
                os.symlink(os.readlink(source), target)
        elif stat.S_ISDIR(mode) or stat.S_ISREG(mode):
            _show(source, target)


def _show_settings(plan: Plan) -> None:
    """Show files of the server in the image's /etc. Nothing is left of them at another place."""
    for name, text in plan.settings.items():
        source, target = "/.setting", f"/etc/{name}"
        Path(source).write_text(text)
        _show(source, target)
        os.unlink(source)


def _bind_system(plan: Plan, host: str) -> None:
    for name in _SYSTEM:
        if os.path.islink(f"{host}/{name}"):
            os.symlink(os.readlink(f"{host}/{name}"), f"/{name}")
        elif os.path.isdir(f"{host}/{name}"):
            _show(f"{host}/{name}", f"/{name}")
    for folder in plan.programs:
        with suppress(OSError):  # a place that only another user of this machine may enter
            _show(host + folder, folder)
    for name, folder in plan.libraries.items():
        with suppress(OSError):
            _show(host + folder, f"{plan.own_libraries}/{name}")


def _show(source: str, target: str) -> None:
    """Show a file or folder of this machine, to read."""
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    elif not os.path.exists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT, 0o644))
    kernel.bind(source, target, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV)


def _write_settings(plan: Plan, host: str) -> None:
    """Fill /etc as a fresh server has it. What the customer made of it stays, and a server boots whatever that is."""
    for name in SETTINGS:
        if os.path.exists(f"{host}/etc/{name}"):
            with suppress(OSError):
                _show(f"{host}/etc/{name}", f"/etc/{name}")
    for name, text in plan.settings.items():
        path = Path("/etc", name)
        with suppress(OSError):
            if name in _OF_EACH_BOOT:
                path.unlink(missing_ok=True)
            if not os.path.lexists(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
                os.chown(path, INSIDE_UID, INSIDE_UID)


def _mount_kernels(plan: Plan, host: str) -> None:
    """/proc of the sandbox's own processes, devices without hardware, and memory for what does not outlive a boot."""
    for folder, options in {
        "dev": "size=1m,mode=755",
        "run": "size=16m,mode=1777",
        plan.own_programs.lstrip("/"): "size=4m,mode=755",
    }.items():
        os.makedirs(f"/{folder}", exist_ok=True)
        kernel.mount("tmpfs", f"/{folder}", "tmpfs", MS_NOSUID | MS_NODEV, options)
    for folder in ("dev/pts", "dev/shm", "proc", "root", "sys"):
        os.makedirs(f"/{folder}", exist_ok=True)
    for name in _DEVICES:
        Path("/dev", name).touch()
        kernel.mount(f"{host}/dev/{name}", f"/dev/{name}", None, MS_BIND)
    kernel.mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    links = {"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
    for name, target in links.items():
        os.symlink(target, f"/dev/{name}")
    options = f"size={plan.memory // 4 // _MiB}m,mode=1777"
    kernel.mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, options)  # noqa: S108 - in the sandbox
    kernel.mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)


def _loopback_up() -> None:
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", _IFF_UP_RUNNING))


def write_programs(plan: Plan) -> None:
    """Write the server's own commands, and the names of a Python and libraries of another place. Raises OSError."""
    folder = Path(plan.own_programs)
    for name, text in plan.launchers.items():
        path = folder / name
        path.write_text(text)
        path.chmod(0o755)
    _link(folder, plan.links)
    if plan.root:  # else the libraries are shown there
        _link(Path(plan.own_libraries), plan.libraries)


def _link(folder: Path, targets: Mapping[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for name, target in targets.items():
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)
