"""Every rule held against what a test leaves behind."""

from __future__ import annotations

from collections.abc import Collection

from ipucloud.db.engine import Database
from ipucloud.invariants.audit import audit, audit_sites
from ipucloud.invariants.rules import Finding
from ipucloud.site.ports import Sites


async def assert_sound(
    database: Database, sites: Sites | None = None, *, call_timeout: float = 10.0, but: Collection[str] = ()
) -> None:
    """Fail with every violation of a rule; `but` names the rules that the test breaks on purpose.

    With `sites`, the sites are held against the database too.
    """
    findings = await audit(database)
    if sites is not None:
        findings += await audit_sites(database, sites, call_timeout=call_timeout)
    told = [told_in_a_line(finding) for finding in findings if finding.rule.name not in but]
    assert not told, "\n".join(["rules are broken:", *told])


def told_in_a_line(finding: Finding) -> str:
    violation = finding.violation
    return f"{finding.rule.name}: {finding.rule.object_type} {violation.object_id}: {violation.detail}"
