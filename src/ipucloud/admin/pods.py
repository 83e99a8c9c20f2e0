"""Pods with their masks of slots."""

from __future__ import annotations

from ipucloud.admin.pages import keyed_page
from ipucloud.db.documents import rfc3339
from ipucloud.inventory.health.views import answered_lately, read_lately, shown_health
from ipucloud.inventory.snapshot import SlotState

_WITHHELD = {
    SlotState.UNHEALTHY: "CASE WHEN page.withheld THEN 0 ELSE page.unhealthy_mask END",
    SlotState.SILENT: "CASE WHEN page.withheld THEN page.unhealthy_mask ELSE 0 END",
}
_MASKS = ", ".join(f"'{state}', {_WITHHELD.get(state, f'page.{state}_mask')}" for state in SlotState)
LIST_PODS = keyed_page(
    f"""
    SELECT pods.name AS key, pods.*,
           wired.withheld, {read_lately("reading")} AS read, {answered_lately("wired")} AS answered,
           (SELECT count(*) FROM machines WHERE machines.pod_id = pods.id) AS machines
      FROM pods
      LEFT JOIN vipu_controllers AS wired ON wired.region = pods.region AND wired.name = pods.controller
      LEFT JOIN observations AS reading ON reading.region = pods.region AND reading.source = 'bmc'
     WHERE (CAST(:region AS text) IS NULL OR pods.region = CAST(:region AS text))
       AND (CAST(:rack AS text) IS NULL OR gw_group = CAST(:rack AS text))
       AND (CAST(:machine_type AS text) IS NULL OR machine_type = CAST(:machine_type AS text))
    """,  # noqa: S608  # our own text
    f"""
    'name', page.name, 'region', page.region, 'rack', page.gw_group, 'position', page.position,
    'machine_type', page.machine_type, 'topology', page.topology, 'machines', page.machines,
    'masks', json_build_object({_MASKS}), 'largest_block', page.largest_free,
    'health', (SELECT coalesce(json_object_agg(counted.health, counted.machines), '{{}}')
                 FROM (SELECT {shown_health("machines.health", "page.read", "page.answered")} AS health,
                              count(*) AS machines
                         FROM machines WHERE pod_id = page.id GROUP BY 1 ORDER BY 1) AS counted),
    'as_of', {rfc3339("app_now()")}
    """,  # noqa: S608  # our own text
)
"""By name. Parameters `:region`, `:rack` and `:machine_type`, or NULL for all."""
