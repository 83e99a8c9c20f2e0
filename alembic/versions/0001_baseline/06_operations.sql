-- operations/, events/, reconcile/, idempotency/, invariants/, webhooks/, notifications/.

CREATE TABLE freezes (
    id uuid NOT NULL,
    region text,
    reason text NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    expires_at timestamptz NOT NULL,
    ended_at timestamptz,
    ended_by uuid,
    end_reason text,
    CONSTRAINT pk_freezes PRIMARY KEY (id),
    CONSTRAINT ck_freezes_end
        CHECK (num_nulls(ended_at, end_reason) IN (0, 2) AND (ended_by IS NULL OR ended_at IS NOT NULL))
);
COMMENT ON TABLE freezes IS
    'while one is live, no step that removes or switches off begins; live: not ended, not expired';
COMMENT ON COLUMN freezes.region IS 'NULL: every region';
COMMENT ON COLUMN freezes.created_by IS 'token';
COMMENT ON COLUMN freezes.ended_by IS 'token; NULL when it expired';
CREATE UNIQUE INDEX uq_freezes_open ON freezes (region) NULLS NOT DISTINCT WHERE ended_at IS NULL;
GRANT SELECT, INSERT, UPDATE (ended_at, ended_by, end_reason) ON freezes TO ipucloud_app;

CREATE TABLE idempotency_keys (
    scope uuid NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    status smallint NOT NULL,
    headers jsonb DEFAULT '{}' NOT NULL,
    body bytea NOT NULL,
    subject_id uuid,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_idempotency_keys PRIMARY KEY (scope, key)
);
COMMENT ON COLUMN idempotency_keys.scope IS 'project, token, or the nil uuid for the platform';
COMMENT ON COLUMN idempotency_keys.subject_id IS 'kept until 24 h after this object is gone';
CREATE INDEX ix_idempotency_keys_created ON idempotency_keys (created_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys TO ipucloud_app;

CREATE TABLE work (
    kind text NOT NULL,
    key text NOT NULL,
    project_id uuid NOT NULL,
    run_at timestamptz,
    wake_seq bigint DEFAULT '1' NOT NULL,
    claimed_seq bigint DEFAULT '0' NOT NULL,
    lease_owner bigint,
    lease_until timestamptz,
    fence bigint DEFAULT '0' NOT NULL,
    attempt integer DEFAULT '0' NOT NULL,
    last_error text,
    parked_at timestamptz,
    CONSTRAINT pk_work PRIMARY KEY (kind, key),
    CONSTRAINT ck_work_lease CHECK ((lease_owner IS NULL) = (lease_until IS NULL))
);
COMMENT ON COLUMN work.project_id IS 'for turns between projects; the nil uuid for the platform';
CREATE INDEX ix_work_due ON work (project_id, run_at) WHERE run_at IS NOT NULL AND lease_owner IS NULL;
CREATE INDEX ix_work_leased ON work (lease_owner) WHERE lease_owner IS NOT NULL;
GRANT SELECT, INSERT, UPDATE, DELETE ON work TO ipucloud_app;

CREATE TABLE events (
    id bigint GENERATED ALWAYS AS IDENTITY,
    transaction bigint DEFAULT (pg_current_xact_id()::text)::bigint NOT NULL,
    project_id uuid,
    type text NOT NULL,
    subject_type text NOT NULL,
    subject_id uuid,
    operation_id uuid,
    request_id text,
    data jsonb DEFAULT '{}' NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    operators boolean DEFAULT 'false' NOT NULL,
    region text,
    account_id uuid,
    actor text DEFAULT nullif(current_setting('ipucloud.actor', true), ''),
    actor_home uuid DEFAULT CAST(nullif(current_setting('ipucloud.actor_home', true), '') AS uuid),
    address text DEFAULT nullif(current_setting('ipucloud.address', true), ''),
    agent text DEFAULT nullif(current_setting('ipucloud.agent', true), ''),
    CONSTRAINT pk_events PRIMARY KEY (id),
    CONSTRAINT fk_events_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT ck_events_reader CHECK (num_nonnulls(project_id, account_id) = 1 OR operators AND account_id IS NULL),
    CONSTRAINT ck_events_subject CHECK (project_id IS NULL AND account_id IS NULL OR subject_id IS NOT NULL),
    CONSTRAINT ck_events_origin CHECK (length(address) <= 64 AND length(agent) <= 200),
    CONSTRAINT fk_events_account_id FOREIGN KEY (account_id) REFERENCES billing_accounts (id)
);
COMMENT ON COLUMN events.transaction IS 'readers stay below the oldest open one';
COMMENT ON COLUMN events.project_id IS 'NULL: of an account, or of the platform, for operators only';
COMMENT ON COLUMN events.subject_id IS 'NULL: the region';
COMMENT ON COLUMN events.operators IS 'operators read it too';
COMMENT ON COLUMN events.region IS 'its slug; NULL: none';
COMMENT ON COLUMN events.account_id IS 'whose payers read it; NULL: of a project, or of the platform';
COMMENT ON COLUMN events.actor IS 'e-mail of the person, or name of the token, that caused it; NULL: no request';
COMMENT ON COLUMN events.actor_home IS
    'project or account of that token, whose readers see the next two; NULL: the platform''s, or none';
COMMENT ON COLUMN events.address IS 'IP address that the request came from; NULL: no request';
COMMENT ON COLUMN events.agent IS 'program that sent it, as it says; NULL: no request, or it does not say';
CREATE INDEX ix_events_account ON events (account_id, transaction, id) WHERE account_id IS NOT NULL;
CREATE INDEX ix_events_feed ON events (project_id, transaction, id);
CREATE INDEX ix_events_operators ON events (transaction, id) WHERE operators;
CREATE INDEX ix_events_request ON events (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX ix_events_subject ON events (project_id, subject_id, transaction, id);
GRANT SELECT, INSERT ON events TO ipucloud_app;

CREATE TABLE notification_subscriptions (
    user_id uuid NOT NULL,
    project_id uuid NOT NULL,
    event_types text[] NOT NULL,
    after_transaction bigint NOT NULL,
    after_id bigint NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_notification_subscriptions PRIMARY KEY (user_id, project_id),
    CONSTRAINT ck_notification_subscriptions_event_types CHECK (event_types <> '{}'),
    CONSTRAINT fk_notification_subscriptions_user_id FOREIGN KEY (user_id) REFERENCES users (id),
    CONSTRAINT fk_notification_subscriptions_project_id FOREIGN KEY (project_id) REFERENCES projects (id)
);
COMMENT ON TABLE notification_subscriptions IS 'events of a project that a person gets by e-mail';
COMMENT ON COLUMN notification_subscriptions.event_types IS 'such as cluster.*';
COMMENT ON COLUMN notification_subscriptions.after_transaction IS 'transaction of the last event that was read';
CREATE INDEX ix_notification_subscriptions_project ON notification_subscriptions (project_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON notification_subscriptions TO ipucloud_app;

CREATE TABLE site_findings (
    rule text NOT NULL,
    region text NOT NULL,
    object_id text NOT NULL,
    host text DEFAULT '' NOT NULL,
    project_id uuid,
    detail text NOT NULL,
    first_seen_at timestamptz DEFAULT app_now() NOT NULL,
    last_seen_at timestamptz DEFAULT app_now() NOT NULL,
    sightings integer DEFAULT '1' NOT NULL,
    left_because text,
    CONSTRAINT pk_site_findings PRIMARY KEY (rule, region, object_id, host),
    CONSTRAINT fk_site_findings_project_id FOREIGN KEY (project_id) REFERENCES projects (id)
);
COMMENT ON TABLE site_findings IS 'what the last sweep found at the sites against a rule';
COMMENT ON COLUMN site_findings.host IS 'empty: not on a host';
COMMENT ON COLUMN site_findings.project_id IS 'NULL: not a customer''s object';
COMMENT ON COLUMN site_findings.sightings IS 'sweeps in a row that found it';
COMMENT ON COLUMN site_findings.left_because IS 'why the last sweep left it as it is';
CREATE INDEX ix_site_findings_project ON site_findings (project_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON site_findings TO ipucloud_app;

CREATE TABLE webhooks (
    id uuid NOT NULL,
    project_id uuid,
    url text NOT NULL,
    description text DEFAULT '' NOT NULL,
    event_types text[] NOT NULL,
    secret text NOT NULL,
    previous_secret text,
    previous_until timestamptz,
    disabled text,
    disabled_at timestamptz,
    failing_since timestamptz,
    after_transaction bigint NOT NULL,
    after_id bigint NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    version bigint DEFAULT '1' NOT NULL,
    account_id uuid,
    CONSTRAINT pk_webhooks PRIMARY KEY (id),
    CONSTRAINT fk_webhooks_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT ck_webhooks_disabled CHECK (disabled IN ('by_owner', 'gone', 'failing')),
    CONSTRAINT ck_webhooks_disabled_at CHECK ((disabled IS NULL) = (disabled_at IS NULL)),
    CONSTRAINT ck_webhooks_previous CHECK ((previous_secret IS NULL) = (previous_until IS NULL)),
    CONSTRAINT ck_webhooks_one_home CHECK (num_nonnulls(project_id, account_id) = 1),
    CONSTRAINT uq_webhooks_project_id_id UNIQUE (project_id, id),
    CONSTRAINT uq_webhooks_account_id_id UNIQUE (account_id, id),
    CONSTRAINT fk_webhooks_account_id FOREIGN KEY (account_id) REFERENCES billing_accounts (id)
);
COMMENT ON COLUMN webhooks.project_id IS 'NULL: of an account';
COMMENT ON COLUMN webhooks.event_types IS 'such as cluster.*; empty: all';
COMMENT ON COLUMN webhooks.secret IS 'sealed';
COMMENT ON COLUMN webhooks.previous_secret IS 'sealed; signs too until previous_until';
COMMENT ON COLUMN webhooks.disabled IS 'why nothing is sent; NULL: it is';
COMMENT ON COLUMN webhooks.after_transaction IS 'transaction of the last event that was read';
COMMENT ON COLUMN webhooks.account_id IS 'NULL: of a project';
CREATE INDEX ix_webhooks_account ON webhooks (account_id, created_at, id);
CREATE INDEX ix_webhooks_project ON webhooks (project_id, created_at, id);
GRANT SELECT, INSERT, UPDATE, DELETE ON webhooks TO ipucloud_app;

CREATE TABLE webhook_deliveries (
    id uuid NOT NULL,
    project_id uuid,
    webhook_id uuid NOT NULL,
    event_transaction bigint,
    event_id bigint,
    type text NOT NULL,
    payload text NOT NULL,
    state text DEFAULT 'pending' NOT NULL,
    tries integer DEFAULT '0' NOT NULL,
    next_at timestamptz,
    log jsonb DEFAULT '[]' NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    delivered_at timestamptz,
    account_id uuid,
    CONSTRAINT pk_webhook_deliveries PRIMARY KEY (id),
    CONSTRAINT fk_webhook_deliveries_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_webhook_deliveries_project_id_webhook_id FOREIGN KEY (project_id, webhook_id)
        REFERENCES webhooks (project_id, id),
    CONSTRAINT fk_webhook_deliveries_account_id_webhook_id FOREIGN KEY (account_id, webhook_id)
        REFERENCES webhooks (account_id, id),
    CONSTRAINT ck_webhook_deliveries_one_home CHECK (num_nonnulls(project_id, account_id) = 1),
    CONSTRAINT ck_webhook_deliveries_state CHECK (state IN ('pending', 'delivered', 'failed')),
    CONSTRAINT ck_webhook_deliveries_next CHECK ((state = 'pending') = (next_at IS NOT NULL)),
    CONSTRAINT ck_webhook_deliveries_event CHECK ((event_id IS NULL) = (event_transaction IS NULL)),
    CONSTRAINT uq_webhook_deliveries_webhook_id_event_transaction_event_id UNIQUE (webhook_id, event_transaction,
        event_id)
);
COMMENT ON COLUMN webhook_deliveries.id IS 'the message''s id, the same at every try';
COMMENT ON COLUMN webhook_deliveries.project_id IS 'NULL: of an account';
COMMENT ON COLUMN webhook_deliveries.event_transaction IS 'NULL: a ping';
COMMENT ON COLUMN webhook_deliveries.payload IS 'the body, byte for byte as it is signed';
COMMENT ON COLUMN webhook_deliveries.tries IS 'of the schedule under way';
COMMENT ON COLUMN webhook_deliveries.account_id IS 'NULL: of a project';
CREATE INDEX ix_webhook_deliveries_account ON webhook_deliveries (account_id, webhook_id, created_at, id);
CREATE INDEX ix_webhook_deliveries_created ON webhook_deliveries (created_at);
CREATE INDEX ix_webhook_deliveries_due ON webhook_deliveries (webhook_id, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX ix_webhook_deliveries_log ON webhook_deliveries (project_id, webhook_id, created_at, id);
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_deliveries TO ipucloud_app;

CREATE TABLE mails (
    id uuid NOT NULL,
    type text NOT NULL,
    recipient text NOT NULL,
    language text NOT NULL,
    user_id uuid,
    project_id uuid,
    event_transaction bigint,
    event_id bigint,
    invitation_id uuid,
    link text,
    state text DEFAULT 'pending' NOT NULL,
    tries integer DEFAULT '0' NOT NULL,
    next_at timestamptz,
    failure text,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    sent_at timestamptz,
    CONSTRAINT pk_mails PRIMARY KEY (id),
    CONSTRAINT fk_mails_project_id_invitation_id FOREIGN KEY (project_id, invitation_id)
        REFERENCES invitations (project_id, id),
    CONSTRAINT ck_mails_state CHECK (state IN ('pending', 'sent', 'failed', 'dropped')),
    CONSTRAINT ck_mails_next CHECK ((state = 'pending') = (next_at IS NOT NULL)),
    CONSTRAINT ck_mails_sent CHECK ((state = 'sent') = (sent_at IS NOT NULL)),
    CONSTRAINT ck_mails_link CHECK (link IS NULL OR state = 'pending'),
    CONSTRAINT ck_mails_reason CHECK (num_nonnulls(event_id, invitation_id) = 1 AND (event_id IS NULL) =
        (event_transaction IS NULL) AND (event_id IS NULL) = (user_id IS NULL)),
    CONSTRAINT uq_mails_user_id_event_transaction_event_id UNIQUE (user_id, event_transaction, event_id),
    CONSTRAINT fk_mails_user_id FOREIGN KEY (user_id) REFERENCES users (id),
    CONSTRAINT fk_mails_project_id FOREIGN KEY (project_id) REFERENCES projects (id)
);
COMMENT ON TABLE mails IS 'e-mails to send, and those that were sent; the id is in Message-ID at every try';
COMMENT ON COLUMN mails.type IS 'of the event, or `invitation`';
COMMENT ON COLUMN mails.link IS 'of an invitation, sealed; NULL once it is sent or over';
COMMENT ON COLUMN mails.failure IS 'of the last try';
CREATE INDEX ix_mails_created ON mails (created_at);
CREATE INDEX ix_mails_invitation ON mails (invitation_id) WHERE invitation_id IS NOT NULL;
CREATE INDEX ix_mails_project ON mails (project_id, invitation_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON mails TO ipucloud_app;

CREATE TABLE money_requests (
    scope uuid NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    payment_id uuid,
    credit_id uuid,
    credit_note_id uuid,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_money_requests PRIMARY KEY (scope, key),
    CONSTRAINT ck_money_requests_made_one CHECK (num_nonnulls(payment_id, credit_id, credit_note_id) = 1)
);
COMMENT ON TABLE money_requests IS 'append-only; requests that moved money, by their keys, for ever';
COMMENT ON COLUMN money_requests.scope IS 'project, or the nil uuid for the platform';
COMMENT ON COLUMN money_requests.fingerprint IS 'SHA-256 of the request';
CREATE INDEX ix_money_requests_credit ON money_requests (credit_id);
CREATE INDEX ix_money_requests_credit_note ON money_requests (credit_note_id);
CREATE INDEX ix_money_requests_payment ON money_requests (payment_id);
GRANT SELECT, INSERT ON money_requests TO ipucloud_app;

CREATE TABLE operations (
    id uuid NOT NULL,
    project_id uuid,
    cluster_id uuid,
    partition_id uuid,
    kind text NOT NULL,
    state text NOT NULL,
    stage text,
    progress smallint DEFAULT '0' NOT NULL,
    error jsonb,
    request_id text NOT NULL,
    requested_by uuid,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    deadline_at timestamptz NOT NULL,
    expected_at timestamptz,
    undoing boolean DEFAULT false NOT NULL,
    version bigint DEFAULT '1' NOT NULL,
    export_id uuid,
    cancellable boolean DEFAULT false NOT NULL,
    forced_reason text,
    actor text DEFAULT nullif(current_setting('ipucloud.actor', true), ''),
    actor_kind text DEFAULT coalesce(nullif(current_setting('ipucloud.actor_kind', true), ''), 'platform') NOT NULL,
    account_id uuid,
    CONSTRAINT pk_operations PRIMARY KEY (id),
    CONSTRAINT fk_operations_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT ck_operations_one_home CHECK (num_nonnulls(project_id, account_id) = 1),
    CONSTRAINT ck_operations_of_account CHECK (account_id IS NULL OR export_id IS NOT NULL),
    CONSTRAINT ck_operations_state
        CHECK (state IN ('queued', 'running', 'cancelling', 'succeeded', 'failed', 'cancelled')),
    CONSTRAINT ck_operations_actor_kind CHECK (actor_kind IN ('user', 'token', 'operator', 'platform')),
    CONSTRAINT ck_operations_progress CHECK (progress BETWEEN 0 AND 100),
    CONSTRAINT ck_operations_target
        CHECK (num_nonnulls(cluster_id, export_id) = 1 AND (partition_id IS NULL OR cluster_id IS NOT NULL)),
    CONSTRAINT ck_operations_finished
        CHECK ((state IN ('cancelled', 'failed', 'succeeded')) = (finished_at IS NOT NULL)),
    CONSTRAINT ck_operations_failure_has_error CHECK (state <> 'failed' OR error IS NOT NULL),
    CONSTRAINT uq_operations_project_id_id UNIQUE (project_id, id),
    CONSTRAINT uq_operations_account_id_id UNIQUE (account_id, id),
    CONSTRAINT fk_operations_account_id FOREIGN KEY (account_id) REFERENCES billing_accounts (id)
);
COMMENT ON COLUMN operations.project_id IS 'NULL: of an account';
COMMENT ON COLUMN operations.cluster_id IS 'NULL: the operation is about an export';
COMMENT ON COLUMN operations.partition_id IS 'of that cluster, when the operation is about one of its partitions';
COMMENT ON COLUMN operations.requested_by IS 'token';
COMMENT ON COLUMN operations.export_id IS 'when the operation is about an export';
COMMENT ON COLUMN operations.forced_reason IS 'why an operator has it end without dead hardware; NULL: as usual';
COMMENT ON COLUMN operations.actor IS 'e-mail of the person, or name of the token, that asked';
COMMENT ON COLUMN operations.account_id IS 'NULL: of a project';
CREATE INDEX ix_operations_cluster ON operations (project_id, cluster_id);
CREATE INDEX ix_operations_created ON operations (created_at, id);
CREATE INDEX ix_operations_partition ON operations (project_id, partition_id) WHERE partition_id IS NOT NULL;
CREATE INDEX ix_operations_project_created ON operations (project_id, created_at, id);
CREATE INDEX ix_operations_request ON operations (request_id);
CREATE UNIQUE INDEX uq_operations_account_export ON operations (account_id, export_id) WHERE export_id IS NOT NULL;
CREATE UNIQUE INDEX uq_operations_export ON operations (project_id, export_id) WHERE export_id IS NOT NULL;
CREATE UNIQUE INDEX uq_operations_open ON operations (cluster_id, partition_id) NULLS NOT DISTINCT
    WHERE NOT (state IN ('cancelled', 'failed', 'succeeded')) AND cluster_id IS NOT NULL;
GRANT SELECT, INSERT, UPDATE ON operations TO ipucloud_app;

CREATE TABLE operation_steps (
    operation_id uuid NOT NULL,
    ordinal smallint NOT NULL,
    project_id uuid,
    name text NOT NULL,
    stage text NOT NULL,
    state text DEFAULT 'pending' NOT NULL,
    attempts integer DEFAULT '0' NOT NULL,
    detail text,
    started_at timestamptz,
    finished_at timestamptz,
    checks integer DEFAULT '0' NOT NULL,
    blocked boolean DEFAULT false NOT NULL,
    notes jsonb,
    retry_at timestamptz,
    account_id uuid,
    CONSTRAINT pk_operation_steps PRIMARY KEY (operation_id, ordinal),
    CONSTRAINT fk_operation_steps_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_operation_steps_project_id_operation_id FOREIGN KEY (project_id, operation_id)
        REFERENCES operations (project_id, id),
    CONSTRAINT fk_operation_steps_account_id_operation_id FOREIGN KEY (account_id, operation_id)
        REFERENCES operations (account_id, id),
    CONSTRAINT ck_operation_steps_one_home CHECK (num_nonnulls(project_id, account_id) = 1),
    CONSTRAINT ck_operation_steps_state CHECK (state IN ('pending', 'running', 'succeeded', 'failed', 'skipped')),
    CONSTRAINT fk_operation_steps_account_id FOREIGN KEY (account_id) REFERENCES billing_accounts (id)
);
COMMENT ON COLUMN operation_steps.project_id IS 'NULL: of an account';
COMMENT ON COLUMN operation_steps.checks IS 'checks that found it not done';
COMMENT ON COLUMN operation_steps.blocked IS 'it takes longer than usual';
COMMENT ON COLUMN operation_steps.account_id IS 'NULL: of a project';
CREATE INDEX ix_operation_steps_account ON operation_steps (account_id, operation_id);
CREATE INDEX ix_operation_steps_operation ON operation_steps (project_id, operation_id);
GRANT SELECT, INSERT, UPDATE ON operation_steps TO ipucloud_app;

CREATE TABLE repairs (
    id uuid NOT NULL,
    rule text NOT NULL,
    object_type text NOT NULL,
    object_id text NOT NULL,
    detail text NOT NULL,
    action text NOT NULL,
    requested_by text NOT NULL,
    project_id uuid,
    operation_id uuid,
    state text DEFAULT 'running' NOT NULL,
    error text,
    started_at timestamptz DEFAULT app_now() NOT NULL,
    finished_at timestamptz,
    region text,
    CONSTRAINT pk_repairs PRIMARY KEY (id),
    CONSTRAINT fk_repairs_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_repairs_project_id_operation_id FOREIGN KEY (project_id, operation_id)
        REFERENCES operations (project_id, id),
    CONSTRAINT ck_repairs_state CHECK (state IN ('running', 'succeeded', 'failed')),
    CONSTRAINT ck_repairs_finished CHECK ((state = 'running') = (finished_at IS NULL)),
    CONSTRAINT ck_repairs_failure_has_error CHECK ((state = 'failed') = (error IS NOT NULL))
);
COMMENT ON COLUMN repairs.detail IS 'what the audit found';
COMMENT ON COLUMN repairs.requested_by IS 'who ran the audit, and where';
COMMENT ON COLUMN repairs.project_id IS 'NULL: not a customer''s object';
COMMENT ON COLUMN repairs.operation_id IS 'the operation in which a worker does the rest';
COMMENT ON COLUMN repairs.region IS 'NULL: the database alone was repaired';
CREATE INDEX ix_repairs_operation ON repairs (project_id, operation_id);
CREATE INDEX ix_repairs_started ON repairs (started_at);
GRANT SELECT, INSERT, UPDATE (state, error, finished_at) ON repairs TO ipucloud_app;

CREATE FUNCTION refuse_change_of_finished_operation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'operation % is finished and never changes', OLD.id USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER operations_final BEFORE UPDATE ON operations FOR EACH ROW
WHEN (OLD.finished_at IS NOT NULL) EXECUTE FUNCTION refuse_change_of_finished_operation();
