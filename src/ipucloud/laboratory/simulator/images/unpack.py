"""Unpacks the layers of an image into a folder, in a process of its own: `python -m … SPECIFICATION`, in JSON.

Every step is by a descriptor of the folder that it is in, found as a process would find it whose root directory is the
image: no link and no name leads out. Devices, pipes, owners and extended attributes are left out, as are the rights of
setuid and setgid programs. What cannot be unpacked is told by a sentence, the last line of standard error.

https://github.com/opencontainers/image-spec/blob/main/layer.md
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import stat
import sys
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import IO, Any

from ipucloud.laboratory.simulator.sandbox import kernel
from ipucloud.laboratory.simulator.sandbox.plan import IMAGE_SETTINGS

MEMORY = 1 << 30
"""Bytes of addresses that this process may have: a header of an archive can claim any length."""
MOST_ENTRIES = 1_000_000
MOST_DOCUMENT = 4 * 1024 * 1024
_WHITEOUT, _OPAQUE = ".wh.", ".wh..wh..opq"
_FOLDER = os.O_PATH | os.O_DIRECTORY
_PIECE = 1 << 20


@dataclass(frozen=True)
class Specification:
    """What to unpack into `root`, a new folder: `layers`, the lowest first, with `config`, or an engine's `archive`.

    `limit`: bytes of all files together.
    """

    root: str
    limit: int
    layers: list[str] = field(default_factory=list)
    config: str = ""
    archive: str = ""

    def encode(self) -> str:
        return json.dumps(asdict(self))


class NotUnpacked(Exception):
    """A sentence about the image."""


class Unpacking:
    """Layers on top of each other, below one folder."""

    def __init__(self, root: str, limit: int) -> None:
        os.mkdir(root, 0o755)
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        self._remaining = limit
        self._entries = 0
        self._new: set[str] = set()
        """What the present layer has written, and all folders above."""

    def add(self, layer: IO[bytes]) -> None:
        """Apply a layer: a tar archive, plain or compressed. Raises NotUnpacked."""
        self._new = set()
        try:
            with tarfile.open(fileobj=layer, mode="r|*") as archive:
                for entry in archive:
                    vars(archive)["members"].clear()  # they are kept for what is not needed here
                    self._entries += 1
                    if self._entries > MOST_ENTRIES:
                        raise NotUnpacked(f"it has more than {MOST_ENTRIES:,} entries")
                    self._apply(archive, entry)
        except (
            tarfile.TarError,
            EOFError,
            MemoryError,
            ValueError,
            OverflowError,
            RecursionError,
            zlib.error,
        ) as error:
            raise NotUnpacked("one of its layers is no tar archive, or a damaged one") from error

    def finish(self) -> None:
        """Make the places in /etc where a sandbox shows files of its own."""
        for path in IMAGE_SETTINGS:
            with self._parent(f"etc/{path}") as (parent, name):
                if not stat.S_ISREG(_mode(name, parent)):
                    self._remove(name, parent)
                    os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=parent))

    def _apply(self, archive: tarfile.TarFile, entry: tarfile.TarInfo) -> None:
        path = _path(entry.name)
        if not path:  # the root itself
            return
        try:
            with self._parent(path) as (parent, name):
                if name == _OPAQUE:
                    self._empty(path.rpartition("/")[0], parent)
                elif name.startswith(_WHITEOUT):
                    self._remove(name.removeprefix(_WHITEOUT), parent)
                else:
                    self._note(path)
                    self._make(archive, entry, path, name, parent)
        except OSError as error:
            raise NotUnpacked(f"its entry {path!r} cannot be unpacked: {error.strerror}") from error

    def _note(self, path: str) -> None:
        while path and path not in self._new:
            self._new.add(path)
            path = path.rpartition("/")[0]

    def _make(self, archive: tarfile.TarFile, entry: tarfile.TarInfo, path: str, name: str, parent: int) -> None:
        if entry.isdir():
            self._make_folder(name, parent)
            os.chmod(name, entry.mode & 0o777 | 0o700, dir_fd=parent)
        elif entry.issym():
            self._remove(name, parent)
            os.symlink(entry.linkname, name, dir_fd=parent)
        elif entry.islnk():
            target = _path(entry.linkname)
            with self._parent(target) as (other, source):
                if target != path:
                    self._remove(name, parent)
                    os.link(source, name, src_dir_fd=other, dst_dir_fd=parent, follow_symlinks=False)
        elif entry.isreg():
            self._remove(name, parent)
            self._write(archive, entry, name, parent)

    def _write(self, archive: tarfile.TarFile, entry: tarfile.TarInfo, name: str, parent: int) -> None:
        source = archive.extractfile(entry)
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=parent)
        with os.fdopen(descriptor, "wb") as target:
            while source is not None and (piece := source.read(_PIECE)):
                self._remaining -= len(piece)
                if self._remaining < 0:
                    raise NotUnpacked("it is larger than the disk of a server")
                target.write(piece)
            target.flush()
            os.fchmod(descriptor, entry.mode & 0o777 | 0o400)
            with suppress(OverflowError):  # compiled Python is used while its source has the same time
                os.utime(descriptor, (entry.mtime, entry.mtime))

    @contextmanager
    def _parent(self, path: str) -> Iterator[tuple[int, str]]:
        """The folder of a path, made if it is not there, and the last name."""
        above, _, name = path.rpartition("/")
        try:
            parent = kernel.open_in_root(self._root, above or ".", _FOLDER)
        except FileNotFoundError:
            with self._parent(above) as (further, missing):
                self._make_folder(missing, further)
            parent = kernel.open_in_root(self._root, above, _FOLDER)
        try:
            yield parent, name
        finally:
            os.close(parent)

    def _make_folder(self, name: str, parent: int) -> None:
        if not stat.S_ISDIR(_mode(name, parent)):
            self._remove(name, parent)
            os.mkdir(name, 0o755, dir_fd=parent)

    def _remove(self, name: str, parent: int) -> None:
        mode = _mode(name, parent)
        if stat.S_ISDIR(mode):
            shutil.rmtree(name, dir_fd=parent)
        elif mode:
            os.unlink(name, dir_fd=parent)

    def _empty(self, path: str, folder: int) -> None:
        """Remove what lower layers have put into a folder."""
        for name in os.listdir(f"/proc/self/fd/{folder}"):
            if (f"{path}/{name}" if path else name) not in self._new:
                self._remove(name, folder)


def _mode(name: str, parent: int) -> int:
    """What is there, without following a link; 0: nothing."""
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return 0


def _path(name: str) -> str:
    """A name of an archive as a path below the root. Raises NotUnpacked."""
    parts = [part for part in name.split("/") if part not in {"", "."}]
    if name.startswith("/") or ".." in parts or "\0" in name:
        raise NotUnpacked(f"its entry {name[:200]!r} leads out of the image")
    return "/".join(parts)


def unpack(specification: Specification) -> Mapping[str, Any]:
    """Unpack, and answer the image's configuration. Raises NotUnpacked, OSError."""
    unpacking = Unpacking(specification.root, specification.limit)
    if specification.archive:
        config = _from_engine(unpacking, specification.archive)
    else:
        for path in specification.layers:
            with open(path, "rb") as layer:
                unpacking.add(layer)
        with open(specification.config, "rb") as file:
            config = _document(file)
    unpacking.finish()
    container_config = config.get("config") if isinstance(config, dict) else None
    return container_config if isinstance(container_config, dict) else {}


def _from_engine(unpacking: Unpacking, path: str) -> Any:
    """The layers of what `docker image save` or `podman image save` has written; answers the configuration."""
    try:
        with tarfile.open(path, mode="r:") as archive:
            [image] = _document(archive.extractfile("manifest.json"))
            for name in image["Layers"]:
                if (layer := archive.extractfile(name)) is not None:
                    unpacking.add(layer)
            return _document(archive.extractfile(image["Config"]))
    except (tarfile.TarError, KeyError, TypeError, ValueError) as error:
        raise NotUnpacked("what the container engine gave is no archive of one image") from error


def _document(file: IO[bytes] | None) -> Any:
    try:
        return json.loads(b"" if file is None else file.read(MOST_DOCUMENT))
    except (ValueError, RecursionError) as error:
        raise NotUnpacked("its configuration is no JSON") from error


def main() -> None:
    """Unpack what the argument says, and print the configuration."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.umask(0o022)
    os.nice(10)
    try:
        config = unpack(Specification(**json.loads(sys.argv[1])))
    except NotUnpacked as problem:
        sys.exit(str(problem))
    except OSError as error:
        sys.exit(f"it cannot be unpacked: {error.strerror}")
    sys.stdout.write(json.dumps(config))


if __name__ == "__main__":
    main()
