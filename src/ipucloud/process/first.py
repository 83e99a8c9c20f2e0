"""Process 1 of a container: it has to reap orphaned processes, and gets the signal of `docker stop`."""

from __future__ import annotations

import os
import signal
import sys

PASSED_ON = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2})
FROM_TERMINAL = 0x80
"""`si_code` of a signal that the kernel itself sends, as for a key of the terminal, which all its processes get."""


def leave_first_process() -> None:
    """Go on in a child of process 1, which passes signals on, reaps what ended, and ends as the child does.

    Does nothing in any other process. Call it before there are threads.
    """
    if os.getpid() != 1:
        return
    awaited = PASSED_ON | {signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)  # from here on none is lost: each waits until it is asked for
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, awaited)
        return
    while (status := _reaped(child)) is None:
        got = signal.sigwaitinfo(awaited)
        if got.si_signo != signal.SIGCHLD and got.si_code != FROM_TERMINAL:
            os.kill(child, got.si_signo)
    sys.stdout.flush()
    os._exit(status if status >= 0 else 128 - status)


def _reaped(child: int) -> int | None:
    """Reap all processes that have ended; the exit status of `child` if it is one of them."""
    exit_status = None
    while True:
        try:
            process, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return exit_status
        if process == 0:
            return exit_status
        if process == child:
            exit_status = os.waitstatus_to_exitcode(status)
