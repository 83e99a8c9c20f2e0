"""Tokens with a limit on what their clusters may cost.

Revision ID: 0181
Revises: 0170
"""

from __future__ import annotations

from alembic import op

revision = "0181"
down_revision = "0170"
branch_labels = None
depends_on = None

WAITS = "'operation', 'budget_reached', 'capacity_exhausted', 'funds_exhausted', 'payment_overdue', 'quota_exceeded', 'state_conflict', 'resume_failed'"
MORE_WAITS = WAITS.replace("'funds_exhausted'", "'cost_limit_reached', 'funds_exhausted'")
SCHEDULES = """
    ALTER TABLE cluster_schedules
        DROP CONSTRAINT ck_cluster_schedules_waits_for,
        ADD CONSTRAINT ck_cluster_schedules_waits_for CHECK (waits_for IN ({}))
"""

UP = (
    SCHEDULES.format(MORE_WAITS),
    """
    ALTER TABLE tokens
        ADD COLUMN cost_limit NUMERIC,
        ADD COLUMN cost_currency TEXT,
        ADD CONSTRAINT ck_tokens_cost_limit CHECK (cost_limit > 0),
        ADD CONSTRAINT ck_tokens_cost_currency CHECK (num_nulls(cost_limit, cost_currency) IN (0, 2)),
        ADD CONSTRAINT ck_tokens_cost_limit_role CHECK (cost_limit IS NULL OR role = 'operator')
    """,
    "COMMENT ON COLUMN tokens.cost_limit IS 'of the clusters of token_clusters, together; NULL: none'",
    """
    CREATE TABLE token_clusters (
        project_id UUID NOT NULL,
        token_id UUID NOT NULL,
        cluster_id UUID NOT NULL,
        since TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        stopped_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_token_clusters PRIMARY KEY (project_id, token_id, cluster_id),
        CONSTRAINT fk_token_clusters_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_token_clusters_project_id_token_id FOREIGN KEY(project_id, token_id)
            REFERENCES tokens (project_id, id),
        CONSTRAINT fk_token_clusters_project_id_cluster_id FOREIGN KEY(project_id, cluster_id)
            REFERENCES clusters (project_id, id),
        CONSTRAINT ck_token_clusters_order CHECK (stopped_at >= since)
    )
    """,
    "COMMENT ON TABLE token_clusters IS 'their cost from since to stopped_at counts against the token''s limit;"
    " stopped_at: it was reached'",
    "CREATE INDEX ix_token_clusters_cluster ON token_clusters (project_id, cluster_id)",
    "GRANT SELECT, INSERT ON token_clusters TO ipucloud_app",
    "GRANT UPDATE (stopped_at) ON token_clusters TO ipucloud_app",
    """
CREATE FUNCTION token_cost(project uuid, token uuid) RETURNS numeric
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce(sum(part.cost), 0)
    FROM token_clusters AS counted
    JOIN usage_intervals AS used ON used.project_id = counted.project_id AND used.cluster_id = counted.cluster_id
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
    """,
)
DOWN = (
    "UPDATE cluster_schedules SET waits_for = 'state_conflict' WHERE waits_for = 'cost_limit_reached'",
    SCHEDULES.format(WAITS),
    "DROP FUNCTION token_cost",
    "DROP TABLE token_clusters",
    "ALTER TABLE tokens DROP COLUMN cost_limit, DROP COLUMN cost_currency",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
