"""Database functions and triggers of accounts, as created by migrations."""

from __future__ import annotations

OPEN_DEFAULT_ACCOUNT = """
CREATE FUNCTION open_default_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO billing_accounts (id, name) VALUES (NEW.id, NEW.name);
  INSERT INTO project_accounts (project_id, account_id, valid_from) VALUES (NEW.id, NEW.id, 'epoch');
  RETURN NULL;
END $$
"""
OPEN_DEFAULT_ACCOUNT_TRIGGER = """
CREATE TRIGGER projects_account AFTER INSERT ON projects FOR EACH ROW EXECUTE FUNCTION open_default_account()
"""

PAYER_OF = """
CREATE FUNCTION payer_of(project uuid, instant timestamptz) RETURNS TABLE (account_id uuid)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT a.account_id FROM project_accounts a
   WHERE a.project_id = project AND a.valid_from <= instant ORDER BY a.valid_from DESC LIMIT 1
$$
"""
"""The account that pays for the project at that instant: one row. Inlined by the planner."""

PROJECTS_PAID_BY = """
CREATE FUNCTION projects_paid_by(account uuid) RETURNS TABLE (project_id uuid)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT ever.project_id
    FROM (SELECT DISTINCT a.project_id FROM project_accounts a WHERE a.account_id = account) AS ever
   WHERE account = (SELECT payer.account_id FROM payer_of(ever.project_id, app_now()) AS payer)
$$
"""
"""The projects that the account pays for now. Inlined by the planner."""

PAYEES = """
CREATE FUNCTION payees() RETURNS SETOF uuid LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
    SET search_path = public, pg_temp
    AS $$ SELECT project_id FROM project_accounts WHERE account_id = payer_id() $$
"""
"""The projects that the reading account has ever paid for; it sees all rows, as its owner does."""
