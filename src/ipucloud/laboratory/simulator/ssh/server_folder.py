"""The folder of a Poplar server, which outlives its boots."""

from __future__ import annotations

from pathlib import Path

import asyncssh

from ipucloud.laboratory.simulator.store import replace_file

DISK_FOLDER = "disk"
KEY_FILE = "host_key"
JOBS_FOLDER = "jobs"
"""What the folder of a server has: its disk, its private SSH host key, and what is known of jobs."""


def host_key(folder: Path, server: str) -> asyncssh.SSHKey:
    """The key by which the server is known, made at its first boot."""
    path = folder / KEY_FILE
    if not path.exists():
        key = asyncssh.generate_private_key("ssh-ed25519", comment=server)
        replace_file(path, key.export_private_key())
        path.chmod(0o600)
    return asyncssh.read_private_key(path)
