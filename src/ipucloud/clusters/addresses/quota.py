"""The quota of addresses."""

from __future__ import annotations

from ipucloud.catalogue.queries import ADDRESS_SKU
from ipucloud.clusters.resources.quota import CountedQuota


class AddressQuota(CountedQuota):
    sku, tables = ADDRESS_SKU, ("addresses",)

    @staticmethod
    def used(project: str, region: str) -> str:
        return f"""(
  SELECT count(*) FROM addresses AS held
   WHERE held.project_id = {project} AND held.region = {region}
     AND held.state NOT IN ('deleted', 'deleting', 'error'))
"""  # noqa: S608  # our own text

    def exceeded(self, region: str, more: int, used: int, limit: int) -> str:
        return (
            f"The project has {used} of the {limit} addresses that it may have in {region}. Delete one, or ask for a"
            f" higher quota (`ipucloud quotas request {region} {self.sku} {used + more} REASON`)."
        )

    def above(self, region: str, used: int) -> str:
        return f"The project has {used} {'address' if used == 1 else 'addresses'} in {region}"


ADDRESS_QUOTA = AddressQuota()
