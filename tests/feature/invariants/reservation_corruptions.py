"""Ways in which reservations can be wrong, each planted alone."""

from __future__ import annotations

from ipucloud.invariants.repairing import Outcome
from tests.feature.invariants.corruption import corruption as _c

_INSERT = """
INSERT INTO reservations (id, project_id, name, region, flavor, machine_type, blocks, machines, ipus, servers,
                          own_hosts, sku, currency, starts_at, ends_at, state, created_by)
SELECT gen_random_uuid(), %(project)s, 'may', 'luxembourg-2', 'm2000-pod16', 'm2000', 1, 4, 16, 1, false, 'ipu-m2000',
       'EUR', at + interval '{starts} hours', at + interval '{ends} hours', '{state}', gen_random_uuid()
  FROM (SELECT date_trunc('minute', app_now()) AS at) AS now
"""

RESERVATIONS = (
    _c("reservation_is_held", Outcome.REFUSED, _INSERT.format(starts=24, ends=48, state="scheduled")),
    _c("reservation_is_billed", Outcome.REFUSED, _INSERT.format(starts=-2, ends=-1, state="ended")),
    _c(
        "machine_is_billed_once",
        Outcome.REFUSED,
        _INSERT.format(starts=-1, ends=1, state="active"),
        "UPDATE allocations SET reservation_id = r.id, block = 0 FROM reservations r WHERE cluster_id = %(active)s",
        # No triggers are in force here.
        "INSERT INTO resources (id, project_id, kind, name, region, sku, currency, quantity, flavor, machine_type,"
        " machine_ipus) SELECT id, project_id, 'reservation', name, region, sku, currency, 4, flavor, machine_type, 4"
        " FROM reservations",
        "INSERT INTO usage_intervals (id, project_id, resource_id, flavor, sku, region, currency, quantity,"
        " anchor_at, started_at)"
        " SELECT gen_random_uuid(), project_id, id, flavor, sku, region, currency, 4, starts_at,"
        " starts_at FROM reservations",
    ),
)
