"""Past prices are corrected, and what was used is rated again.

Revision ID: 0046
Revises: 0045
"""

from __future__ import annotations

from alembic import op

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None

TABLE = """
CREATE TABLE price_corrections (
    id UUID NOT NULL,
    account_id UUID,
    sku TEXT NOT NULL,
    region TEXT NOT NULL,
    currency TEXT NOT NULL,
    unit_price NUMERIC(20, 10) NOT NULL,
    valid_from TIMESTAMP WITH TIME ZONE NOT NULL,
    valid_to TIMESTAMP WITH TIME ZONE,
    version_id UUID NOT NULL,
    reason TEXT NOT NULL,
    requested_by UUID NOT NULL,
    effects JSONB DEFAULT '[]' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_price_corrections PRIMARY KEY (id),
    CONSTRAINT fk_price_corrections_account_id FOREIGN KEY(account_id) REFERENCES billing_accounts (id),
    CONSTRAINT ck_price_corrections_valid CHECK (valid_to > valid_from)
)
"""
NOTE_LATE_PRICE = """
CREATE OR REPLACE FUNCTION note_late_price() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A correction notes the hours of its own period: those of the versions that it cuts may be many more.
  IF coalesce(current_setting('ipucloud.correction', true), '') <> '' THEN
    RETURN NULL;
  END IF;
  IF TG_OP = 'INSERT' THEN
    PERFORM note_dirty_hours('price', NEW.valid_from, NEW.valid_to);
  ELSE
    PERFORM note_dirty_hours('price', least(OLD.valid_to, NEW.valid_to),
                             greatest(coalesce(OLD.valid_to, 'infinity'), coalesce(NEW.valid_to, 'infinity')));
  END IF;
  RETURN NULL;
END $$
"""
FORMER_NOTE_LATE_PRICE = """
CREATE OR REPLACE FUNCTION note_late_price() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM note_dirty_hours('price', NEW.valid_from, NEW.valid_to);
  ELSE
    PERFORM note_dirty_hours('price', least(OLD.valid_to, NEW.valid_to),
                             greatest(coalesce(OLD.valid_to, 'infinity'), coalesce(NEW.valid_to, 'infinity')));
  END IF;
  RETURN NULL;
END $$
"""
REFUSE_CHANGE_OF_PRICE = """
CREATE OR REPLACE FUNCTION refuse_change_of_price() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  times text[] := '{valid_to}';
BEGIN
  IF EXISTS (SELECT FROM price_corrections c
              WHERE c.id::text = current_setting('ipucloud.correction', true) AND c.finished_at IS NULL) THEN
    times := '{valid_from,valid_to,follows,corrected_by}';
  ELSIF OLD.valid_to <= app_now() OR NEW.valid_to <= app_now() THEN
    RAISE EXCEPTION 'price % can only end in the future', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF to_jsonb(NEW) - times <> to_jsonb(OLD) - times THEN
    RAISE EXCEPTION 'price % never changes but for its end', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$
"""
FORMER_REFUSE_CHANGE_OF_PRICE = """
CREATE OR REPLACE FUNCTION refuse_change_of_price() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF to_jsonb(NEW) - 'valid_to' <> to_jsonb(OLD) - 'valid_to' THEN
    RAISE EXCEPTION 'price % never changes but for its end', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF OLD.valid_to <= app_now() OR NEW.valid_to <= app_now() THEN
    RAISE EXCEPTION 'price % can only end in the future', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$
"""
CUT_PRICE = """
CREATE FUNCTION cut_price(price uuid, correction uuid) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  book text;
BEGIN
  FOREACH book IN ARRAY '{prices,contract_prices}'::text[] LOOP
    EXECUTE format('UPDATE %1$I p
       SET valid_from = CASE WHEN NOT part.before AND part.beyond THEN part.until ELSE p.valid_from END,
           valid_to = CASE WHEN part.before THEN part.since WHEN part.beyond THEN p.valid_to ELSE p.valid_from END,
           corrected_by = CASE WHEN NOT part.before AND NOT part.beyond THEN $2 END
      FROM (SELECT v.id, c.valid_from AS since, c.valid_to AS until, v.valid_from < c.valid_from AS before,
                   coalesce(v.valid_to, ''infinity'') > coalesce(c.valid_to, ''infinity'') AS beyond
              FROM %1$I v JOIN price_corrections c USING (sku, region, currency)
             WHERE v.id = $1 AND c.id = $2
               AND tstzrange(v.valid_from, v.valid_to) && tstzrange(c.valid_from, c.valid_to)) AS part
     WHERE p.id = part.id', book) USING price, correction;
  END LOOP;
END $$
"""
FOLLOW_PRICE = """
CREATE FUNCTION follow_price(version uuid, former uuid[]) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE prices n SET follows = v.id FROM prices v
   WHERE v.id = version AND n.follows = ANY (former) AND n.valid_from = v.valid_to;
  UPDATE contract_prices n SET follows = v.id FROM contract_prices v
   WHERE v.id = version AND n.follows = ANY (former) AND n.valid_from = v.valid_to;
END $$
"""
PRICES = ("prices", "contract_prices")
STATEMENTS = (
    TABLE,
    "COMMENT ON TABLE price_corrections IS"
    " 'past prices that were corrected; finished when every closed hour was rated again'",
    "COMMENT ON COLUMN price_corrections.account_id IS 'of a contract price; NULL: the list price'",
    "COMMENT ON COLUMN price_corrections.version_id IS 'the version of prices or contract_prices that holds the correction'",
    "COMMENT ON COLUMN price_corrections.effects IS 'what it changes for whom, as computed when it was accepted'",
    "CREATE INDEX ix_price_corrections_account ON price_corrections (account_id)",
    *(
        statement
        for table in PRICES
        for statement in (
            f"ALTER TABLE {table} ADD COLUMN corrected_by UUID"
            f" CONSTRAINT fk_{table}_corrected_by REFERENCES price_corrections (id)",
            f"COMMENT ON COLUMN {table}.corrected_by IS 'the correction that took all of its time'",
            f"CREATE INDEX ix_{table}_corrected_by ON {table} (corrected_by)",
            f"ALTER TABLE {table} DROP CONSTRAINT ck_{table}_valid",
            f"ALTER TABLE {table} ADD CONSTRAINT ck_{table}_valid"
            " CHECK (valid_to > valid_from OR valid_to = valid_from AND corrected_by IS NOT NULL)",
        )
    ),
    NOTE_LATE_PRICE,
    REFUSE_CHANGE_OF_PRICE,
    CUT_PRICE,
    FOLLOW_PRICE,
    "GRANT SELECT, INSERT ON price_corrections TO ipucloud_app",
    "GRANT UPDATE (effects, finished_at) ON price_corrections TO ipucloud_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP FUNCTION follow_price(uuid, uuid[])")
    op.execute("DROP FUNCTION cut_price(uuid, uuid)")
    op.execute(FORMER_REFUSE_CHANGE_OF_PRICE)
    op.execute(FORMER_NOTE_LATE_PRICE)
    for table in PRICES:
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT ck_{table}_valid")
        op.execute(f"ALTER TABLE {table} DROP COLUMN corrected_by")
        op.execute(f"ALTER TABLE {table} ADD CONSTRAINT ck_{table}_valid CHECK (valid_to > valid_from)")
    op.execute("DROP TABLE price_corrections")
