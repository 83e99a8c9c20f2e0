"""A whole audit of a full region: 100,000 machines, every one of them in use."""

from __future__ import annotations

import asyncio
import statistics
import time
from dataclasses import dataclass

import psycopg

from bench.databases import opened
from bench.finding import Finding, at_most
from bench.stage import Stage
from ipucloud.clusters.operations.create import CREATE
from ipucloud.invariants.registry import INVARIANTS
from ipucloud.invariants.rules import violations
from ipucloud.kernel.ids import external_name, new_id
from tests.support.factories import LUXEMBOURG, furnish
from tests.support.postgres import Database as Scratch
from tests.support.settled import SETTLED

REGION, MACHINE_TYPE = LUXEMBOURG
PER_POD = 16
PER_CLUSTER = 4
SECONDS = 10.0
"""The whole audit should take no longer (goal G-16)."""

SHOWN = 3
"""Of so many rules, the slowest, the seconds are shown."""


@dataclass(frozen=True, slots=True)
class Size:
    machines: int = 100_000


SMALLEST = Size(machines=2 * PER_POD)

_HARDWARE = (
    "INSERT INTO site_regions (region) VALUES (%(region)s)",
    "INSERT INTO vipu_controllers (region, name, host, admin_port, authority)"
    " VALUES (%(region)s, %(region)s, 'vipu.bench', 8091, 'an authority')",
    """
    INSERT INTO pod_runs (id, region, machine_type, gw_group, number)
    SELECT gen_random_uuid(), %(region)s, %(machine_type)s, 'group-' || n, 0
      FROM generate_series(0, (%(pods)s - 1) / 16) AS n
    """,
    """
    INSERT INTO pods (id, region, machine_type, name, vipu_cluster_id, controller, gw_group, position, topology,
                      gateway_topology, run_id)
    SELECT gen_random_uuid(), region, machine_type, 'pod-' || n, 'vipu', region, gw_group,
           n %% 16, 'torus', 'looped', id
      FROM generate_series(0, %(pods)s - 1) AS n JOIN pod_runs ON gw_group = 'group-' || n / 16
    """,
    """
    INSERT INTO machines (id, pod_id, slot, name, rnic, bmc, gateway, topology_ids)
    SELECT gen_random_uuid(), id, slot, name || '-m' || slot, '-', '-', '-',
           ARRAY[4 * slot, 4 * slot + 1, 4 * slot + 2, 4 * slot + 3]
      FROM pods, generate_series(0, %(per_pod)s - 1) AS slot
    """,
    """
    INSERT INTO hosts (id, region, name, address)
    SELECT gen_random_uuid(), %(region)s, 'host-' || n, '-' FROM generate_series(0, %(clusters)s - 1) AS n
    """,
)
_CLUSTERS = (
    """
    INSERT INTO clusters (id, project_id, name, region, flavor, machine_type, machines, ipus, sku, currency, image,
                          state, external_name, created_at, ready_at)
    SELECT id, %(project)s, 'cluster-' || n, %(region)s, 'm2000-pod16', %(machine_type)s, %(per_cluster)s,
           4 * %(per_cluster)s, 'ipu-m2000', 'EUR', 'ubuntu', 'active', name, app_now() - interval '2 hours',
           app_now() - interval '1 hour'
      FROM unnest(%(ids)s::uuid[], %(names)s::text[]) WITH ORDINALITY AS new_cluster (id, name, n)
    """,
    """
    CREATE TEMPORARY TABLE numbered AS
    SELECT id AS cluster_id, external_name, gen_random_uuid() AS operation_id, row_number() OVER (ORDER BY id) - 1 AS n
      FROM clusters
    """,
    """
    INSERT INTO poplar_servers (id, project_id, cluster_id, ordinal, name, state, ssh_host, ssh_port, ssh_user,
                                host_key)
    SELECT gen_random_uuid(), %(project)s, cluster_id, 0, external_name || '-p0', 'running', '203.0.113.7', 22,
           'ubuntu', 'ssh-ed25519 AAAA'
      FROM numbered
    """,
    """
    WITH placed AS (SELECT id, row_number() OVER (ORDER BY pod_id, slot) - 1 AS n FROM machines)
    INSERT INTO allocations (id, project_id, cluster_id, machine_id, ordinal)
    SELECT gen_random_uuid(), %(project)s, cluster_id, placed.id, placed.n %% %(per_cluster)s
      FROM placed JOIN numbered ON numbered.n = placed.n / %(per_cluster)s
    """,
    """
    WITH placed AS (SELECT id, row_number() OVER () - 1 AS n FROM hosts)
    INSERT INTO allocations (id, project_id, cluster_id, host_id, ordinal)
    SELECT gen_random_uuid(), %(project)s, cluster_id, placed.id, 0 FROM placed JOIN numbered USING (n)
    """,
)
_HISTORY = (
    """
    INSERT INTO operations (id, project_id, cluster_id, kind, state, progress, request_id, created_at, started_at,
                            finished_at, deadline_at)
    SELECT operation_id, %(project)s, cluster_id, %(kind)s, 'succeeded', 100, 'bench', app_now() - interval '2 hours',
           app_now() - interval '2 hours', app_now() - interval '1 hour', app_now()
      FROM numbered
    """,
    """
    INSERT INTO operation_steps (operation_id, ordinal, project_id, name, stage, state, finished_at)
    SELECT operation_id, ordinal, %(project)s, name, stage, 'succeeded', app_now() - interval '1 hour'
      FROM numbered, unnest(%(steps)s::text[], %(stages)s::text[]) WITH ORDINALITY AS step (name, stage, ordinal)
    """,
    """
    INSERT INTO events (project_id, type, subject_type, subject_id, operation_id)
    SELECT %(project)s, type, 'cluster', cluster_id, operation_id
      FROM numbered,
           unnest(ARRAY['cluster.created', 'operation.created', 'cluster.active', 'operation.succeeded']) AS type
    """,
    """
    INSERT INTO usage_intervals (id, project_id, resource_id, flavor, sku, region, currency, quantity, anchor_at,
                                 started_at)
    SELECT gen_random_uuid(), project_id, id, flavor, sku, region, currency, machines,
           date_trunc('second', ready_at, 'UTC'), date_trunc('second', ready_at, 'UTC')
      FROM clusters
    """,
    """
    INSERT INTO work (kind, key, project_id, wake_seq, claimed_seq)
    SELECT 'cluster', cluster_id::text, %(project)s, 1, 1 FROM numbered
    """,
    "UPDATE quotas SET used = %(machines)s WHERE region = %(region)s",
    *SETTLED,
    "VACUUM ANALYZE",
)


def run(stage: Stage, size: Size) -> list[Finding]:
    """Raises ValueError when the audit finds anything: then it did not read what it should."""
    with stage.database() as urls:
        asyncio.run(_fill(urls, size.machines))
        slowest, seconds = asyncio.run(_measure(urls, stage.rounds))
    return [
        Finding(
            f"audit of {size.machines:,} machines in {size.machines // PER_CLUSTER:,} clusters",
            statistics.median(seconds),
            unit="s",
            goal=at_most(SECONDS),
            numbers={"rules": len(INVARIANTS), **slowest},
        )
    ]


async def _measure(urls: Scratch, rounds: int) -> tuple[dict[str, float], list[float]]:
    """The seconds of the slowest rules, and those of each whole audit."""
    totals: list[float] = []
    by_rule: dict[str, list[float]] = {rule.name: [] for rule in INVARIANTS}
    async with opened(urls.app_url) as database, database.read() as connection:
        for _ in range(rounds):
            for rule in INVARIANTS:
                started = time.perf_counter()
                if broken := await violations(connection, rule):
                    raise ValueError(f"{rule.name}: {broken[0].detail}")
                by_rule[rule.name].append(time.perf_counter() - started)
            totals.append(sum(times[-1] for times in by_rule.values()))
    medians = {name: statistics.median(times) for name, times in by_rule.items()}
    slowest = sorted(medians, key=lambda name: medians[name])[-SHOWN:]
    return {name: medians[name] for name in reversed(slowest)}, totals


async def _fill(urls: Scratch, machines: int) -> None:
    async with opened(urls.app_url) as database:
        (customer,) = await furnish(database, quota=machines)
    ids = sorted(new_id() for _ in range(machines // PER_CLUSTER))
    values = {
        "region": REGION,
        "machine_type": MACHINE_TYPE,
        "project": customer.id,
        "machines": machines,
        "pods": machines // PER_POD,
        "per_pod": PER_POD,
        "per_cluster": PER_CLUSTER,
        "clusters": len(ids),
        "ids": ids,
        "names": [external_name(each, 1) for each in ids],
        "kind": CREATE.name,
        "steps": [step.name for step in CREATE.steps],
        "stages": [step.stage.name for step in CREATE.steps],
    }
    with psycopg.connect(urls.superuser_url, autocommit=True) as connection:
        connection.execute("ALTER TABLE clusters ENABLE ALWAYS TRIGGER clusters_resource")
        connection.execute("SET session_replication_role = replica")
        for statement in (*_HARDWARE, *_CLUSTERS, *_HISTORY):
            connection.execute(statement.encode(), values)
