"""What the database does about accounts: functions and triggers, as migrations make them."""

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
