"""The audit log."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.db.base import instant, json_column, make_with, metadata, tenant_key

REFUSE_CHANGE_OF_AUDIT_LOG = """
CREATE FUNCTION refuse_change_of_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND OLD.seq <= (SELECT seq FROM audit_log_start) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION '% of % is refused: entries of the audit log stay as they were sealed', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'integrity_constraint_violation';
END $$
"""
audit_log = sa.Table(
    "audit_log",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("operation", sa.Text, nullable=False, comment="operation id of the API"),
    sa.Column("method", sa.Text, nullable=False),
    sa.Column("project_id", sa.Uuid, comment="NULL: of none that the caller has access to"),
    sa.Column("account_id", sa.Uuid, comment="of a payer; NULL: others"),
    sa.Column("token_id", sa.Uuid, comment="NULL: whoever signs in, and did not"),
    sa.Column("actor", sa.Text, comment="e-mail of the person, or name of the token"),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("agent", sa.Text, nullable=False),
    sa.Column("request_id", sa.Text, nullable=False),
    instant("created_at", default_now=True),
    instant("completed_at"),
    sa.Column("status", sa.SmallInteger, comment="NULL of a completed entry: abandoned, and its outcome is unknown"),
    sa.Column("code", sa.Text, comment="of the problem"),
    json_column("objects", default="'{}'", comment="ids that the request concerned"),
    sa.Column("seq", sa.BigInteger, comment="place in the chain; NULL: not sealed yet"),
    sa.Column("previous_hash", sa.LargeBinary),
    sa.Column("hash", sa.LargeBinary, comment="SHA-256 of the previous hash and the entry"),
    tenant_key("audit_log"),
    sa.CheckConstraint("num_nulls(seq, previous_hash, hash) IN (0, 3)", name="sealed"),
    sa.CheckConstraint("seq IS NULL OR completed_at IS NOT NULL", name="completed"),
    comment="a row is written before the call and completed after it; sealed rows never change",
)
sa.Index("uq_audit_log_seq", audit_log.c.seq, unique=True)
sa.Index("ix_audit_log_project", audit_log.c.project_id, audit_log.c.created_at, audit_log.c.id)
sa.Index("ix_audit_log_created", audit_log.c.created_at, audit_log.c.id)
sa.Index("ix_audit_log_open", audit_log.c.created_at, postgresql_where=audit_log.c.seq.is_(None))
TRIGGERS = (
    "CREATE TRIGGER audit_log_final BEFORE UPDATE ON audit_log FOR EACH ROW WHEN (OLD.seq IS NOT NULL)"
    " EXECUTE FUNCTION refuse_change_of_audit_log()",
    "CREATE TRIGGER audit_log_kept BEFORE DELETE ON audit_log FOR EACH ROW"
    " EXECUTE FUNCTION refuse_change_of_audit_log()",
    "CREATE TRIGGER audit_log_whole BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT"
    " EXECUTE FUNCTION refuse_change_of_audit_log()",
)
make_with(audit_log, REFUSE_CHANGE_OF_AUDIT_LOG, *TRIGGERS)

PRUNE_AUDIT_LOG = """
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
"""
"""The only way to remove entries: the oldest, in the chain's order, if they are older than so many days.

The newest sealed entry always stays, for the chain to go on from it. The lock is that of sealing.
"""
audit_log_start = sa.Table(
    "audit_log_start",
    metadata,
    sa.Column("id", sa.Boolean, sa.CheckConstraint("id", name="one"), primary_key=True, server_default=sa.true()),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sa.Column("hash", sa.LargeBinary, nullable=False),
    instant("removed_at", default_now=True),
    comment="the last entry that was removed because of its age: the chain begins after it",
)
make_with(audit_log_start, PRUNE_AUDIT_LOG)
