"""Ways in which volumes and snapshots can be wrong, each planted alone."""

from __future__ import annotations

from ipucloud.invariants.repairing import Outcome
from tests.feature.invariants.corruption import corruption as _c

_INSERT = """
INSERT INTO volumes (id, project_id, name, region, external_name, size_gib, sku, currency, state, created_by)
SELECT gen_random_uuid(), %(project)s, 'data', '{region}', 'data-1', 10, 'volume-gib', 'EUR', 'available',
       gen_random_uuid()
"""
# No triggers are in force here.
_BILLED = """
WITH held AS (
  INSERT INTO resources (id, project_id, kind, name, region, sku, currency, quantity)
  SELECT id, project_id, 'volume', name, region, sku, currency, size_gib FROM volumes RETURNING *
)
INSERT INTO usage_intervals (id, project_id, resource_id, flavor, sku, region, currency, quantity,
                             anchor_at, started_at)
SELECT gen_random_uuid(), project_id, id, sku, sku, region, currency, quantity,
       date_trunc('second', app_now()), date_trunc('second', app_now()) FROM held
"""

_PRICED = """
INSERT INTO prices (id, sku, region, currency, unit_price, valid_from, source)
VALUES (gen_random_uuid(), 'volume-gib', 'amsterdam-2', 'EUR', 0.0000022831, '2020-01-01', 'test')
"""

_DELETED = (
    _INSERT.format(region="luxembourg-2")
    .replace("state, created_by)", "state, created_by, delete_requested_at)")
    .replace("'available',", "'deleting',")
    .rstrip()
    + ", app_now()"
)
_COPIED = """
INSERT INTO snapshots (id, project_id, volume_id, name, region, external_name, size_gib, sku, currency, state,
                       created_by)
SELECT gen_random_uuid(), project_id, id, 'before', region, 'before-1', 10, 'snapshot-gib', 'EUR', '{state}', created_by
  FROM volumes
"""
_SERVER_COPIED = """
INSERT INTO snapshots (id, project_id, cluster_id, server_id, image, name, region, external_name, size_gib, sku,
                       currency, state, created_by, delete_requested_at)
SELECT gen_random_uuid(), c.project_id, c.id, s.id, c.image, 'env', c.region, 'env-1', 1, 'snapshot-gib', 'EUR',
       'deleting', gen_random_uuid(), app_now()
  FROM clusters c JOIN poplar_servers s ON s.cluster_id = c.id WHERE c.id = %(active)s
"""

VOLUMES = (
    _c("volume_is_billed", Outcome.REFUSED, _INSERT.format(region="luxembourg-2")),
    _c(
        "attached_volume_has_its_cluster",
        Outcome.REFUSED,
        _INSERT.format(region="amsterdam-2"),
        _PRICED,
        _BILLED,
        "UPDATE volumes SET state = 'attached', cluster_id = %(active)s, server_id = s.id"
        " FROM poplar_servers s WHERE s.cluster_id = %(active)s",
    ),
    _c("snapshot_is_billed", Outcome.REFUSED, _DELETED, _COPIED.format(state="available")),
    _c("snapshot_is_kept_while_it_is_needed", Outcome.REFUSED, _DELETED, _COPIED.format(state="creating")),
    _c(
        "snapshot_is_kept_while_it_is_needed",
        Outcome.REFUSED,
        _SERVER_COPIED,
        "UPDATE clusters SET image = 'env-1' WHERE id = %(active)s",
    ),
)
