"""The program `ipucloud`. Until its modules are imported, Ctrl-C ends it at once, without a traceback."""

from __future__ import annotations

import signal


def main() -> None:
    """Run the command line of this process."""
    interrupt = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from ipucloud.cli.main import main as run

    signal.signal(signal.SIGINT, interrupt)
    run()
