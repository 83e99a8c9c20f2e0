"""Which clusters count against which token's cost limit."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.db.base import instant, metadata, same_project, tenant_key

token_clusters = sa.Table(
    "token_clusters",
    metadata,
    sa.Column("project_id", sa.Uuid, primary_key=True),
    sa.Column("token_id", sa.Uuid, primary_key=True),
    sa.Column("cluster_id", sa.Uuid, primary_key=True),
    instant("since", default_now=True),
    instant("stopped_at"),
    tenant_key("token_clusters"),
    same_project("token_clusters", "token_id", "tokens"),
    same_project("token_clusters", "cluster_id", "clusters"),
    sa.CheckConstraint("stopped_at >= since", name="order"),
    comment="their cost from since to stopped_at counts against the token's limit; stopped_at: it was reached",
)
sa.Index("ix_token_clusters_cluster", token_clusters.c.project_id, token_clusters.c.cluster_id)

TOKEN_COST = """
CREATE FUNCTION token_cost(project uuid, token uuid) RETURNS numeric
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce(sum(part.cost), 0)
    FROM token_clusters AS counted
    JOIN usage_intervals AS used ON used.project_id = counted.project_id AND used.resource_id = counted.cluster_id
   CROSS JOIN LATERAL (
     SELECT greatest(used.started_at, counted.since) AS since,
            least(used.ended_at, counted.stopped_at, date_trunc('second', app_now(), 'UTC')) AS until
     OFFSET 0) AS counting
   CROSS JOIN LATERAL prices_paid(used.project_id, used.sku, used.region, used.currency) AS price
   CROSS JOIN LATERAL priced_minutes(used.anchor_at, counting.since, counting.until, price.valid_from, price.valid_to,
                                     used.quantity - used.credited, price.unit_price) AS part
   WHERE counted.project_id = project AND counted.token_id = token AND counting.since < counting.until
     AND price.valid_from < counting.until AND price.valid_to > counting.since
$$
"""


@sa.event.listens_for(metadata, "after_create")
def _create_token_cost(_metadata: object, connection: sa.Connection, **_options: object) -> None:
    """It reads prices and usage, so it comes after all tables."""
    connection.exec_driver_sql(TOKEN_COST)
