"""The entry point of `ipucloud-sim`, which every installation of the distribution has."""

from __future__ import annotations

import importlib
import sys


def main() -> None:
    """Run `ipucloud-sim`, or say what to install if its packages are missing."""
    try:
        program = importlib.import_module("ipucloud.laboratory.simulator.main")
    except ModuleNotFoundError as missing:
        if (missing.name or "ipucloud").partition(".")[0] == "ipucloud":
            raise
        sys.exit("ipucloud-sim: More packages are needed. In a checkout of ipucloud: pip install '.[laboratory]'")
    program.main()


if __name__ == "__main__":
    main()
