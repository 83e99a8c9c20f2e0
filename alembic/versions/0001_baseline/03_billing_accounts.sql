-- billing/accounts/: billing accounts, and the projects that they pay for.

CREATE TABLE billing_accounts (
    id uuid NOT NULL,
    name text NOT NULL,
    currency text,
    legal_name text,
    address text,
    tax_id text,
    payment_days integer DEFAULT '30' NOT NULL,
    version bigint DEFAULT '1' NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    country text,
    tax_exempt boolean DEFAULT false NOT NULL,
    e_invoice jsonb DEFAULT '{}' NOT NULL,
    CONSTRAINT pk_billing_accounts PRIMARY KEY (id),
    CONSTRAINT ck_billing_accounts_country CHECK (country ~ '^[A-Z]{2}$'),
    CONSTRAINT ck_billing_accounts_currency CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT ck_billing_accounts_payment_days CHECK (payment_days BETWEEN 0 AND 365)
);
COMMENT ON COLUMN billing_accounts.id IS 'a project''s first account has the project''s id';
COMMENT ON COLUMN billing_accounts.currency IS 'NULL: the installation''s';
COMMENT ON COLUMN billing_accounts.payment_days IS 'from invoice to due date';
COMMENT ON COLUMN billing_accounts.country IS 'NULL: the seller''s';
COMMENT ON COLUMN billing_accounts.e_invoice IS 'further facts of electronic invoices';
GRANT SELECT, INSERT, UPDATE (name, legal_name, address, tax_id, payment_days, version, country, tax_exempt,
    e_invoice) ON billing_accounts TO ipucloud_app;

CREATE TABLE project_accounts (
    project_id uuid NOT NULL,
    valid_from timestamptz NOT NULL,
    account_id uuid NOT NULL,
    CONSTRAINT pk_project_accounts PRIMARY KEY (project_id, valid_from),
    CONSTRAINT fk_project_accounts_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT ck_project_accounts_whole_hour CHECK (date_trunc('hour', valid_from, 'UTC') = valid_from),
    CONSTRAINT fk_project_accounts_account_id FOREIGN KEY (account_id) REFERENCES billing_accounts (id)
);
COMMENT ON TABLE project_accounts IS 'who pays for a project''s hours';
COMMENT ON COLUMN project_accounts.valid_from IS 'until the next row of the project';
CREATE INDEX ix_project_accounts_account ON project_accounts (account_id);
GRANT SELECT, INSERT ON project_accounts TO ipucloud_app;

CREATE FUNCTION open_default_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO billing_accounts (id, name) VALUES (NEW.id, NEW.name);
  INSERT INTO project_accounts (project_id, account_id, valid_from) VALUES (NEW.id, NEW.id, 'epoch');
  RETURN NULL;
END $$;

CREATE TRIGGER projects_account AFTER INSERT ON projects FOR EACH ROW EXECUTE FUNCTION open_default_account();

CREATE FUNCTION payer_of(project uuid, instant timestamptz) RETURNS TABLE (account_id uuid)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT a.account_id FROM project_accounts a
   WHERE a.project_id = project AND a.valid_from <= instant ORDER BY a.valid_from DESC LIMIT 1
$$;

CREATE FUNCTION projects_paid_by(account uuid) RETURNS TABLE (project_id uuid)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT ever.project_id
    FROM (SELECT DISTINCT a.project_id FROM project_accounts a WHERE a.account_id = account) AS ever
   WHERE account = (SELECT payer.account_id FROM payer_of(ever.project_id, app_now()) AS payer)
$$;

CREATE FUNCTION payees() RETURNS SETOF uuid LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
    SET search_path = public, pg_temp
    AS $$ SELECT project_id FROM project_accounts WHERE account_id = payer_id() $$;
