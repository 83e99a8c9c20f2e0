"""Runs a module as a program that never outlives its starter.

`python -m ipucloud.laboratory.keeper.starter_watch MODULE ARGUMENTS…`: standard input is a pipe whose other end only
the starter holds. When the starter ends, the pipe closes; the program is then asked to end, and killed if necessary.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import time

GRACE_SECONDS = 2.0


def main() -> None:
    module, *arguments = sys.argv[1:]
    threading.Thread(target=_end_with_starter, daemon=True).start()
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _end_with_starter() -> None:
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
