"""The program `ipucloud`. Until its modules are imported, Ctrl-C ends it at once, without a traceback."""

from __future__ import annotations

import io
import os
import signal
import sys


def main() -> None:
    """Run the command line of this process."""
    _have_streams()
    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a shell ignores it in the background
            signal.signal(signal.SIGINT, _end)
        from ipucloud.cli.main import main as run

        run()
    except KeyboardInterrupt:
        _end()


def _have_streams() -> None:
    """Let nobody need to ask whether a stream is there, nor which characters it takes.

    What was closed becomes /dev/null, which also keeps its number from a file that is opened later. A character that
    the encoding of the output lacks becomes a question mark.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115
        elif number and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def imported() -> None:
    """Let Ctrl-C interrupt a command in an orderly way, now that its modules are there.

    An exception in the middle of an import can leave the import system's locks, which complain on standard error.
    """
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> None:
    os._exit(130)  # `Exit.INTERRUPTED`, whose import could be interrupted itself
