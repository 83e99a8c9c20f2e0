-- billing/exports/.

CREATE TABLE export_limits (
    project_id uuid,
    per_day integer NOT NULL,
    changed_at timestamptz DEFAULT app_now() NOT NULL,
    account_id uuid,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    CONSTRAINT pk_export_limits PRIMARY KEY (id),
    CONSTRAINT fk_export_limits_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT ck_export_limits_one_home CHECK (num_nonnulls(project_id, account_id) = 1),
    CONSTRAINT uq_export_limits_project_id UNIQUE (project_id),
    CONSTRAINT uq_export_limits_account_id UNIQUE (account_id),
    CONSTRAINT ck_export_limits_per_day CHECK (per_day BETWEEN 0 AND 10000),
    CONSTRAINT fk_export_limits_account_id FOREIGN KEY (account_id) REFERENCES billing_accounts (id)
);
COMMENT ON TABLE export_limits IS
    'how many exports a project or an account may request within 24 hours, where an operator has set it';
COMMENT ON COLUMN export_limits.project_id IS 'NULL: of an account';
COMMENT ON COLUMN export_limits.account_id IS 'NULL: of a project';
GRANT SELECT, INSERT, UPDATE ON export_limits TO ipucloud_app;

CREATE TABLE export_months (
    month date NOT NULL,
    frozen_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_export_months PRIMARY KEY (month),
    CONSTRAINT fk_export_months_month FOREIGN KEY (month) REFERENCES billing_months (month)
);
COMMENT ON TABLE export_months IS 'append-only; sealed months whose names were written down';
GRANT SELECT, INSERT ON export_months TO ipucloud_app;

CREATE TABLE s3_connections (
    id uuid NOT NULL,
    project_id uuid,
    name text NOT NULL,
    endpoint text NOT NULL,
    region text NOT NULL,
    bucket text NOT NULL,
    prefix text NOT NULL,
    access_key_id text NOT NULL,
    secret text,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    deleted_at timestamptz,
    attachable boolean DEFAULT false NOT NULL,
    tested_at timestamptz,
    test_failed text,
    test_detail text,
    account_id uuid,
    CONSTRAINT pk_s3_connections PRIMARY KEY (id),
    CONSTRAINT fk_s3_connections_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT ck_s3_connections_one_home CHECK (num_nonnulls(project_id, account_id) = 1),
    CONSTRAINT ck_s3_connections_test_failed CHECK (test_failed IN ('secret', 'name', 'address', 'connection', 'tls',
        'credentials', 'bucket', 'region', 'permission', 'service')),
    CONSTRAINT ck_s3_connections_test CHECK (num_nulls(test_failed, test_detail) IN (0, 2)),
    CONSTRAINT uq_s3_connections_project_id_id UNIQUE (project_id, id),
    CONSTRAINT uq_s3_connections_account_id_id UNIQUE (account_id, id),
    CONSTRAINT ck_s3_connections_attachable CHECK (NOT attachable OR project_id IS NOT NULL),
    CONSTRAINT ck_s3_connections_secret CHECK ((secret IS NULL) = (deleted_at IS NOT NULL)),
    CONSTRAINT fk_s3_connections_account_id FOREIGN KEY (account_id) REFERENCES billing_accounts (id)
);
COMMENT ON COLUMN s3_connections.project_id IS 'NULL: of an account';
COMMENT ON COLUMN s3_connections.secret IS 'sealed; NULL once it is deleted';
COMMENT ON COLUMN s3_connections.tested_at IS 'NULL: not since its last change';
COMMENT ON COLUMN s3_connections.test_failed IS 'NULL: the test succeeded';
COMMENT ON COLUMN s3_connections.account_id IS 'NULL: of a project';
CREATE UNIQUE INDEX uq_s3_connections_account_name ON s3_connections (account_id, name) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX uq_s3_connections_name ON s3_connections (project_id, name) WHERE deleted_at IS NULL;
GRANT SELECT, INSERT, UPDATE (endpoint, region, bucket, prefix, access_key_id, secret, deleted_at, attachable,
    tested_at, test_failed, test_detail) ON s3_connections TO ipucloud_app;

CREATE TABLE export_names (
    month date NOT NULL,
    kind text NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    tags jsonb,
    CONSTRAINT pk_export_names PRIMARY KEY (month, kind, id),
    CONSTRAINT ck_export_names_kind CHECK (kind IN ('account', 'project', 'cluster')),
    CONSTRAINT fk_export_names_month FOREIGN KEY (month) REFERENCES export_months (month)
);
COMMENT ON TABLE export_names IS 'append-only; what was called how when its month was sealed';
GRANT SELECT, INSERT ON export_names TO ipucloud_app;

CREATE TABLE export_schedules (
    id uuid NOT NULL,
    project_id uuid,
    connection_id uuid NOT NULL,
    dataset text NOT NULL,
    focus_version text NOT NULL,
    format text NOT NULL,
    every text NOT NULL,
    next_at timestamptz NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    deleted_at timestamptz,
    provisional boolean DEFAULT false NOT NULL,
    account_id uuid,
    CONSTRAINT pk_export_schedules PRIMARY KEY (id),
    CONSTRAINT fk_export_schedules_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_export_schedules_project_id_connection_id FOREIGN KEY (project_id, connection_id)
        REFERENCES s3_connections (project_id, id),
    CONSTRAINT fk_export_schedules_account_id_connection_id FOREIGN KEY (account_id, connection_id)
        REFERENCES s3_connections (account_id, id),
    CONSTRAINT ck_export_schedules_one_home CHECK (num_nonnulls(project_id, account_id) = 1),
    CONSTRAINT ck_export_schedules_dataset CHECK (dataset IN ('cost-and-usage', 'billing-period', 'invoice-detail')),
    CONSTRAINT ck_export_schedules_focus_version CHECK (focus_version IN ('1.2', '1.4')),
    CONSTRAINT ck_export_schedules_format CHECK (format IN ('csv', 'parquet')),
    CONSTRAINT ck_export_schedules_every CHECK (every IN ('hour', 'day', 'month')),
    CONSTRAINT uq_export_schedules_project_id_id UNIQUE (project_id, id),
    CONSTRAINT uq_export_schedules_account_id_id UNIQUE (account_id, id),
    CONSTRAINT fk_export_schedules_account_id FOREIGN KEY (account_id) REFERENCES billing_accounts (id)
);
COMMENT ON TABLE export_schedules IS
    'hour: the day of the hour before, so far; day: the month of the day before, so far; month: the one before, once it is sealed';
COMMENT ON COLUMN export_schedules.project_id IS 'NULL: of an account';
COMMENT ON COLUMN export_schedules.account_id IS 'NULL: of a project';
CREATE INDEX ix_export_schedules_account ON export_schedules (account_id, connection_id);
CREATE INDEX ix_export_schedules_connection ON export_schedules (project_id, connection_id);
CREATE INDEX ix_export_schedules_due ON export_schedules (next_at) WHERE deleted_at IS NULL;
GRANT SELECT, INSERT, UPDATE (next_at, deleted_at) ON export_schedules TO ipucloud_app;

CREATE TABLE exports (
    id uuid NOT NULL,
    project_id uuid,
    account_id uuid,
    connection_id uuid,
    schedule_id uuid,
    scheduled_for timestamptz,
    dataset text NOT NULL,
    focus_version text NOT NULL,
    format text NOT NULL,
    month date,
    fence bigint,
    manifest jsonb,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    built_at timestamptz,
    delivered_at timestamptz,
    expires_at timestamptz,
    deliveries integer DEFAULT '0' NOT NULL,
    last_error text,
    since date,
    until date,
    provisional boolean DEFAULT false NOT NULL,
    owner_account_id uuid,
    CONSTRAINT pk_exports PRIMARY KEY (id),
    CONSTRAINT fk_exports_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_exports_project_id_connection_id FOREIGN KEY (project_id, connection_id)
        REFERENCES s3_connections (project_id, id),
    CONSTRAINT fk_exports_project_id_schedule_id FOREIGN KEY (project_id, schedule_id)
        REFERENCES export_schedules (project_id, id),
    CONSTRAINT fk_exports_owner_account_id_connection_id FOREIGN KEY (owner_account_id, connection_id)
        REFERENCES s3_connections (account_id, id),
    CONSTRAINT fk_exports_owner_account_id_schedule_id FOREIGN KEY (owner_account_id, schedule_id)
        REFERENCES export_schedules (account_id, id),
    CONSTRAINT ck_exports_one_home CHECK (num_nonnulls(project_id, owner_account_id) = 1 AND (owner_account_id IS NULL
        OR owner_account_id IS NOT DISTINCT FROM account_id)),
    CONSTRAINT ck_exports_dataset CHECK (dataset IN ('cost-and-usage', 'billing-period', 'invoice-detail')),
    CONSTRAINT ck_exports_focus_version CHECK (focus_version IN ('1.2', '1.4')),
    CONSTRAINT ck_exports_format CHECK (format IN ('csv', 'parquet')),
    CONSTRAINT ck_exports_month CHECK (extract(day FROM month) = 1),
    CONSTRAINT ck_exports_period CHECK (num_nulls(since, until) = CASE WHEN month IS NULL THEN 0 ELSE 2 END AND until
        - since BETWEEN 1 AND 366),
    CONSTRAINT ck_exports_built CHECK (num_nulls(fence, manifest, built_at, expires_at) IN (0, 4)),
    CONSTRAINT ck_exports_scheduled CHECK ((schedule_id IS NULL) = (scheduled_for IS NULL)),
    CONSTRAINT uq_exports_project_id_id UNIQUE (project_id, id),
    CONSTRAINT uq_exports_owner_account_id_id UNIQUE (owner_account_id, id),
    CONSTRAINT uq_exports_scheduled UNIQUE (schedule_id, scheduled_for),
    CONSTRAINT fk_exports_owner_account_id FOREIGN KEY (owner_account_id) REFERENCES billing_accounts (id),
    CONSTRAINT fk_exports_account_id FOREIGN KEY (account_id) REFERENCES billing_accounts (id)
);
COMMENT ON COLUMN exports.project_id IS 'NULL: of an account';
COMMENT ON COLUMN exports.account_id IS 'whose whole bill it is; NULL: the part of the project';
COMMENT ON COLUMN exports.connection_id IS 'NULL: for download';
COMMENT ON COLUMN exports.month IS 'NULL: another period than a month';
COMMENT ON COLUMN exports.fence IS 'of the claim that made the file; its chunks hold';
COMMENT ON COLUMN exports.deliveries IS 'that failed';
COMMENT ON COLUMN exports.until IS 'the day behind the last one';
COMMENT ON COLUMN exports.provisional IS 'with hours that are not closed';
COMMENT ON COLUMN exports.owner_account_id IS 'NULL: of a project';
CREATE INDEX ix_exports_account ON exports (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX ix_exports_connection ON exports (project_id, connection_id) WHERE connection_id IS NOT NULL;
CREATE INDEX ix_exports_expires ON exports (expires_at);
CREATE INDEX ix_exports_owner_connection ON exports (owner_account_id, connection_id) WHERE connection_id IS NOT NULL;
CREATE INDEX ix_exports_owner_created ON exports (owner_account_id, created_at, id);
CREATE INDEX ix_exports_owner_schedule ON exports (owner_account_id, schedule_id) WHERE schedule_id IS NOT NULL;
CREATE INDEX ix_exports_project_created ON exports (project_id, created_at, id);
CREATE INDEX ix_exports_schedule ON exports (project_id, schedule_id) WHERE schedule_id IS NOT NULL;
GRANT SELECT, INSERT, UPDATE (fence, manifest, built_at, delivered_at, expires_at, deliveries, last_error) ON exports
    TO ipucloud_app;

CREATE TABLE export_chunks (
    export_id uuid NOT NULL,
    fence bigint NOT NULL,
    ordinal integer NOT NULL,
    data bytea NOT NULL,
    CONSTRAINT pk_export_chunks PRIMARY KEY (export_id, fence, ordinal),
    CONSTRAINT fk_export_chunks_export_id FOREIGN KEY (export_id) REFERENCES exports (id)
);
COMMENT ON TABLE export_chunks IS
    'a file in pieces, until it expires; those of another fence than the export''s are left-overs';
GRANT SELECT, INSERT, DELETE ON export_chunks TO ipucloud_app;
