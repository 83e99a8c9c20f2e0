"""Writes docs/reliability/invariants.md from the rules of the audit.

Run it from anywhere, in the project's environment: python docs/generate_invariants.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ipucloud.invariants.registry import INVARIANTS
from ipucloud.invariants.rules import Decision, Refusal, Rule
from ipucloud.invariants.site_rules import SITE_RULES

PAGE = Path(__file__).with_name("reliability") / "invariants.md"
NOTICE = "<!-- Written by docs/generate_invariants.py; do not edit. -->"


TO_REPAIR = re.compile(r"^Apply the audit's repair[.;:] ?")
"""Begins the remedy of rules whose repair follows."""
SECOND_OBSERVATION = "It observes twice, because a site may answer with an outdated state."
"""Said once, at the top of the page."""
TEXT = f"""
# Rules that always hold

For operators: what the audit checks, and what to do about a violation. {len(INVARIANTS)} rules are about the database
and {len(SITE_RULES)} about the sites. `ipucloud admin audit` checks all of them, workers check them every minute
(`invariant_violations{{name}}`), and every test with a database checks them at its end.

**Audit** is what `ipucloud admin audit --repair --apply` does, **decide** what it does for an object that you name with
`--decide RULE:OBJECT`. Otherwise it repairs nothing. It observes objects at a site twice before it removes them,
because a site may answer with an outdated state.
"""


def page() -> str:
    """The text of the page."""
    return "\n".join(
        [
            NOTICE,
            TEXT,
            *_table("In the database", INVARIANTS),
            *_table("Between the database and the sites", SITE_RULES),
        ]
    )


def _table(title: str, rules: Sequence[Rule]) -> Iterator[str]:
    yield from (f"## {title}", "", "| rule | what holds | what to do if not |", "|---|---|---|")
    for rule in rules:
        remedy = TO_REPAIR.sub("", rule.remedy, count=1).replace(SECOND_OBSERVATION, "").strip()
        does = " ".join(filter(None, (f"{remedy[:1].upper()}{remedy[1:]}", _repair(rule))))
        yield f"| `{rule.name}` | {rule.sentence} | {does} |"
    yield ""


def _repair(rule: Rule) -> str:
    if isinstance(rule.repair, Refusal):
        return ""
    return f"**{'Decide' if isinstance(rule.repair, Decision) else 'Audit'}:** {rule.repair.does}."


if __name__ == "__main__":
    PAGE.write_text(page())
