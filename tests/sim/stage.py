"""The database of one simulation process: made once, emptied between histories."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any
from unittest import mock
from uuid import UUID

import psycopg
from pydantic import SecretStr

from ipucloud.catalogue.load import load
from ipucloud.catalogue.queries import Catalogue
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.kernel import ids
from ipucloud.site.ports import Site, VipuAddress
from ipucloud.wire.inventory import Inventory, SiteHost, SiteMachine, SitePod, SiteRegion, VipuEndpoint
from tests.sim.sessions import EPOCH, SessionPool
from tests.sim.swarm import HOSTS, MACHINES
from tests.support.catalogues import with_other_image
from tests.support.factories import PUBLIC_KEY, furnish, make_ssh_key
from tests.support.postgres import Database as Scratch
from tests.support.preemptible import offer_preemptible
from tests.support.reservations import offer
from tests.support.world.clock import simulate_clock, stop_clock

REGION = "luxembourg-2"
_SESSIONS = 24
_PLANNED_ONCE = "-c jit=off -c plan_cache_mode=force_generic_plan"

_SETUP = (
    # Of work items due at the same instant the claim may take any. Which one must not depend on where rows lie on disk,
    # and so on the histories before: each is due some microseconds earlier, by its hash. Also where the stage's own
    # session writes, which asks no other trigger.
    "CREATE FUNCTION break_tie() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.run_at :="
    " NEW.run_at - (hashtext(NEW.kind || NEW.key) & 4095) * interval '1 microsecond'; RETURN NEW; END $$",
    "CREATE TRIGGER break_tie BEFORE INSERT OR UPDATE OF run_at ON work FOR EACH ROW EXECUTE FUNCTION break_tie()",
    "ALTER TABLE work ENABLE ALWAYS TRIGGER break_tie",
    # Rows of equal rank come in the order of the plan. Which plan that is must not depend on how full the tables were
    # before, nor on whether the server found the time to count their rows.
    *(
        f"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET enable_{way} = off', current_database()); END $$"
        for way in ("seqscan", "bitmapscan", "hashjoin", "mergejoin")
    ),
    "DO $$ DECLARE name text; BEGIN FOR name IN SELECT oid::regclass FROM pg_class WHERE relkind = 'r'"
    " AND relnamespace = 'public'::regnamespace LOOP"
    " EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', name); END LOOP; END $$",
    # Circles of waits are found by the simulation, and at once; the server's own search depends on real time.
    "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = ''1h''', current_database()); END $$",
)
_TABLES = (
    "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace ORDER BY 1"
)
_WRITABLE = """
SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
 WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
"""
_RESTORE = """
DELETE FROM {table} AS t WHERE NOT EXISTS (SELECT FROM furnished.{table} AS f WHERE f.* *= t.*);
INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE
SELECT {columns} FROM furnished.{table} AS f WHERE NOT EXISTS (SELECT FROM {table} AS t WHERE t.* *= f.*)
"""
_QUOTA = "UPDATE quotas SET used = 0, machine_limit = %s WHERE (used, machine_limit) <> (0, %s)"


@dataclass
class Stage:
    """Where histories are played, one after another."""

    control: psycopg.Connection[Any]
    pool: SessionPool
    inventory: Inventory
    catalogue: Catalogue
    projects: tuple[UUID, ...]
    settings: Settings
    played: int = 0

    def clear(self, quota: int) -> None:
        """Forget the history before; let each project have `quota` machines."""
        self.pool.forget()
        self.control.execute("SELECT pg_advisory_unlock_all(), restore_stage()")
        self.control.execute(_QUOTA, (quota, quota))
        self.played += 1
        if self.played % 200 == 0:
            self.control.execute("VACUUM")


@asynccontextmanager
async def open_stage(scratch: Scratch) -> AsyncIterator[Stage]:
    inventory = make_inventory()
    settings = Settings(secrets_key=SecretStr("A" * 43), validation=frozenset())
    stop_clock(scratch.owner_url, EPOCH)
    database = Database(scratch.app_url, pool_size=1)
    # Two: within a project the lock of its quota already keeps requests apart.
    with mock.patch.object(ids, "uuid7", _numbered()):
        projects = await furnish(database, _Listing(inventory), project_count=2)
        async with database.begin() as connection:
            for project in projects:
                await make_ssh_key(connection, project.id, "ci", f"{PUBLIC_KEY[:-4]}ci00")
            await offer(connection)
            await offer_preemptible(connection)
    await database.close()
    simulate_clock(scratch.superuser_url)
    with psycopg.connect(scratch.superuser_url, autocommit=True) as control:
        for statement in _SETUP:
            control.execute(statement)
        _keep_as_furnished(control)
    with psycopg.connect(scratch.superuser_url, autocommit=True, prepare_threshold=2, options=_PLANNED_ONCE) as control:
        control.execute("SET session_replication_role = replica")  # restoring must not ask the triggers
        with SessionPool.open(scratch.app_url, control, _SESSIONS) as pool:
            known = with_other_image(load(), REGION)
            yield Stage(control, pool, inventory, known, tuple(project.id for project in projects), settings)


def _numbered() -> Callable[[], UUID]:
    """Identifiers that are the same in every process: their order decides who is asked first."""
    numbers = count(1)
    return lambda: UUID(int=7 << 76 | 2 << 62 | next(numbers))


def _keep_as_furnished(control: psycopg.Connection[Any]) -> None:
    """Copy all rows, and make `restore_stage()`, after which all tables have them again."""
    control.execute("CREATE SCHEMA furnished")
    restoring = []
    for (table,) in control.execute(_TABLES).fetchall():
        if control.execute(f"SELECT FROM {table} LIMIT 1".encode()).fetchone() is None:
            restoring.append(f"DELETE FROM {table}")  # noqa: S608  # the catalogue's names
            continue
        control.execute(f"CREATE TABLE furnished.{table} AS TABLE {table}".encode())
        [(columns,)] = control.execute(_WRITABLE, (table,)).fetchall()
        restoring.append(_RESTORE.format(table=table, columns=columns))
    body = ";\n".join(restoring)
    control.execute(
        f"CREATE FUNCTION restore_stage() RETURNS void LANGUAGE plpgsql AS $$ BEGIN {body}; END $$".encode()
    )


class _Listing:
    """A site that can only be asked for its hardware."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory

    def at(self, vipu: VipuAddress | None, budget: object) -> Site:
        raise NotImplementedError

    async def inventory(self) -> Inventory:
        return self._inventory


def make_inventory() -> Inventory:
    machines = [
        SiteMachine(
            name=f"m{slot:02}", slot=slot, rnic=f"10.2.0.{slot}", bmc=f"10.3.0.{slot}", gateway=f"10.4.0.{slot}"
        )
        for slot in range(MACHINES)
    ]
    pod = SitePod(
        name="pod-0",
        machine_type="m2000",
        cluster_id="vipu-0",
        gw_group="g0",
        position=0,
        topology="mesh",
        gateway_topology="looped",
        machines=machines,
    )
    hosts = [SiteHost(name=f"h{number:02}", address=f"10.1.0.{number}") for number in range(HOSTS)]
    endpoint = VipuEndpoint(host="vipu", admin_port=2, secure=True, authority="an authority")
    return Inventory(regions=[SiteRegion(region=REGION, vipu=endpoint, pods=[pod], hosts=hosts)])
