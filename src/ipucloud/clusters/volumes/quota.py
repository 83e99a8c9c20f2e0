"""The quota of volumes and snapshots, in GiB."""

from __future__ import annotations

from ipucloud.catalogue.queries import VOLUME_SKU
from ipucloud.clusters.resources.quota import CountedQuota


class VolumeQuota(CountedQuota):
    """A volume that grows counts with its new size."""

    sku, tables = VOLUME_SKU, ("volumes", "snapshots")

    @staticmethod
    def used(project: str, region: str) -> str:
        return f"""(
  SELECT coalesce(sum(held.gib), 0)::bigint
    FROM (SELECT coalesce(v.wanted_gib, v.size_gib) AS gib, v.project_id, v.region, v.state FROM volumes v
           UNION ALL SELECT coalesce(s.size_gib, 1), s.project_id, s.region, s.state FROM snapshots s) AS held
   WHERE held.project_id = {project} AND held.region = {region}
     AND held.state NOT IN ('deleted', 'deleting', 'error'))
"""  # noqa: S608  # our own text

    def exceeded(self, region: str, more: int, used: int, limit: int) -> str:
        return (
            f"{more} GiB more are needed; of the {limit} GiB that volumes and snapshots of the project may have in"
            f" {region} there are {max(0, limit - used)} left. Delete one, choose a smaller size, or ask for a"
            f" higher quota (`ipucloud quotas request {region} {self.sku} {used + more} REASON`)."
        )

    def above(self, region: str, used: int) -> str:
        return f"The project's volumes and snapshots in {region} have {used} GiB"


VOLUME_QUOTA = VolumeQuota()
