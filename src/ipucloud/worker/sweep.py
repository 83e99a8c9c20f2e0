"""Removing what a late request left at a site: a network, allocation or server of a cluster that holds nothing more.

A worker that freezes between its last look at its lease and the request it sends, for longer than `request_life`, may
build something on machines that are free by then. It cannot build on another customer's: the site refuses a port, a
machine or a host that somebody has. Nor does what it built keep anybody out for long: steps wait for what is in their
way, and this sweep takes it away.

One look is enough to tell. The record of a name is committed before anything is built under it, that its cluster holds
nothing more is committed too, and a name is never used again. What no record knows is left to the audit.
"""

from __future__ import annotations

import structlog

from ipucloud.db.engine import Database
from ipucloud.invariants.comparison import Comparison, compare
from ipucloud.invariants.rules import Refused, SiteRemoval
from ipucloud.invariants.site_rules import SITE_RULES, SiteRule
from ipucloud.kernel.failpoints import failpoint
from ipucloud.site.errors import SiteError
from ipucloud.site.ports import Sites

log = structlog.get_logger(__name__)


async def sweep_left_overs(database: Database, sites: Sites, *, call_timeout: float) -> None:
    """Ask once for everything to go that was left by a cluster of ours. What takes longer, the next sweep sees gone.

    Raises SiteError when a site cannot be read, and `Problem` unavailable.
    """
    comparison = await compare(database, sites, call_timeout)
    for rule in SITE_RULES:
        if isinstance(rule.repair, SiteRemoval):
            await _take_down(rule, rule.repair, comparison, sites, call_timeout)


async def _take_down(
    rule: SiteRule, take_down: SiteRemoval, comparison: Comparison, sites: Sites, call_timeout: float
) -> None:
    for found in rule.find(comparison):
        if found.project_id is None or found.region is None:
            continue
        failpoint("sweep.left_over_found")
        site = sites.at(comparison.before.regions[found.region], lambda: call_timeout)
        try:
            gone = await take_down.run(site, found)
        except (Refused, SiteError) as error:
            log.warning("left_over_stays", rule=rule.name, object=found.object_id, error=str(error))
        else:
            log.warning("left_over_removed", rule=rule.name, object=found.object_id, gone=gone)
