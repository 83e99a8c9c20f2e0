"""Creates that wait for capacity.

Revision ID: 0086
Revises: 0090
"""

from __future__ import annotations

from alembic import op

revision = "0086"
down_revision = "0090"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE capacity_waits (
        operation_id UUID NOT NULL,
        project_id UUID NOT NULL,
        cluster_id UUID NOT NULL,
        region TEXT NOT NULL,
        machine_type TEXT NOT NULL,
        since TIMESTAMP WITH TIME ZONE NOT NULL,
        until TIMESTAMP WITH TIME ZONE NOT NULL,
        granted_at TIMESTAMP WITH TIME ZONE,
        looked_at TIMESTAMP WITH TIME ZONE,
        held_up_by TEXT,
        CONSTRAINT pk_capacity_waits PRIMARY KEY (operation_id),
        CONSTRAINT fk_capacity_waits_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_capacity_waits_project_id_cluster_id
            FOREIGN KEY(project_id, cluster_id) REFERENCES clusters (project_id, id),
        CONSTRAINT fk_capacity_waits_project_id_operation_id
            FOREIGN KEY(project_id, operation_id) REFERENCES operations (project_id, id),
        CONSTRAINT ck_capacity_waits_until CHECK (until > since)
    )
    """,
    "COMMENT ON TABLE capacity_waits IS"
    " 'creates that wait for machines; they hold none, and no quota, until granted_at'",
    "COMMENT ON COLUMN capacity_waits.held_up_by IS 'code of the problem, if it is another than the lack of capacity'",
    "CREATE INDEX ix_capacity_waits_operation ON capacity_waits (project_id, operation_id)",
    "CREATE UNIQUE INDEX uq_capacity_waits_cluster ON capacity_waits (project_id, cluster_id)",
    "CREATE INDEX ix_capacity_waits_queue ON capacity_waits (region, machine_type, project_id)",
    "GRANT SELECT, INSERT, UPDATE ON capacity_waits TO ipucloud_app",
)
DOWN = ("DROP TABLE capacity_waits",)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
