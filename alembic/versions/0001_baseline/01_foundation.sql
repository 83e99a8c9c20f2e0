-- The role for the reads of tenants, privileges on the schema, the clock; whose rows are read and changed.

DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'ipucloud_tenant') THEN
    CREATE ROLE ipucloud_tenant NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
  END IF;
  IF NOT pg_has_role('ipucloud_app', 'ipucloud_tenant', 'MEMBER') THEN
    GRANT ipucloud_tenant TO ipucloud_app;
  END IF;
END $$;

GRANT USAGE ON SCHEMA public TO ipucloud_app;
GRANT USAGE ON SCHEMA public TO ipucloud_tenant;
GRANT SELECT ON alembic_version TO ipucloud_app;

CREATE TYPE textrange AS RANGE (subtype = text, collation = "C");

CREATE FUNCTION app_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT statement_timestamp()';

CREATE FUNCTION tenant_id() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT nullif(current_setting('ipucloud.tenant', true), '')::uuid $$;

CREATE FUNCTION tenant_token() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT nullif(current_setting('ipucloud.tenant_token', true), '')::uuid $$;

CREATE FUNCTION payer_id() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT nullif(current_setting('ipucloud.payer', true), '')::uuid $$;

CREATE FUNCTION changed_project() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT nullif(current_setting('ipucloud.changed_project', true), '')::uuid $$;

CREATE FUNCTION changed_account() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT nullif(current_setting('ipucloud.changed_account', true), '')::uuid $$;
