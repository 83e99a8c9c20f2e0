"""One PostgreSQL server for a test run, and a fresh database for every test that asks for one."""

import os
import shutil
import tempfile
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")
NEEDED_BYTES = 2_000_000_000


def fast_storage() -> Path:
    """Return where test data is written: memory when there is enough of it, else the disk."""
    if os.access(SHARED_MEMORY, os.W_OK) and shutil.disk_usage(SHARED_MEMORY).free > NEEDED_BYTES:
        return SHARED_MEMORY
    return Path(tempfile.gettempdir())
