"""Bills of materials (CycloneDX) of the service and of its control panel; their licences, and known vulnerabilities.

    python deploy/supply/sbom.py --product PYTHON --out DIRECTORY

Writes `ipucloud.cdx.json` and `panel.cdx.json`. Ends with 1 if a package has a licence that `licences.toml` does not
allow, or a vulnerability that the advisory service of PyPI knows. Packages that could not be audited are named.
"""

from __future__ import annotations

import argparse
import json
import re
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from license_expression import ExpressionError, get_spdx_licensing

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
PANEL = PROJECT / "panel"
REQUIREMENTS = PROJECT / "requirements" / "runtime.txt"
SECONDS = 120
_SPDX = get_spdx_licensing()


@dataclass(frozen=True)
class Policy:
    """Which licences packages may have."""

    allowed: frozenset[str]
    names: Mapping[str, str]
    exceptions: Mapping[str, str]

    @classmethod
    def read(cls) -> Policy:
        found = tomllib.loads((HERE / "licences.toml").read_text())
        return cls(frozenset(found["allowed"]), found["names"], found["exceptions"])

    def accepts(self, package: str, licences: Iterable[str]) -> bool:
        """Whether one of several licences, each an SPDX expression or a name of `names`, is allowed."""
        return package.lower() in self.exceptions or any(self._allowed(each) for each in licences)

    def _allowed(self, licence: str) -> bool:
        try:
            expression = _SPDX.parse(self.names.get(licence.rpartition(" :: ")[2], licence))
        except ExpressionError:
            return False
        return self._holds(expression)

    def _holds(self, expression: Any) -> bool:
        if isinstance(expression, _SPDX.OR):
            return any(map(self._holds, expression.args))
        if isinstance(expression, _SPDX.AND):
            return all(map(self._holds, expression.args))
        return str(expression) in self.allowed


def licences_of(component: Mapping[str, Any]) -> list[str]:
    """What a component of a bill of materials says of its licence."""
    found = []
    for each in component.get("licenses", ()):
        licence = each.get("license", {})
        found.append(each.get("expression") or licence.get("id") or licence.get("name"))
    return [each for each in found if each]


def refused(bill: Mapping[str, Any], policy: Policy) -> list[str]:
    """The components whose licence is not allowed, with what it is."""
    return [
        f"{each['name']} {each.get('version', '')}: {', '.join(licences_of(each)) or 'no licence told'}"
        for each in bill.get("components", ())
        if not policy.accepts(each["name"], licences_of(each))
    ]


def write_bill_of_product(python: Path, out: Path) -> None:
    """Of the packages that an interpreter has, which are those of requirements/runtime.txt."""
    command = [sys.executable, "-m", "cyclonedx_py", "environment", str(python)]
    command += ["--pyproject", str(PROJECT / "pyproject.toml"), "--mc-type", "application", "--output-reproducible"]
    subprocess.run([*command, "--output-file", str(out)], check=True, timeout=SECONDS)


def write_bill_of_panel(out: Path) -> None:
    """Of what the browser gets. Raises what `panel/build.py` raises where there is no Node."""
    node = runpy.run_path(str(PANEL / "build.py"))["find_node"]()
    command = [str(node.program), str(node.npm), "sbom", "--sbom-format=cyclonedx", "--omit=dev", "--package-lock-only"]
    done = subprocess.run(command, cwd=PANEL, check=True, capture_output=True, timeout=SECONDS)
    out.write_bytes(done.stdout)


def audit() -> tuple[list[str], list[str]]:
    """Known vulnerabilities of the pinned packages, and the packages of which nobody could say."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(REQUIREMENTS), "--require-hashes"]
    command += ["--disable-pip", "--progress-spinner", "off", "--format", "json", "--timeout", "10"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=SECONDS)
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except ValueError:
        pinned = re.findall(r"^([a-z0-9._-]+)==", REQUIREMENTS.read_text(), re.MULTILINE)
        return [], pinned
    known = [f"{each['name']} {each['version']}: {fault['id']}" for each in packages for fault in each.get("vulns", ())]
    return known, [each["name"] for each in packages if "skip_reason" in each]


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--product", type=Path, required=True, help="interpreter that has the product's packages")
    parser.add_argument("--out", type=Path, required=True, help="folder for the bills of materials")
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    bills = [given.out / "ipucloud.cdx.json", given.out / "panel.cdx.json"]
    write_bill_of_product(given.product, bills[0])
    write_bill_of_panel(bills[1])
    policy, failed = Policy.read(), False
    for bill in bills:
        found = json.loads(bill.read_text())
        faults = refused(found, policy)
        failed |= bool(faults)
        say(f"{bill}: {len(found['components'])} packages, {len(faults)} with a licence that is not allowed")
        for fault in faults:
            say(f"  {fault}")
    known, unknown = audit()
    say(f"{len(known)} known vulnerabilities" + "".join(f"\n  {each}" for each in known))
    if unknown:
        say(f"{len(unknown)} packages were not audited: the advisory service does not know them, or did not answer.")
        say(f"  {', '.join(unknown)}")
    return 1 if failed or known else 0


if __name__ == "__main__":
    sys.exit(main())
