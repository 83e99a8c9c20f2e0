"""Writes docs/reliability/invariants.md from the rules of the audit.

Run it from anywhere, in the project's environment: python docs/generate_invariants.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ipucloud.invariants.registry import INVARIANTS
from ipucloud.invariants.rules import Decision, Refusal, Rule, SiteRemoval
from ipucloud.invariants.site_rules import SITE_RULES

PAGE = Path(__file__).with_name("reliability") / "invariants.md"
NOTICE = "<!-- Written by docs/generate_invariants.py; do not edit. -->"


def page() -> str:
    """The text of the page."""
    return "\n".join(
        [
            NOTICE,
            "",
            "# Rules that always hold",
            "",
            "For operators: what the audit checks, and what to do about a violation. "
            f"{len(INVARIANTS)} rules are about the database",
            f"and {len(SITE_RULES)} about the sites. `ipucloud admin audit` checks them all, workers check them every "
            "minute",
            "(`invariant_violations{name}`), and every test with a database checks them at its end. They are in",
            "`src/ipucloud/invariants/`; `tests/feature/invariants` breaks each of them on purpose.",
            "",
            *_table("In the database", INVARIANTS),
            *_table("Between the database and the sites", SITE_RULES),
        ]
    )


def _table(title: str, rules: Sequence[Rule]) -> Iterator[str]:
    yield from (f"## {title}", "", "| rule | what holds | if not | `--repair --apply` |", "|---|---|---|---|")
    for rule in rules:
        yield f"| `{rule.name}` | {rule.sentence} | {rule.remedy} | {_repair(rule)} |"
    yield ""


def _repair(rule: Rule) -> str:
    if isinstance(rule.repair, Refusal):
        return f"refuses: {rule.repair.reason}"
    if isinstance(rule.repair, Decision):
        return f"only with `--decide {rule.name}:OBJECT`: {rule.repair.does}. {rule.repair.reason}"
    return f"{rule.repair.does}{', after a second observation' if isinstance(rule.repair, SiteRemoval) else ''}"


if __name__ == "__main__":
    PAGE.write_text(page())
