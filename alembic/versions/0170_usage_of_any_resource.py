"""Usage of any kind of resource: a fact says what kind is billed, and what its quantity counts.

Existing facts are of clusters or reservations, and count machines.

Revision ID: 0170
Revises: 0167
"""

from __future__ import annotations

from alembic import op

revision = "0170"
down_revision = "0167"
branch_labels = None
depends_on = None

UP = (
    "DROP INDEX ix_usage_intervals_reservation",
    """
    ALTER TABLE usage_intervals
      DROP CONSTRAINT ck_usage_intervals_reservation,
      DROP COLUMN of_cluster,
      ADD COLUMN resource_kind text DEFAULT 'cluster' NOT NULL,
      ADD COLUMN dimension text DEFAULT 'machine' NOT NULL
    """,
    # By a rewrite: facts that have ended never change, as a trigger says.
    """
    ALTER TABLE usage_intervals
      ALTER COLUMN resource_kind DROP DEFAULT,
      ALTER COLUMN resource_kind TYPE text USING CASE WHEN reservation_id IS NULL THEN 'cluster' ELSE 'reservation' END,
      ALTER COLUMN resource_kind SET DEFAULT 'cluster'
    """,
    """
    ALTER TABLE usage_intervals
      DROP CONSTRAINT fk_usage_intervals_project_id_reservation_id,
      DROP COLUMN reservation_id
    """,
    """
    ALTER TABLE usage_intervals
      ADD COLUMN of_cluster uuid
          GENERATED ALWAYS AS (CASE WHEN resource_kind = 'cluster' THEN cluster_id END) STORED,
      ADD COLUMN reservation_id uuid
          GENERATED ALWAYS AS (CASE WHEN resource_kind = 'reservation' THEN cluster_id END) STORED,
      ADD CONSTRAINT fk_usage_intervals_project_id_of_cluster
          FOREIGN KEY (project_id, of_cluster) REFERENCES clusters (project_id, id),
      ADD CONSTRAINT fk_usage_intervals_project_id_reservation_id
          FOREIGN KEY (project_id, reservation_id) REFERENCES reservations (project_id, id),
      ADD CONSTRAINT ck_usage_intervals_resource_kind CHECK (resource_kind IN ('cluster', 'reservation')),
      ADD CONSTRAINT ck_usage_intervals_dimension CHECK (dimension = 'machine')
    """,
    "COMMENT ON COLUMN usage_intervals.cluster_id IS 'the resource that is billed'",
    "COMMENT ON COLUMN usage_intervals.quantity IS 'of the dimension'",
    "COMMENT ON COLUMN usage_intervals.flavor IS 'of a cluster or reservation, at that time'",
    "COMMENT ON COLUMN usage_intervals.dimension IS 'what the quantity counts'",
    "COMMENT ON COLUMN usage_intervals.of_cluster IS 'the resource, if it is a cluster'",
    "COMMENT ON COLUMN usage_intervals.reservation_id IS 'the resource, if it is a reservation'",
    "CREATE INDEX ix_usage_intervals_of_cluster ON usage_intervals (project_id, of_cluster)",
    "CREATE INDEX ix_usage_intervals_reservation ON usage_intervals (project_id, reservation_id)"
    " WHERE reservation_id IS NOT NULL",
)
DOWN = (
    "DROP INDEX ix_usage_intervals_reservation",
    """
    ALTER TABLE usage_intervals
      DROP CONSTRAINT ck_usage_intervals_dimension,
      DROP CONSTRAINT ck_usage_intervals_resource_kind,
      DROP CONSTRAINT fk_usage_intervals_project_id_reservation_id,
      DROP COLUMN of_cluster,
      DROP COLUMN dimension,
      ALTER COLUMN reservation_id DROP EXPRESSION
    """,
    """
    ALTER TABLE usage_intervals
      DROP COLUMN resource_kind,
      ADD COLUMN of_cluster uuid GENERATED ALWAYS AS (CASE WHEN reservation_id IS NULL THEN cluster_id END) STORED,
      ADD CONSTRAINT fk_usage_intervals_project_id_of_cluster
          FOREIGN KEY (project_id, of_cluster) REFERENCES clusters (project_id, id),
      ADD CONSTRAINT fk_usage_intervals_project_id_reservation_id
          FOREIGN KEY (project_id, reservation_id) REFERENCES reservations (project_id, id),
      ADD CONSTRAINT ck_usage_intervals_reservation CHECK (reservation_id = cluster_id)
    """,
    "COMMENT ON COLUMN usage_intervals.cluster_id IS 'the cluster or the reservation that is billed'",
    "COMMENT ON COLUMN usage_intervals.quantity IS 'machines'",
    "COMMENT ON COLUMN usage_intervals.flavor IS 'the cluster''s at that time'",
    "COMMENT ON COLUMN usage_intervals.reservation_id IS 'the same, if it is a reservation'",
    "COMMENT ON COLUMN usage_intervals.of_cluster IS 'cluster_id, if it is a cluster'",
    "CREATE INDEX ix_usage_intervals_of_cluster ON usage_intervals (project_id, of_cluster)",
    "CREATE INDEX ix_usage_intervals_reservation ON usage_intervals (project_id, reservation_id)"
    " WHERE reservation_id IS NOT NULL",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
