"""Rules about usage intervals and prices: use and billing match."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import close_interval, open_interval
from ipucloud.clusters.faults import apply_reports
from ipucloud.clusters.states import BILLABLE
from ipucloud.db.rows import Query
from ipucloud.invariants.rules import DatabaseRepair, Invariant, Refusal, Refused, RepairDone, Violation, by, decided
from ipucloud.invariants.states import STATES
from ipucloud.invariants.worker_repairs import lock_violated

_BEING_BUILT = """EXISTS (
     SELECT FROM operations o WHERE o.project_id = c.project_id AND o.cluster_id = c.id AND o.kind = 'cluster.create'
        AND o.finished_at IS NULL AND NOT o.undoing)"""
"""SQL: the cluster `c` is being built; where billing begins with the request, what it costs meanwhile is not final."""

_BILL_STANDS = Refusal("Billed usage is never rewritten; a wrong bill is corrected by a credit.")


_BILLED_RIGHTLY = Query(
    """
    SELECT EXISTS (
      SELECT FROM clusters c JOIN usage_intervals u ON u.project_id = c.project_id AND u.resource_id = c.id
       WHERE c.project_id = :project_id AND c.id = :cluster_id AND u.ended_at IS NULL
         AND (u.flavor, u.quantity, u.sku, u.region, u.currency) = (c.flavor, c.machines, c.sku, c.region, c.currency))
    """,
    bool,
)


async def _bill_from_now(connection: AsyncConnection, violation: Violation) -> RepairDone:
    """End the wrong open interval and begin a correct one; past intervals stay as they are."""
    cluster = await lock_violated(connection, violation)
    key = {"project_id": cluster.project_id, "cluster_id": cluster.id}
    rightly = await _BILLED_RIGHTLY.one(connection, key)
    if cluster.state not in BILLABLE or rightly:
        raise Refused("The cluster is no longer in use, or is already billed correctly.")
    await close_interval(connection, project_id=cluster.project_id, cluster_id=cluster.id)
    await open_interval(connection, project_id=cluster.project_id, cluster_id=cluster.id)
    await apply_reports(connection, project_id=cluster.project_id, cluster_id=cluster.id)
    return RepairDone()


BILLED = Invariant(
    name="billable_cluster_is_billed",
    sentence="A cluster in use has an open usage interval, unless it uses an active reservation.",
    object_type="cluster",
    remedy="Apply the audit's repair. Usage up to now is not charged.",
    repair=DatabaseRepair("bills the cluster from now on", _bill_from_now),
    statement="""
    SELECT c.id::text AS object_id, c.project_id, format('nothing is billed since %s', c.state_entered_at) AS detail
      FROM clusters c
     WHERE c.state = ANY (:billable)
       AND NOT EXISTS (SELECT FROM usage_intervals u
                        WHERE u.project_id = c.project_id AND u.resource_id = c.id AND u.ended_at IS NULL)
       AND NOT (SELECT reserved FROM cluster_lives b WHERE b.project_id = c.project_id AND b.id = c.id)
    """,
    parameters=STATES,
)

NOT_BILLED = Invariant(
    name="unusable_cluster_is_not_billed",
    sentence="A cluster that is neither in use nor being built has no open usage interval.",
    object_type="cluster",
    remedy="Apply the audit's repair.",
    repair=by(
        "ends the interval when the deletion or suspension was requested, or when the cluster left use",
        """
        UPDATE usage_intervals u
           SET ended_at = CASE WHEN c.ready_at IS NULL THEN u.started_at ELSE greatest(
                 u.started_at, date_trunc('second', coalesce(c.delete_requested_at, c.state_entered_at), 'UTC')) END
          FROM clusters c
         WHERE c.project_id = :project_id AND c.id = CAST(:object_id AS uuid)
           AND c.state NOT IN ('active', 'degraded', 'creating')
           AND u.project_id = c.project_id AND u.resource_id = c.id AND u.ended_at IS NULL
        """,
    ),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           format('in %s since %s, billed since %s', c.state, c.state_entered_at, min(u.started_at)) AS detail
      FROM clusters c JOIN usage_intervals u ON u.project_id = c.project_id AND u.resource_id = c.id
     WHERE u.ended_at IS NULL AND c.state <> 'creating' AND c.state <> ALL (:billable)
     GROUP BY c.id
    """,
    parameters=STATES,
)

BEGINS_IN_LIFE = Invariant(
    name="interval_begins_in_the_cluster_s_life",
    sentence="No cluster is billed for time before its creation was requested.",
    object_type="usage_interval",
    remedy="Credit the customer for the minutes before the request (`ipucloud credits create`).",
    repair=_BILL_STANDS,
    statement="""
    SELECT u.id::text AS object_id, u.project_id,
           format('billed since %s, cluster %s was requested at %s', u.started_at, c.id, c.created_at) AS detail
      FROM usage_intervals u JOIN clusters c ON c.project_id = u.project_id AND c.id = u.resource_id
     WHERE u.started_at < date_trunc('second', c.created_at, 'UTC')
    """,
)

ENDS_WITH_DELETE = Invariant(
    name="interval_ends_when_delete_is_asked_for",
    sentence="No cluster is billed for time after its deletion was requested.",
    object_type="usage_interval",
    remedy="Credit the customer for the minutes after the request (`ipucloud credits create`).",
    repair=_BILL_STANDS,
    statement="""
    SELECT u.id::text AS object_id, u.project_id,
           format('billed until %s, deletion of cluster %s was requested at %s', u.ended_at, c.id,
                  coalesce(c.delete_requested_at, c.deleted_at)) AS detail
      FROM usage_intervals u JOIN clusters c ON c.project_id = u.project_id AND c.id = u.resource_id
     WHERE u.ended_at > u.started_at
       AND u.ended_at > date_trunc('second', coalesce(c.delete_requested_at, c.deleted_at), 'UTC')
    """,
)

NO_OVERLAP = Invariant(
    name="nothing_is_billed_twice",
    sentence="A cluster's usage intervals do not overlap.",
    object_type="cluster",
    remedy="Credit the customer for the time that was billed twice (`ipucloud credits create`).",
    repair=_BILL_STANDS,
    statement="""
    SELECT resource_id::text AS object_id, project_id,
           string_agg(format('%s to %s', started_at, coalesce(ended_at::text, 'now')), ', ' ORDER BY started_at)
             AS detail
      FROM (SELECT *, max(coalesce(ended_at, 'infinity')) OVER earlier > started_at AS doubled
              FROM usage_intervals
             WHERE ended_at IS DISTINCT FROM started_at
            WINDOW earlier AS (PARTITION BY resource_id ORDER BY started_at, coalesce(ended_at, 'infinity'), id
                               ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS placed
     GROUP BY project_id, resource_id
    HAVING bool_or(doubled)
    """,
)

BILLED_AS_IS = Invariant(
    name="cluster_is_billed_as_what_it_is",
    sentence="A cluster's open interval has its flavor, machines, SKU, region and currency.",
    object_type="cluster",
    remedy="Apply the audit's repair. Credit the difference up to now (`ipucloud credits create`), or bear it.",
    repair=DatabaseRepair("ends the interval and begins a correct one", _bill_from_now),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           format('%s, %s × %s in %s, is billed as %s, %s × %s in %s, in %s', c.flavor, c.machines, c.sku, c.region,
                  u.flavor, u.quantity, u.sku, u.region, u.currency) AS detail
      FROM clusters c JOIN usage_intervals u ON u.project_id = c.project_id AND u.resource_id = c.id
     WHERE u.ended_at IS NULL AND c.state = ANY (:billable)
       AND (u.flavor, u.quantity, u.sku, u.region, u.currency)
        <> (c.flavor, c.machines, c.sku, c.region, c.currency)
    """,
    parameters=STATES,
)

PAYERS_CURRENCY = Invariant(
    name="cluster_is_priced_in_its_payers_currency",
    sentence="A billed cluster is priced in its payer's currency.",
    object_type="cluster",
    remedy="Assign the project an account in the cluster's currency (`ipucloud accounts assign`), or have its customer"
    " create it again.",
    repair=Refusal("Who pays, and in what, is decided by people."),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           format('priced in %s, paid by account %s in %s', u.currency, a.id, a.currency) AS detail
      FROM usage_intervals u
      JOIN clusters c ON c.project_id = u.project_id AND c.id = u.resource_id
     CROSS JOIN LATERAL payer_of(u.project_id, app_now()) AS payer
      JOIN billing_accounts a ON a.id = payer.account_id
     WHERE u.ended_at IS NULL AND a.currency <> u.currency
    """,
)

ONE_ANCHOR = Invariant(
    name="intervals_share_an_anchor",
    sentence="All intervals of a cluster count minutes from the start of the first one.",
    object_type="cluster",
    remedy="Credit the customer for the minutes that were counted twice (`ipucloud credits create`).",
    repair=_BILL_STANDS,
    statement="""
    SELECT resource_id::text AS object_id, project_id,
           format('anchors from %s to %s, first start %s', min(anchor_at), max(anchor_at), min(started_at)) AS detail
      FROM usage_intervals
     GROUP BY project_id, resource_id
    HAVING min(anchor_at) <> max(anchor_at) OR min(anchor_at) <> min(started_at)
    """,
)

WAS_READY = Invariant(
    name="billed_cluster_was_ready",
    sentence="A cluster in use has been ready; a billed one has been ready or is being built.",
    object_type="cluster",
    remedy="If its create succeeded, have the audit take the time from it. If it was never ready, delete the cluster"
    " (`ipucloud admin clusters force-delete`) and credit the customer for everything (`ipucloud credits create`).",
    repair=decided(
        "takes the time from the create, or from the first billed minute",
        "The row does not show whether the cluster was ever ready.",
        """
        UPDATE clusters AS c
           SET ready_at = coalesce(
                 (SELECT max(finished_at) FROM operations AS o
                   WHERE (o.project_id, o.cluster_id) = (c.project_id, c.id) AND o.kind = 'cluster.create'
                     AND o.state = 'succeeded'),
                 (SELECT min(started_at) FROM usage_intervals AS u
                   WHERE (u.project_id, u.resource_id) = (c.project_id, c.id)))
         WHERE c.project_id = :project_id AND c.id = CAST(:object_id AS uuid) AND c.ready_at IS NULL
        """,
    ),
    statement=f"""
    SELECT c.id::text AS object_id, c.project_id, format('never ready, and in %s', c.state) AS detail
      FROM clusters c
     WHERE c.ready_at IS NULL
       AND (c.state = ANY (:billable)
            OR EXISTS (SELECT FROM usage_intervals u
                        WHERE u.project_id = c.project_id AND u.resource_id = c.id
                          AND u.ended_at IS DISTINCT FROM u.started_at AND NOT {_BEING_BUILT}))
    """,  # noqa: S608  # our own text
    parameters=STATES,
)

PRICED = Invariant(
    name="billed_usage_has_a_price",
    sentence="Every SKU that is being billed has a current price.",
    object_type="price",
    remedy="Add a price for the SKU, valid from the end of the previous one.",
    repair=Refusal("Prices are set by people."),
    statement="""
    SELECT DISTINCT concat_ws('/', u.sku, u.region, u.currency) AS object_id, NULL::uuid AS project_id,
           'clusters are being billed for it, and it has no price' AS detail
      FROM usage_intervals u
     WHERE u.ended_at IS NULL
       AND NOT EXISTS (SELECT FROM prices_paid(u.project_id, u.sku, u.region, u.currency) p
                        WHERE p.valid_from <= app_now() AND p.valid_to > app_now())
    """,
)

NO_HOLE = Invariant(
    name="price_book_has_no_hole",
    sentence="From its first price on, a SKU always has a list price.",
    object_type="price",
    remedy="Add a list price for that time. Minutes of it that were used are then charged.",
    repair=Refusal("Prices are set by people."),
    statement="""
    SELECT concat_ws('/', sku, region, currency) AS object_id, NULL::uuid AS project_id,
           string_agg(format('no list price from %s until %s', begins, coalesce(ends::text, 'ever')), ', '
                      ORDER BY begins) AS detail
      FROM price_holes GROUP BY sku, region, currency
    """,
)

ONE_PRICE = Invariant(
    name="sku_has_one_price",
    sentence="Prices of a SKU do not overlap in time.",
    object_type="price",
    remedy="End the wrong price before the other begins; credit any overcharge.",
    repair=Refusal("Prices are set by people."),
    statement="""
    SELECT concat_ws('/', sku, region, currency) AS object_id, NULL::uuid AS project_id,
           string_agg(format('%s from %s to %s', unit_price, valid_from, coalesce(valid_to::text, 'ever')), ', '
                      ORDER BY valid_from, id) AS detail
      FROM (SELECT *, max(coalesce(valid_to, 'infinity')) OVER earlier > valid_from AS doubled
              FROM prices
            WINDOW earlier AS (PARTITION BY sku, region, currency ORDER BY valid_from, id
                               ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS placed
     GROUP BY sku, region, currency
    HAVING bool_or(doubled)
    """,
)

RULES = (
    BILLED,
    NOT_BILLED,
    BEGINS_IN_LIFE,
    ENDS_WITH_DELETE,
    NO_OVERLAP,
    BILLED_AS_IS,
    PAYERS_CURRENCY,
    ONE_ANCHOR,
    WAS_READY,
    PRICED,
    NO_HOLE,
    ONE_PRICE,
)
