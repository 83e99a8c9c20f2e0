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
"""Begins the remedy of rules whose repair is in the next column."""
SECOND_OBSERVATION = "It observes twice, because a site may answer with an outdated state."
"""Said once, at the top of the page."""
TEXT = f"""
# Rules that always hold

For operators: what the audit checks, and what to do about a violation. {len(INVARIANTS)} rules are about the database
and {len(SITE_RULES)} about the sites. `ipucloud admin audit` checks all of them, workers check them every minute
(`invariant_violations{{name}}`), and every test with a database checks them at its end.

The column *repair* says what `ipucloud admin audit --repair --apply` does:

- Apply it unless *if not* says otherwise. A removal at a site waits for a second observation, because a site may answer
  with an outdated state.
- *decide*: a person decides for each object, with `--decide RULE:OBJECT`.
- *none*: the audit repairs nothing and says why. Do what *if not* says.
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
    yield from (f"## {title}", "", "| rule | what holds | if not | repair |", "|---|---|---|---|")
    for rule in rules:
        remedy = TO_REPAIR.sub("", rule.remedy, count=1).replace(SECOND_OBSERVATION, "")
        yield f"| `{rule.name}` | {rule.sentence} | {remedy[:1].upper()}{remedy[1:]} | {_repair(rule)} |"
    yield ""


def _repair(rule: Rule) -> str:
    if isinstance(rule.repair, Refusal):
        return "none"
    return f"*decide*: {rule.repair.does}" if isinstance(rule.repair, Decision) else rule.repair.does


if __name__ == "__main__":
    PAGE.write_text(page())
