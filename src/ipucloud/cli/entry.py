"""The program `ipucloud`. Until its modules are imported, Ctrl-C ends it at once, without a traceback."""

from __future__ import annotations

import os
import signal


def main() -> None:
    """Run the command line of this process."""
    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a shell ignores it in the background
            signal.signal(signal.SIGINT, _end)
        from ipucloud.cli.main import main as run

        run()
    except KeyboardInterrupt:
        _end()


def imported() -> None:
    """Let Ctrl-C interrupt a command in an orderly way, now that its modules are there.

    An exception in the middle of an import can leave the import system's locks, which complain on standard error.
    """
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> None:
    os._exit(130)  # `Exit.INTERRUPTED`, whose import could be interrupted itself
