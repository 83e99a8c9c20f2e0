"""Ways in which addresses can be wrong, each planted alone."""

from __future__ import annotations

from ipucloud.invariants.repairing import Outcome
from tests.feature.invariants.corruption import corruption as _c

_INSERT = """
INSERT INTO addresses (id, project_id, name, region, external_name, ip, port, observed_at, sku, currency, state,
                       created_by)
SELECT gen_random_uuid(), %(project)s, 'frontdoor', '{region}', 'frontdoor-1', '203.0.113.17', 22, app_now(), 'address',
       'EUR', 'available', gen_random_uuid()
"""
# No triggers are in force here.
_BILLED = """
WITH held AS (
  INSERT INTO resources (id, project_id, kind, name, region, sku, currency, quantity)
  SELECT id, project_id, 'address', name, region, sku, currency, 1 FROM addresses RETURNING *
)
INSERT INTO usage_intervals (id, project_id, resource_id, flavor, sku, region, currency, quantity,
                             anchor_at, started_at)
SELECT gen_random_uuid(), project_id, id, sku, sku, region, currency, quantity,
       date_trunc('second', app_now()), date_trunc('second', app_now()) FROM held
"""
_PRICED = """
INSERT INTO prices (id, sku, region, currency, unit_price, valid_from, source)
VALUES (gen_random_uuid(), 'address', 'amsterdam-2', 'EUR', 0.0000684932, '2020-01-01', 'test')
"""

ADDRESSES = (
    _c("address_is_billed", Outcome.REFUSED, _INSERT.format(region="luxembourg-2")),
    _c(
        "attached_address_has_its_server",
        Outcome.REFUSED,
        _INSERT.format(region="amsterdam-2"),
        _PRICED,
        _BILLED,
        "UPDATE addresses SET state = 'attached', cluster_id = %(active)s, server_id = s.id"
        " FROM poplar_servers s WHERE s.cluster_id = %(active)s",
    ),
)
