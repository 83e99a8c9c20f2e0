"""`python -m tests.proof [NAME …] [--full]`: the long proofs, one after another; exits as pytest does.

Options that it does not know go to pytest: `zombies --full -k 60`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CRASH = HERE.parent / "crash"
FILES = {path.stem.removeprefix("test_"): [path] for path in HERE.glob("test_*.py")} | {
    "crash": [CRASH / "test_matrix.py"],
    "kills": [CRASH / "test_kills.py"],
    "zombies": [CRASH / "test_zombies.py"],
}
FILES["containers"].append(HERE.parent / "contract" / "simulator" / "test_images.py")
NAMES = sorted(FILES)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev prove", description="Prove the guarantees of docs/reliability.md.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--full", action="store_true", help="with the goals' own numbers")
    options, others = parser.parse_known_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"there is no proof {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    files = [str(path) for name in options.names or NAMES for path in FILES[name]]
    return int(pytest.main([*files, *(["--full"] if options.full else []), "-p", "no:cacheprovider", "-v", *others]))


if __name__ == "__main__":
    sys.exit(main())
