"""`python -m ipucloud.laboratory.postgres`: the server as a program of its own, for a supervisor that starts it again.

It ends when the server does, with the server's status, or 128 and the number of the signal, as a shell tells it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ipucloud.laboratory.postgres.errors import EmbeddedPostgresError
from ipucloud.laboratory.postgres.server import RECOVERY_SECONDS, EmbeddedPostgres
from ipucloud.process.signals import interrupt, stop_signals


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="ipucloud.laboratory.postgres", description="Run the PostgreSQL of one directory."
    )
    parser.add_argument("root", type=Path, help="directory of the server; only one supervisor may use it")
    parser.add_argument("--ready-file", type=Path, required=True, help="written once the server can be used")
    parser.add_argument("--bindir", type=Path, help="directory of PostgreSQL's programs")
    options = parser.parse_args()
    try:
        with stop_signals() as signals, signals.calling(interrupt):
            return _run(EmbeddedPostgres(options.root, bindir=options.bindir), options.ready_file)
    except EmbeddedPostgresError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 0


def _run(server: EmbeddedPostgres, ready_file: Path) -> int:
    try:
        sys.stderr.write(f"Starting PostgreSQL. Its own log is {server.log}.\n")
        server.start(RECOVERY_SECONDS, take_over=True)
        ready_file.touch()
        status = server.wait()
        sys.stderr.write(f"PostgreSQL ended with status {status}. Its own log is {server.log}.\n")
    finally:
        ready_file.unlink(missing_ok=True)
        server.stop()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
