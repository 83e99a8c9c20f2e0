"""What requests to services came to, by the minute and in all.

Revision ID: 0166
Revises: 0151
"""

from __future__ import annotations

from alembic import op

revision = "0166"
down_revision = "0151"
branch_labels = None
depends_on = None

COUNTS = """
        requests BIGINT NOT NULL,
        errors BIGINT NOT NULL,
        seconds DOUBLE PRECISION NOT NULL,
        buckets BIGINT[] NOT NULL,
"""
UP = (
    f"""
    CREATE TABLE service_requests (
        project_id UUID NOT NULL,
        service_id UUID NOT NULL,
        minute TIMESTAMP WITH TIME ZONE NOT NULL,{COUNTS}
        CONSTRAINT pk_service_requests PRIMARY KEY (project_id, service_id, minute),
        CONSTRAINT fk_service_requests_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_service_requests_project_id_service_id
            FOREIGN KEY(project_id, service_id) REFERENCES services (project_id, id)
    )
    """,
    f"""
    CREATE TABLE service_request_totals (
        project_id UUID NOT NULL,
        service_id UUID NOT NULL,{COUNTS}
        CONSTRAINT pk_service_request_totals PRIMARY KEY (project_id, service_id),
        CONSTRAINT fk_service_request_totals_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_service_request_totals_project_id_service_id
            FOREIGN KEY(project_id, service_id) REFERENCES services (project_id, id)
    )
    """,
    "COMMENT ON TABLE service_requests IS 'requests that the API has forwarded, by the minute in which they were"
    " written'",
    "COMMENT ON TABLE service_request_totals IS 'the same of all time'",
    *(
        statement
        for table in ("service_requests", "service_request_totals")
        for statement in (
            f"COMMENT ON COLUMN {table}.errors IS 'answered with a status from 500 on, or not at all'",
            f"COMMENT ON COLUMN {table}.seconds IS 'until the answers began, together'",
            f"COMMENT ON COLUMN {table}.buckets IS 'answers within each of the bounds, and the others'",
        )
    ),
    "CREATE INDEX ix_service_requests_minute ON service_requests (minute)",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON service_requests TO ipucloud_app",
    "GRANT SELECT, INSERT, UPDATE ON service_request_totals TO ipucloud_app",
)
DOWN = ("DROP TABLE service_request_totals", "DROP TABLE service_requests")


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
