"""The audit log: who asked for what, with which result, in a chain of hashes.

Revision ID: 0076
Revises: 0082
"""

from __future__ import annotations

from alembic import op

revision = "0076"
down_revision = "0082"
branch_labels = None
depends_on = None

UP = (
    """
CREATE FUNCTION refuse_change_of_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of % is refused: entries of the audit log stay as they were sealed', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'integrity_constraint_violation';
END $$
    """,
    """
    CREATE TABLE audit_log (
        id UUID NOT NULL,
        operation TEXT NOT NULL,
        method TEXT NOT NULL,
        project_id UUID,
        account_id UUID,
        token_id UUID,
        actor TEXT,
        address TEXT NOT NULL,
        agent TEXT NOT NULL,
        request_id TEXT NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        completed_at TIMESTAMP WITH TIME ZONE,
        status SMALLINT,
        code TEXT,
        objects JSONB DEFAULT '{}' NOT NULL,
        seq BIGINT,
        previous_hash BYTEA,
        hash BYTEA,
        CONSTRAINT pk_audit_log PRIMARY KEY (id),
        CONSTRAINT fk_audit_log_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT ck_audit_log_sealed CHECK (num_nulls(seq, previous_hash, hash) IN (0, 3)),
        CONSTRAINT ck_audit_log_completed CHECK (seq IS NULL OR completed_at IS NOT NULL)
    )
    """,
    "COMMENT ON TABLE audit_log IS 'a row is written before the call and completed after it; sealed rows never change'",
    "COMMENT ON COLUMN audit_log.operation IS 'operation id of the API'",
    "COMMENT ON COLUMN audit_log.project_id IS 'NULL: of none that the caller has access to'",
    "COMMENT ON COLUMN audit_log.account_id IS 'of a payer; NULL: others'",
    "COMMENT ON COLUMN audit_log.token_id IS 'NULL: whoever signs in, and did not'",
    "COMMENT ON COLUMN audit_log.actor IS 'e-mail of the person, or name of the token'",
    "COMMENT ON COLUMN audit_log.status IS 'NULL of a completed entry: abandoned, and its outcome is unknown'",
    "COMMENT ON COLUMN audit_log.code IS 'of the problem'",
    "COMMENT ON COLUMN audit_log.objects IS 'ids that the request concerned'",
    "COMMENT ON COLUMN audit_log.seq IS 'place in the chain; NULL: not sealed yet'",
    "COMMENT ON COLUMN audit_log.hash IS 'SHA-256 of the previous hash and the entry'",
    "CREATE UNIQUE INDEX uq_audit_log_seq ON audit_log (seq)",
    "CREATE INDEX ix_audit_log_project ON audit_log (project_id, created_at, id)",
    "CREATE INDEX ix_audit_log_created ON audit_log (created_at, id)",
    "CREATE INDEX ix_audit_log_open ON audit_log (created_at) WHERE seq IS NULL",
    "CREATE TRIGGER audit_log_final BEFORE UPDATE ON audit_log FOR EACH ROW WHEN (OLD.seq IS NOT NULL)"
    " EXECUTE FUNCTION refuse_change_of_audit_log()",
    "CREATE TRIGGER audit_log_kept BEFORE DELETE ON audit_log FOR EACH ROW"
    " EXECUTE FUNCTION refuse_change_of_audit_log()",
    "CREATE TRIGGER audit_log_whole BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT"
    " EXECUTE FUNCTION refuse_change_of_audit_log()",
    "GRANT SELECT, INSERT ON audit_log TO ipucloud_app",
    "GRANT UPDATE (completed_at, status, code, objects, seq, previous_hash, hash, token_id, actor) ON audit_log"
    " TO ipucloud_app",
)
DOWN = ("DROP TABLE audit_log", "DROP FUNCTION refuse_change_of_audit_log()")


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
