"""FOCUS's official validator over a file of version 1.2, judged by its report: it always exits with 0.

`./dev focus FILE…` runs this in an environment of its own: the validator wants Python 3.12 and an older Arrow.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

VERSION = "1.2.0.1"
CRITERIA = "ALL"
"""Rules that apply to some providers only: all of them, because our files always have every column. Without this option
the validator leaves them out without a word, and looks at 137 of its 578 rules instead of 368; the others it marks as
not to be judged by a file."""
FEWEST = 350
"""Rules that it must look at."""
NAMES = ("BillingAccountName", "SubAccountName", "ResourceName", "RegionName", "ProviderName", "InvoiceIssuerName")
"""Columns of text that people choose, in any script."""
ACCEPTED = frozenset(
    {
        # One wants InvoiceId empty before there is an invoice, the other never. Ours is never empty.
        *("InvoiceId-C-004-C", "InvoiceId-C-005-C"),
        # "MUST NOT be null when the id is not null": the validator drops the condition of one, and inverts that of the
        # other, which then contradicts the rule before it. Ours have neither id nor status.
        *("CapacityReservationStatus-C-004-C", "CommitmentDiscountStatus-C-004-C"),
        # The validator takes FOCUS's StringHandling for ASCII; FOCUS wants text as it was given.
        *(f"{column}-C-002-M" for column in NAMES),
    }
)
"""Rules of the validator that no sound file keeps."""
SECONDS = 600


def failures(report: Path) -> tuple[int, list[str]]:
    """How many rules were looked at, and the ids of those that failed. Raises ElementTree.ParseError.

    A composite rule fails when a rule that it consists of fails, and is not named beside that one.
    """
    cases = [*ElementTree.parse(report).iter("testcase")]  # noqa: S314  # our own process wrote it
    looked_at = [case for case in cases if case.find("skipped") is None]
    failed = [case.get("name", "").split(" :: ") for case in looked_at if case.find("failure") is not None]
    simple = [name for name, *kind in failed if kind != ["Composite"]]
    return len(looked_at), simple or [name for name, *_ in failed]


def validate(file: Path, python: str) -> tuple[int, list[str]]:
    """Run the validator with `python`; as `failures`. Raises CalledProcessError, TimeoutExpired."""
    find = "import focus_validator, pathlib; print(pathlib.Path(focus_validator.__file__).parents[1])"
    home = subprocess.run([python, "-c", find], capture_output=True, text=True, check=True, timeout=SECONDS).stdout
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        options = ("--validate-version", VERSION, "--applicability-criteria", CRITERIA, "--block-download")
        command = [python, "-m", "focus_validator.main", "--data-file", str(file.resolve()), *options]
        # Its rules lie beside it, and are found only from there.
        subprocess.run(
            [*command, "--output-type", "unittest", "--output-destination", str(report)],
            cwd=home.strip(),
            env=os.environ | {"PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8"},  # names of any script, in any locale
            capture_output=True,
            check=True,
            timeout=SECONDS,
        )
        return failures(report)


def main(files: Sequence[str]) -> int:
    """1 when a rule failed that is not accepted, or too few were looked at."""
    wrong = 0
    for name in files:
        looked_at, failed = validate(Path(name), sys.executable)
        bad = [rule for rule in failed if rule not in ACCEPTED]
        print(f"{name}: {looked_at} rules, failed: {', '.join(failed) or 'none'}")
        wrong |= bool(bad) or looked_at < FEWEST
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
