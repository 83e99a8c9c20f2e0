"""Exports every hour, with provisional rows, and as many a day as an operator allows.

Revision ID: 0081
Revises: 0080
"""

from __future__ import annotations

from alembic import op

revision = "0081"
down_revision = "0080"
branch_labels = None
depends_on = None

EVERY = "ALTER TABLE export_schedules ADD CONSTRAINT ck_export_schedules_every CHECK (every IN ({}))"
UP = (
    "ALTER TABLE exports ADD provisional BOOLEAN DEFAULT false NOT NULL",
    "COMMENT ON COLUMN exports.provisional IS 'with hours that are not closed'",
    "COMMENT ON COLUMN exports.scheduled_for IS NULL",
    "ALTER TABLE exports ALTER scheduled_for TYPE TIMESTAMP WITH TIME ZONE"
    " USING scheduled_for::timestamp AT TIME ZONE 'UTC'",
    "ALTER TABLE export_schedules ADD provisional BOOLEAN DEFAULT false NOT NULL",
    "ALTER TABLE export_schedules DROP CONSTRAINT ck_export_schedules_every",
    EVERY.format("'hour', 'day', 'month'"),
    "COMMENT ON TABLE export_schedules IS 'hour: the day of the hour before, so far; day: the month of the day before,"
    " so far; month: the one before, once it is sealed'",
    """
    CREATE TABLE export_limits (
        project_id UUID NOT NULL,
        per_day INTEGER NOT NULL,
        changed_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_export_limits PRIMARY KEY (project_id),
        CONSTRAINT fk_export_limits_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT ck_export_limits_per_day CHECK (per_day BETWEEN 0 AND 10000)
    )
    """,
    "COMMENT ON TABLE export_limits IS"
    " 'how many exports a project may request within 24 hours, where an operator has set it'",
    "GRANT SELECT, INSERT, UPDATE ON export_limits TO ipucloud_app",
)
DOWN = (
    "DROP TABLE export_limits",
    "UPDATE export_schedules SET every = 'day' WHERE every = 'hour'",
    "ALTER TABLE export_schedules DROP CONSTRAINT ck_export_schedules_every",
    EVERY.format("'day', 'month'"),
    "COMMENT ON TABLE export_schedules IS 'day: the month of the day before, so far; month: the one before, once it is"
    " sealed'",
    "ALTER TABLE export_schedules DROP provisional",
    # Of the files of an hourly schedule, one of each day keeps the schedule.
    """
    UPDATE exports x SET schedule_id = NULL, scheduled_for = NULL
     WHERE EXISTS (SELECT FROM exports o
                    WHERE o.schedule_id = x.schedule_id AND o.scheduled_for > x.scheduled_for
                      AND (o.scheduled_for AT TIME ZONE 'UTC')::date = (x.scheduled_for AT TIME ZONE 'UTC')::date)
    """,
    "ALTER TABLE exports ALTER scheduled_for TYPE DATE USING (scheduled_for AT TIME ZONE 'UTC')::date",
    "COMMENT ON COLUMN exports.scheduled_for IS 'the day of the schedule'",
    "ALTER TABLE exports DROP provisional",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
