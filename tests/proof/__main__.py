"""`python -m tests.proof [NAME …] [--full]`: the long proofs, one after another; exits as pytest does."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
NAMES = sorted(path.stem.removeprefix("test_") for path in FOLDER.glob("test_*.py"))


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev prove", description="Prove what docs/reliability.md promises.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--full", action="store_true", help="with the goals' own numbers")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"there is no proof {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    files = [str(FOLDER / f"test_{name}.py") for name in options.names or NAMES]
    return int(pytest.main([*files, *(["--full"] if options.full else []), "-p", "no:cacheprovider", "-v"]))


if __name__ == "__main__":
    sys.exit(main())
