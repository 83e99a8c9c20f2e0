"""The audit log's oldest entries can be removed, by one function that keeps the rest of the chain verifiable.

Revision ID: 0240
Revises: 0181
"""

from __future__ import annotations

from alembic import op

revision = "0240"
down_revision = "0181"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE audit_log_start (
        id BOOLEAN DEFAULT true NOT NULL,
        seq BIGINT NOT NULL,
        hash BYTEA NOT NULL,
        removed_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_audit_log_start PRIMARY KEY (id),
        CONSTRAINT ck_audit_log_start_one CHECK (id)
    )
    """,
    "COMMENT ON TABLE audit_log_start IS 'the last entry that was removed because of its age: the chain begins after it'",
    "GRANT SELECT ON audit_log_start TO ipucloud_app",
    """
CREATE OR REPLACE FUNCTION refuse_change_of_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND OLD.seq <= (SELECT seq FROM audit_log_start) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION '% of % is refused: entries of the audit log stay as they were sealed', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'integrity_constraint_violation';
END $$
    """,
    """
CREATE FUNCTION prune_audit_log(days integer, at_most integer) RETURNS bigint LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  removed bigint;
BEGIN
  IF days < 90 THEN
    RAISE EXCEPTION 'the audit log keeps its entries for at least 90 days' USING ERRCODE = 'check_violation';
  END IF;
  PERFORM pg_advisory_xact_lock(7220601);
  INSERT INTO audit_log_start AS start (seq, hash)
  SELECT last.seq, last.hash
    FROM (SELECT seq, hash, lead(seq) OVER older AS next,
                 bool_and(created_at < app_now() - make_interval(days => days)) OVER older AS old
            FROM (SELECT * FROM audit_log WHERE seq IS NOT NULL ORDER BY seq LIMIT at_most + 1) AS oldest
          WINDOW older AS (ORDER BY seq)) AS last
   WHERE last.old AND last.next IS NOT NULL
   ORDER BY last.seq DESC LIMIT 1
      ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, removed_at = app_now();
  DELETE FROM audit_log WHERE seq <= (SELECT seq FROM audit_log_start);
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END $$
    """,
)
DOWN = (
    "DROP FUNCTION prune_audit_log",
    """
CREATE OR REPLACE FUNCTION refuse_change_of_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of % is refused: entries of the audit log stay as they were sealed', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'integrity_constraint_violation';
END $$
    """,
    "DROP TABLE audit_log_start",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
