"""Files that the site writes to a server's disk: the controller's authority, IPUoF configurations, a notice."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime

from ipucloud.laboratory.simulator.ssh.disk_files import ServerFiles
from ipucloud.laboratory.simulator.ssh.visible_devices import Choice
from ipucloud.vipu_cli.files import FOLDER
from ipucloud.vipu_cli.files import files_of as ipuof_files
from ipucloud.wire import vipu_pb2 as pb
from ipucloud.wire.site import AUTHORITY_FILE, PREEMPTION_FILE


def write_authority(files: ServerFiles, authority: bytes | None) -> None:
    """Put the authority of the controller, if it has one, where `vipu` finds it."""
    # A disk that is full is the customer's affair, as is what else they put in the way.
    with suppress(OSError):
        if authority is not None and _content(files, AUTHORITY_FILE) != authority:
            files.write(AUTHORITY_FILE, authority)


def write_config(files: ServerFiles, choice: Choice, config: pb.PartitionConfig) -> None:
    """Put the IPUoF configuration files where Poplar expects them, unless the customer did."""
    gcds = int(config.gcd_configs[0].attributes.get("Number of GCDs", "1")) if config.gcd_configs else 1
    present = files.names(FOLDER)
    for name, content in ipuof_files(choice.partition, config, gcds):
        if name not in present:
            with suppress(OSError):
                files.write(f"{FOLDER}/{name}", content)


def write_preemption(files: ServerFiles, preempt_at: datetime | None) -> None:
    """Let the file say when the cluster is preempted; None: there is no file. Raises OSError."""
    if preempt_at is not None:
        said = {"preempt_at": preempt_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
        files.write(PREEMPTION_FILE, json.dumps(said).encode() + b"\n")
    else:
        with suppress(FileNotFoundError, NotADirectoryError):
            files.remove(PREEMPTION_FILE)


def _content(files: ServerFiles, path: str) -> bytes | None:
    try:
        return files.read(path)
    except FileNotFoundError:
        return None
