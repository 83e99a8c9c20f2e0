"""Writes docs/reliability/invariants.md from the rules of the audit.

Run it from anywhere, in the project's environment: python docs/generate_invariants.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ipucloud.invariants.registry import INVARIANTS
from ipucloud.invariants.rules import Decision, Refusal, Rule
from ipucloud.invariants.site_rules import SITE_RULES

PAGE = Path(__file__).with_name("reliability") / "invariants.md"
NOTICE = "<!-- Written by docs/generate_invariants.py; do not edit. -->"
TEXT = f"""
# Rules that always hold

For operators: what the audit checks. {len(INVARIANTS)} rules are about the database and {len(SITE_RULES)} about the
sites. `ipucloud admin audit` prints each broken rule as a sentence, with what it found and what to do. Workers check
the rules every minute (`invariant_violations{{name}}`), and every test with a database at its end.

`--repair` shows what the audit would repair, and `--apply` does it. A removal at a site waits for a second observation,
because a site may answer with an outdated state.
"""
REPAIRED = "Rules that the audit repairs"
DECIDED = "Rules that it repairs after your decision"
ASIDE = "Decide for each object with `--decide RULE:OBJECT`."
NOT_REPAIRED = "Rules that it does not repair"
FURTHER_WORDS = 6
"""A sentence with fewer words beyond those of its rule's name says no more than the name."""


def page() -> str:
    """The text of the page."""
    rules = [*INVARIANTS, *SITE_RULES]
    return "\n".join(
        [
            NOTICE,
            TEXT,
            *_list(REPAIRED, "", [rule for rule in rules if not isinstance(rule.repair, Decision | Refusal)]),
            *_list(DECIDED, ASIDE, [rule for rule in rules if isinstance(rule.repair, Decision)]),
            *_list(NOT_REPAIRED, "", [rule for rule in rules if isinstance(rule.repair, Refusal)]),
        ]
    )


def _list(title: str, text: str, rules: list[Rule]) -> Iterator[str]:
    yield from (f"## {title}", "")
    if text:
        yield from (text, "")
    named = [f"`{rule.name}`" for rule in rules if not _says_more(rule)]
    yield from (f"Rules whose names say what they check: {', '.join(named)}.", "")
    yield from (f"- `{rule.name}`: {rule.sentence}" for rule in rules if _says_more(rule))
    yield ""


def _says_more(rule: Rule) -> bool:
    told = {_stem(word) for word in rule.name.split("_")}
    words = [word for word in re.findall(r"\w{4,}", rule.sentence.lower()) if _stem(word) not in told]
    return len(words) >= FURTHER_WORDS


def _stem(word: str) -> str:
    return word[:4]


if __name__ == "__main__":
    PAGE.write_text(page())
