"""Removing what a late request left at a site: a network, allocation or server of a cluster that holds nothing more.

A worker that freezes between its last check of its lease and its request, for longer than `request_life`, may build
something on machines that are free by then. It cannot build on another customer's machines: the site refuses a port,
machine or host that is taken. The leftovers do not block others for long: steps wait for what is in their way, and this
sweep removes it.

One observation is enough. The record of a name is committed before anything is built under it, the end of its cluster's
use is committed too, and a name is never used again. What no record knows is left to the audit.
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


async def sweep_leftovers(database: Database, sites: Sites, *, call_timeout: float) -> None:
    """Request the removal of everything that our clusters left behind. The next sweep repeats what takes longer.

    Raises SiteError when a site cannot be read, and `Problem` unavailable.
    """
    comparison = await compare(database, sites, call_timeout)
    for rule in SITE_RULES:
        if isinstance(rule.repair, SiteRemoval):
            await _remove(rule, rule.repair, comparison, sites, call_timeout)


async def _remove(
    rule: SiteRule, removal: SiteRemoval, comparison: Comparison, sites: Sites, call_timeout: float
) -> None:
    for found in rule.find(comparison):
        if found.project_id is None or found.region is None:
            continue
        failpoint("sweep.leftover_found")
        site = sites.at(comparison.before.regions[found.region], lambda: call_timeout)
        try:
            gone = await removal.run(site, found)
        except (Refused, SiteError) as error:
            log.warning("leftover_not_removed", rule=rule.name, object=found.object_id, error=str(error))
        else:
            log.warning("leftover_removed", rule=rule.name, object=found.object_id, gone=gone)
