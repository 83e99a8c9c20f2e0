"""A world with a simulated site, a process of its own, and workers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar
from uuid import UUID

from pydantic import SecretStr

from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.invariants.audit import SiteAudit, audit, audit_sites
from ipucloud.invariants.repairing import Repairer
from ipucloud.invariants.rules import Finding
from ipucloud.kernel.clock import Clock, SystemClock
from ipucloud.operations.store import Accepted
from ipucloud.reconcile.engine import Engine
from ipucloud.reconcile.wake import PLATFORM
from ipucloud.site.connect import SiteClients
from ipucloud.site.ports import Site, VipuAddress
from ipucloud.wire.faults import FaultRule
from ipucloud.worker.tasks import AUDIT_SECONDS
from tests.support.factories import furnish
from tests.support.invariants import assert_sound
from tests.support.postgres import Database as Scratch
from tests.support.site import ACCESS_KEY, RunningSite
from tests.support.vipu import VipuDriver
from tests.support.waiting import PATIENCE, until
from tests.support.world.customer import REGION, id_of
from tests.support.world.workers import worker
from tests.support.world.world import World

CALL_SECONDS = 20.0
"""Of one call to the site: less than a lease, and more than a busy machine takes."""
SECRETS_KEY = "A" * 43
FAST: dict[str, Any] = {
    "secrets_key": SecretStr(SECRETS_KEY),
    "site_call_timeout": CALL_SECONDS,
    "site_poll_interval": 0.02,
    "request_life": 0.1,
    "partitions_change_interval": 0.02,
    "poll_seconds": 0.2,
    "validation": frozenset(),
}
_STEP = """
SELECT name, state, attempts, detail FROM operation_steps
 WHERE operation_id = :id AND state IN ('pending', 'running') ORDER BY ordinal LIMIT 1
"""
_UNFINISHED = """
SELECT o.kind, o.state, o.stage, o.error, w.run_at, w.lease_owner, w.attempt, w.last_error
  FROM operations o LEFT JOIN work w ON w.kind = 'cluster' AND w.key = o.cluster_id::text WHERE o.id = :id
"""


_AUDITED = """
INSERT INTO work (kind, key, project_id, run_at)
VALUES ('periodic', 'audit_database', :project_id, app_now() + make_interval(secs => :seconds))
"""


class SiteWorld(World):
    """Settings are fast; `changes` override them. Nothing is in the database before `open`."""

    def __init__(self, scratch: Scratch, site: RunningSite, **changes: Any) -> None:
        values: dict[str, Any] = FAST | {
            "database_url": SecretStr(scratch.app_url),
            "site_url": site.url,
            "site_token": SecretStr(site.token),
            "vipu_client_certificate": site.client_files,
            "vipu_access_key": SecretStr(ACCESS_KEY),
        }
        settings = Settings(**(values | changes))
        super().__init__(Database(scratch.app_url, pool_size=4, pool_timeout=30.0), settings=settings)
        self.scratch = scratch
        self.site = site
        self.sites = SiteClients.of(settings)
        self.http = site.http()

    async def open(self) -> None:
        """Prices, the site's hardware, and a project with quota.

        As if a worker had just audited the database: each worker would at its start, which takes longer than most of
        what it does for a test, and the test holds the same rules at its end.
        """
        (self.project,) = await furnish(self.database, self.sites)
        await self.execute(_AUDITED, project_id=PLATFORM, seconds=AUDIT_SECONDS)

    async def close(self) -> None:
        """Hold every rule against what the test leaves, here and at the site."""
        try:
            self.clear_faults()
            await assert_sound(
                self.database, self.sites, call_timeout=self.settings.site_call_timeout, but=self.broken_on_purpose
            )
        finally:
            await self.sites.close()
            await self.database.close()

    def worker(self, *, url: str | None = None, **changes: Any) -> AbstractAsyncContextManager[Engine]:
        """A worker, which reaches the database by `url` if one is given."""
        return worker(url or self.database.url, self.settings.model_copy(update=changes))

    async def finished(self, operation: Accepted | UUID) -> Any:
        """The operation's row once it is terminal."""
        key = id_of(operation)

        async def ended() -> bool:
            assert await self.value("SELECT count(*) FROM work WHERE parked_at IS NOT NULL") == 0, "parked"
            return bool(await self.value("SELECT finished_at IS NOT NULL FROM operations WHERE id = :id", id=key))

        try:
            await until(ended)
        except AssertionError as error:
            open_, step = await self.one(_UNFINISHED, id=key), await self.rows(_STEP, id=key)
            raise AssertionError(f"the operation did not end, {error}: {open_} at {step}") from None
        return await self.one("SELECT * FROM operations WHERE id = :id", id=key)

    async def succeeded(self, operation: Accepted | UUID) -> Any:
        """The operation's row once it has succeeded."""
        row = await self.finished(operation)
        assert row.state == "succeeded", row
        return row

    async def build(self, name: str = "bert", flavor: str = "m2000-pod4", **changes: object) -> UUID:
        """A cluster in use, built by a worker that is at work."""
        accepted = await self.create(name, flavor, **changes)
        await self.succeeded(accepted)
        return accepted.target_id

    async def external_name(self, cluster: UUID) -> str:
        """What the cluster is called at the site."""
        name: str = await self.value("SELECT external_name FROM clusters WHERE id = :id", id=cluster)
        return name

    async def delete_all(self) -> None:
        """Delete every living cluster and wait until it is gone."""
        living = await self.column("SELECT id FROM clusters WHERE deleted_at IS NULL")
        for accepted in [await self.delete(cluster) for cluster in living]:
            await self.finished(accepted)

    async def reached(self, operation: Accepted | UUID, step: str) -> None:
        """Return once the step before `step` has succeeded."""

        async def stands_there() -> bool:
            return [row.name for row in await self.rows(_STEP, id=id_of(operation))] == [step]

        await until(stands_there, f"step {step}")

    async def blocked(self, cluster: UUID) -> None:
        """Return once something keeps the cluster's step from going on."""
        statement = "SELECT blocked_by IS NOT NULL FROM clusters WHERE id = :id"
        await until(lambda: self.value(statement, id=cluster), "the cluster is blocked")

    async def waits_for_a_lock(self) -> None:
        """Return once some session of this database waits for a row that another one holds."""
        waiting = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        await until(lambda: self.value(waiting), "a session waits for a lock")

    def fault(self, **rule: Any) -> str:
        """Add a fault rule at the site; its id."""
        body = FaultRule(**rule).model_dump(mode="json")
        answer: dict[str, str] = self.http.post("/v1/faults", json=body).raise_for_status().json()
        return answer["id"]

    async def hit(self, call: str) -> None:
        """Return once a fault rule for `call` has met a call."""

        async def met() -> bool:
            rules = self.http.get("/v1/faults").json()["faults"]
            return any(rule["hits"] for rule in rules if rule["call"] == call)

        await until(met, f"{call} meets its rule")

    def clear_faults(self) -> None:
        self.http.delete("/v1/faults").raise_for_status()

    async def findings(self) -> list[Finding]:
        """What an audit of the database and the site finds."""
        return [*await audit(self.database), *(await self.audited()).findings]

    async def audited(self, *, observed_within: float = 0.0) -> SiteAudit:
        """An audit of the site alone."""
        call_timeout = self.settings.site_call_timeout
        return await audit_sites(self.database, self.sites, call_timeout=call_timeout, observed_within=observed_within)

    def repairer(self, *, clock: Clock | None = None, **changes: Any) -> Repairer:
        usual: dict[str, Any] = {
            "requested_by": "operator@console",
            "request_life": self.settings.request_life,
            "call_timeout": self.settings.site_call_timeout,
            "poll_interval": 0.02,
        }
        return Repairer(self.database, self.sites, clock or SystemClock(), **(usual | changes))

    async def site_client(self, region: str = REGION, sites: SiteClients | None = None) -> Site:
        """The region's site, as a worker calls it."""
        row = await self.one("SELECT * FROM vipu_controllers WHERE region = :region", region=region)
        address = VipuAddress(row.host, row.admin_port, row.secure, row.authority, row.name)
        return (sites or self.sites).at(address, lambda: PATIENCE)

    async def free_machines(self) -> int:
        count: int = await self.value(
            "SELECT count(*) FROM machines m WHERE NOT EXISTS"
            " (SELECT FROM allocations a WHERE a.machine_id = m.id AND a.freed_at IS NULL)"
        )
        return count

    async def assert_nothing_left(self) -> None:
        """Neither the database nor the site has anything of a cluster."""
        assert self.http.get("/v1/networks").json()["networks"] == []
        assert {host["state"] for host in self.http.get("/v1/hosts").json()["hosts"]} == {"clean"}
        assert self.partitions() == []
        held = await self.value("SELECT count(*) FROM allocations WHERE freed_at IS NULL")
        used = await self.value("SELECT sum(used) FROM quotas")
        assert (held, used) == (0, 0)

    def partitions(self) -> list[str]:
        """Those that the V-IPU controller has."""
        return [partition.id for partition in VipuDriver(self.site.channel()).every_partition()]


AnyWorld = TypeVar("AnyWorld", bound=SiteWorld)


@asynccontextmanager
async def opened(world: AnyWorld) -> AsyncIterator[AnyWorld]:
    """The world with hardware and a project; at the end it is held against every rule, and closed."""
    await world.open()
    try:
        yield world
    finally:
        await world.close()


def open_site_world(scratch: Scratch, site: RunningSite, **changes: Any) -> AbstractAsyncContextManager[SiteWorld]:
    return opened(SiteWorld(scratch, site, **changes))
