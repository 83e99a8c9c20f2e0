"""Many clusters out of one: copies of its rows, each with machines of its own, made by the database in a moment."""

from __future__ import annotations

from collections.abc import Sequence

import psycopg

_COPIES = """
CREATE TEMPORARY TABLE copies AS
WITH free_machines AS (
  SELECT machines.id, row_number() OVER () AS number
    FROM machines JOIN pods ON pods.id = machines.pod_id JOIN clusters USING (region, machine_type)
   WHERE NOT EXISTS (SELECT FROM allocations WHERE machine_id = machines.id)
), free_hosts AS (
  SELECT hosts.id, row_number() OVER () AS number
    FROM hosts JOIN clusters USING (region)
   WHERE NOT EXISTS (SELECT FROM allocations WHERE host_id = hosts.id)
)
SELECT number, free_machines.id AS machine_id, free_hosts.id AS host_id, gen_random_uuid() AS cluster_id,
       gen_random_uuid() AS operation_id, 'copy-' || number AS name
  FROM free_machines JOIN free_hosts USING (number) WHERE number <= %s
"""
_ROWS: Sequence[tuple[str, str]] = (
    (
        "clusters",
        "'id', copies.cluster_id, 'name', copies.name, 'external_name', copies.name || '-1'",
    ),
    (
        "poplar_servers",
        "'id', gen_random_uuid(), 'cluster_id', copies.cluster_id, 'name', copies.name || '-1-p0'",
    ),
    ("operations", "'id', copies.operation_id, 'cluster_id', copies.cluster_id"),
    ("operation_steps", "'operation_id', copies.operation_id"),
    (
        "allocations",
        "'id', gen_random_uuid(), 'cluster_id', copies.cluster_id, "
        "'machine_id', CASE WHEN original.machine_id IS NOT NULL THEN copies.machine_id END, "
        "'host_id', CASE WHEN original.host_id IS NOT NULL THEN copies.host_id END",
    ),
    ("work", "'key', copies.cluster_id::text"),
)


def copy_cluster(superuser_url: str, copies: int) -> None:
    """Copy the only cluster, which nothing has happened to yet. Raises ValueError without machines and hosts for all.

    Quotas stay as they are.
    """
    with psycopg.connect(superuser_url) as connection:
        if connection.execute(_COPIES, [copies]).rowcount != copies:
            raise ValueError("there are not enough machines or hosts")
        for table, changes in _ROWS:
            only = "WHERE original.kind = 'cluster'" if table == "work" else ""
            connection.execute(
                f"""
                INSERT INTO {table}
                SELECT (jsonb_populate_record(original, jsonb_build_object({changes}))).*
                  FROM {table} AS original CROSS JOIN copies {only}
                """.encode()  # noqa: S608  # names of this file
            )
