"""A world with a cluster in use, and what changes the site behind its back."""

from __future__ import annotations

from typing import Any

from ipucloud.invariants.repairing import Repaired
from ipucloud.invariants.rules import Finding
from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite
from tests.support.vipu import VipuDriver
from tests.support.waiting import eventually
from tests.support.world import SiteWorld

REGION = "luxembourg-2"
_HELD = """
SELECT c.id, c.external_name, max(m.name) AS machine, max(h.name) AS host,
       (SELECT array_agg(name ORDER BY name DESC) FROM machines
         WHERE id NOT IN (SELECT machine_id FROM allocations WHERE machine_id IS NOT NULL)) AS spare,
       (SELECT max(name) FROM hosts
         WHERE id NOT IN (SELECT host_id FROM allocations WHERE host_id IS NOT NULL)) AS spare_host
  FROM clusters c
  JOIN allocations a ON a.cluster_id = c.id
  LEFT JOIN machines m ON m.id = a.machine_id
  LEFT JOIN hosts h ON h.id = a.host_id
 GROUP BY c.id
"""


class AuditedWorld(SiteWorld):
    """`name` is what the cluster `in_use` is called at the site; it has one `machine` on one `host`.

    `spares`: machines that no cluster holds.
    """

    def __init__(self, scratch: Scratch, site: RunningSite) -> None:
        super().__init__(scratch, site, request_life=0.01)
        self.vipu = VipuDriver(site.channel(REGION))
        self._vipu_cluster = site.region(REGION).pods[0].cluster_id

    async def open(self) -> None:
        await super().open()
        async with self.worker():
            self.in_use = await self.build()
        row = await self.one(_HELD)
        self.name: str = row.external_name
        self.machine: str = row.machine
        self.host: str = row.host
        self.spares: list[str] = row.spare
        self.spare = self.spares[0]
        self.spare_host: str = row.spare_host

    async def repair(self, findings: list[Finding], **changes: Any) -> list[Repaired]:
        return await self.repairer(**changes).repair(findings)

    def allocate(self, name: str, machine: str) -> None:
        self.vipu.allocate(name, self._vipu_cluster, [machine])

    def network(self, name: str, *machines: str, host: str | None = None) -> None:
        spec = {"region": REGION, "machines": machines, "hosts": [] if host is None else [host]}
        self.http.put(f"/v1/networks/{name}", json=spec).raise_for_status()

    def server(self, name: str, host: str, network: str) -> None:
        spec = {"name": name, "image": "ubuntu", "ssh_authorized_keys": [], "environment": {}, "network": network}
        self.http.put(f"/v1/hosts/{host}/server", json=spec).raise_for_status()

    def lose_partition(self) -> None:
        self.vipu.remove(self.name)
        eventually(lambda: self.name not in self.vipu.partitions(), "the partition goes")

    def remove_allocation(self) -> None:
        self.lose_partition()
        self.vipu.release(self.name)

    def remove_network(self, name: str | None = None) -> None:
        address = f"/v1/networks/{name or self.name}"
        self.http.delete(address).raise_for_status()
        eventually(lambda: self.http.get(address).status_code == 404, "the network goes")

    def wipe_server(self) -> None:
        address = f"/v1/hosts/{self.host}"
        self.http.delete(f"{address}/server", params={"name": f"{self.name}-p0"}).raise_for_status()
        eventually(lambda: self.http.get(address).json()["state"] == "clean", "the host is wiped")

    def power_on(self, machine: str) -> None:
        address = f"/redfish/v1/Systems/{machine}"
        body = {"ResetType": "On"}
        self.http.post(f"{address}/Actions/ComputerSystem.Reset", json=body).raise_for_status()
        eventually(lambda: self.http.get(address).json()["PowerState"] == "On", "the machine is on")

    def fail_machine(self) -> None:
        self.http.post(f"/v1/machines/{self.machine}:fail").raise_for_status()
        eventually(lambda: self.vipu.status(self.name).auto_reset_retry_count == 3, "the controller gives up")

    def repair_machine(self) -> None:
        self.http.post(f"/v1/machines/{self.machine}:repair").raise_for_status()
