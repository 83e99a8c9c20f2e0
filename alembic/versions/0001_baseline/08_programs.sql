-- clusters/jobs/, services/, terminals/, consoles/, samples/: what runs on Poplar servers, and what is seen of it.

CREATE TABLE cluster_samples (
    project_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    minute timestamptz NOT NULL,
    observed_at timestamptz NOT NULL,
    machines integer NOT NULL,
    machines_answered integer NOT NULL,
    utilisation real,
    power real,
    temperature real,
    link_errors bigint,
    attached_ipus integer,
    partitions integer NOT NULL,
    partitions_active integer NOT NULL,
    cpu real,
    memory_used bigint,
    memory bigint,
    CONSTRAINT pk_cluster_samples PRIMARY KEY (project_id, cluster_id, minute),
    CONSTRAINT fk_cluster_samples_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_cluster_samples_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
        REFERENCES clusters (project_id, id)
);
COMMENT ON TABLE cluster_samples IS
    'written by observation alone, of clusters in use: the last look of a minute; NULL was not observed';
COMMENT ON COLUMN cluster_samples.utilisation IS 'percent, mean of the machines that answered';
COMMENT ON COLUMN cluster_samples.power IS 'watts, sum of the machines that answered';
COMMENT ON COLUMN cluster_samples.temperature IS 'degrees Celsius, of the hottest IPU';
COMMENT ON COLUMN cluster_samples.link_errors IS 'as counted by the IPUs since they were switched on';
COMMENT ON COLUMN cluster_samples.attached_ipus IS 'held by programs on all servers';
COMMENT ON COLUMN cluster_samples.cpu IS 'percent, mean of the servers';
COMMENT ON COLUMN cluster_samples.memory_used IS 'bytes, sum of the servers';
COMMENT ON COLUMN cluster_samples.memory IS 'bytes, sum of the servers';
CREATE INDEX ix_cluster_samples_minute ON cluster_samples (minute);
GRANT SELECT, INSERT, UPDATE, DELETE ON cluster_samples TO ipucloud_app;

CREATE TABLE console_boots (
    project_id uuid NOT NULL,
    server_id uuid NOT NULL,
    boot_id text NOT NULL,
    number integer NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz,
    text text NOT NULL,
    dropped bigint NOT NULL,
    written bigint NOT NULL,
    observed_at timestamptz NOT NULL,
    CONSTRAINT pk_console_boots PRIMARY KEY (project_id, server_id, boot_id),
    CONSTRAINT fk_console_boots_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_console_boots_project_id_server_id FOREIGN KEY (project_id, server_id)
        REFERENCES poplar_servers (project_id, id)
);
COMMENT ON TABLE console_boots IS 'written by observation alone: serial consoles, the last boots of each server';
COMMENT ON COLUMN console_boots.number IS 'counted per server by the site';
COMMENT ON COLUMN console_boots.dropped IS 'bytes before the text that are gone';
COMMENT ON COLUMN console_boots.written IS 'bytes of all boots of the server when it was read';
CREATE INDEX ix_console_boots_observed ON console_boots (observed_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON console_boots TO ipucloud_app;

CREATE TABLE jobs (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    server_id uuid NOT NULL,
    number integer NOT NULL,
    command jsonb DEFAULT '[]' NOT NULL,
    directory text,
    environment jsonb DEFAULT '{}' NOT NULL,
    state text DEFAULT 'queued' NOT NULL,
    state_reason text,
    ended_by text,
    exit_status integer,
    attempt integer DEFAULT '1' NOT NULL,
    retries integer NOT NULL,
    max_minutes integer,
    max_cost numeric,
    currency text NOT NULL,
    cost numeric,
    sent_at timestamptz,
    log_bytes bigint DEFAULT '0' NOT NULL,
    log_parts integer DEFAULT '0' NOT NULL,
    stop_requested_at timestamptz,
    stop_cause text,
    created_by uuid NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    started_at timestamptz,
    ended_at timestamptz,
    observed_at timestamptz,
    actor text DEFAULT nullif(current_setting('ipucloud.actor', true), ''),
    actor_kind text DEFAULT coalesce(nullif(current_setting('ipucloud.actor_kind', true), ''), 'platform') NOT NULL,
    CONSTRAINT pk_jobs PRIMARY KEY (id),
    CONSTRAINT fk_jobs_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_jobs_project_id_cluster_id FOREIGN KEY (project_id, cluster_id) REFERENCES clusters (project_id, id),
    CONSTRAINT fk_jobs_project_id_server_id FOREIGN KEY (project_id, server_id)
        REFERENCES poplar_servers (project_id, id),
    CONSTRAINT ck_jobs_actor_kind CHECK (actor_kind IN ('user', 'token', 'operator', 'platform')),
    CONSTRAINT ck_jobs_ended CHECK ((ended_at IS NOT NULL) = (state IN ('succeeded', 'failed', 'stopped'))),
    CONSTRAINT ck_jobs_ended_by_something CHECK ((ended_at IS NOT NULL) = (ended_by IS NOT NULL)),
    CONSTRAINT ck_jobs_running CHECK (state <> 'running' OR (started_at IS NOT NULL AND sent_at IS NOT NULL)),
    CONSTRAINT uq_jobs_project_id_id UNIQUE (project_id, id),
    CONSTRAINT ck_jobs_state CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'stopped')),
    CONSTRAINT ck_jobs_ended_by
        CHECK (ended_by IN ('program', 'request', 'time_limit', 'cost_limit', 'server', 'cluster', 'site')),
    CONSTRAINT ck_jobs_stop_cause CHECK (stop_cause IN ('request', 'time_limit', 'cost_limit')),
    CONSTRAINT ck_jobs_succeeded CHECK (state <> 'succeeded' OR exit_status = 0),
    CONSTRAINT ck_jobs_stop CHECK ((stop_requested_at IS NULL) = (stop_cause IS NULL)),
    CONSTRAINT ck_jobs_attempts CHECK (attempt BETWEEN 1 AND retries + 1),
    CONSTRAINT uq_jobs_cluster_id_number UNIQUE (cluster_id, number)
);
COMMENT ON COLUMN jobs.number IS 'counted per cluster';
COMMENT ON COLUMN jobs.cost IS 'of the cluster since started_at; NULL: not started, or without a price';
COMMENT ON COLUMN jobs.log_bytes IS 'read of the present attempt''s';
COMMENT ON COLUMN jobs.log_parts IS 'of all attempts';
COMMENT ON COLUMN jobs.created_by IS 'token';
COMMENT ON COLUMN jobs.actor IS 'e-mail of the person, or name of the token, that asked';
CREATE INDEX ix_jobs_cluster ON jobs (project_id, cluster_id, created_at, id);
CREATE INDEX ix_jobs_server ON jobs (project_id, server_id);
CREATE INDEX ix_jobs_unfinished ON jobs (project_id, cluster_id) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX uq_jobs_running ON jobs (project_id, server_id) WHERE state = 'running';
GRANT SELECT, INSERT, UPDATE (state, state_reason, ended_by, exit_status, attempt, cost, sent_at, log_bytes,
    log_parts, stop_requested_at, stop_cause, started_at, ended_at, observed_at) ON jobs TO ipucloud_app;

CREATE TABLE services (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    server_id uuid NOT NULL,
    name text NOT NULL,
    command jsonb DEFAULT '[]' NOT NULL,
    directory text,
    environment jsonb DEFAULT '{}' NOT NULL,
    port integer NOT NULL,
    max_restarts integer NOT NULL,
    state text DEFAULT 'starting' NOT NULL,
    state_reason text,
    ended_by text,
    attempt integer DEFAULT '1' NOT NULL,
    failures integer DEFAULT '0' NOT NULL,
    exit_status integer,
    next_start_at timestamptz DEFAULT app_now() NOT NULL,
    sent_at timestamptz,
    started_at timestamptz,
    log_bytes bigint DEFAULT '0' NOT NULL,
    log_parts integer DEFAULT '0' NOT NULL,
    stop_requested_at timestamptz,
    created_by uuid NOT NULL,
    actor text DEFAULT nullif(current_setting('ipucloud.actor', true), ''),
    actor_kind text DEFAULT coalesce(nullif(current_setting('ipucloud.actor_kind', true), ''), 'platform') NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    ended_at timestamptz,
    observed_at timestamptz,
    health_check jsonb,
    checked_at timestamptz,
    checks_failed integer DEFAULT '0' NOT NULL,
    check_detail text,
    unhealthy_at timestamptz,
    CONSTRAINT pk_services PRIMARY KEY (id),
    CONSTRAINT fk_services_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_services_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
        REFERENCES clusters (project_id, id),
    CONSTRAINT fk_services_project_id_server_id FOREIGN KEY (project_id, server_id)
        REFERENCES poplar_servers (project_id, id),
    CONSTRAINT ck_services_actor_kind CHECK (actor_kind IN ('user', 'token', 'operator', 'platform')),
    CONSTRAINT ck_services_ended CHECK ((ended_at IS NOT NULL) = (state IN ('failed', 'stopped'))),
    CONSTRAINT ck_services_ended_by_something CHECK ((ended_at IS NOT NULL) = (ended_by IS NOT NULL)),
    CONSTRAINT ck_services_running CHECK (state <> 'running' OR (started_at IS NOT NULL AND sent_at IS NOT NULL)),
    CONSTRAINT uq_services_project_id_id UNIQUE (project_id, id),
    CONSTRAINT ck_services_state CHECK (state IN ('starting', 'running', 'failed', 'stopped')),
    CONSTRAINT ck_services_ended_by CHECK (ended_by IN ('program', 'request', 'server', 'cluster')),
    CONSTRAINT ck_services_port CHECK (port BETWEEN 1024 AND 65535),
    CONSTRAINT ck_services_failures CHECK (failures BETWEEN 0 AND max_restarts + 1),
    CONSTRAINT ck_services_checks_failed CHECK (checks_failed >= 0),
    CONSTRAINT ck_services_checked_if_asked
        CHECK (health_check IS NOT NULL OR (checked_at IS NULL AND unhealthy_at IS NULL AND checks_failed = 0))
);
COMMENT ON TABLE services IS 'programs that are kept running';
COMMENT ON COLUMN services.failures IS 'in a row';
COMMENT ON COLUMN services.exit_status IS 'of the start before';
COMMENT ON COLUMN services.log_bytes IS 'read of the present attempt''s';
COMMENT ON COLUMN services.log_parts IS 'of all attempts';
COMMENT ON COLUMN services.created_by IS 'token';
COMMENT ON COLUMN services.actor IS 'e-mail of the person, or name of the token, that asked';
COMMENT ON COLUMN services.health_check IS 'as requested';
COMMENT ON COLUMN services.checks_failed IS 'in a row';
COMMENT ON COLUMN services.check_detail IS 'what was wrong at the last check';
CREATE INDEX ix_services_cluster ON services (project_id, cluster_id, created_at, id);
CREATE INDEX ix_services_server ON services (project_id, server_id);
CREATE UNIQUE INDEX uq_services_name ON services (cluster_id, name) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX uq_services_port ON services (server_id, port) WHERE ended_at IS NULL;
GRANT SELECT, INSERT, UPDATE (state, state_reason, ended_by, attempt, failures, exit_status, next_start_at, sent_at,
    started_at, log_bytes, log_parts, stop_requested_at, ended_at, observed_at, checked_at, checks_failed,
    check_detail, unhealthy_at) ON services TO ipucloud_app;

CREATE TABLE terminals (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    server_id uuid NOT NULL,
    public_key text NOT NULL,
    created_by uuid NOT NULL,
    actor text DEFAULT nullif(current_setting('ipucloud.actor', true), ''),
    actor_kind text DEFAULT coalesce(nullif(current_setting('ipucloud.actor_kind', true), ''), 'platform') NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    key_until timestamptz NOT NULL,
    key_seen_at timestamptz,
    key_gone_at timestamptz,
    connected_at timestamptz,
    alive_at timestamptz NOT NULL,
    ended_at timestamptz,
    ended_by text,
    purpose text DEFAULT 'terminal' NOT NULL,
    CONSTRAINT pk_terminals PRIMARY KEY (id),
    CONSTRAINT fk_terminals_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_terminals_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
        REFERENCES clusters (project_id, id),
    CONSTRAINT fk_terminals_project_id_server_id FOREIGN KEY (project_id, server_id)
        REFERENCES poplar_servers (project_id, id),
    CONSTRAINT ck_terminals_actor_kind CHECK (actor_kind IN ('user', 'token', 'operator', 'platform')),
    CONSTRAINT ck_terminals_ended_by
        CHECK (ended_by IN ('shell', 'client', 'idle', 'time_limit', 'access', 'server', 'service')),
    CONSTRAINT ck_terminals_purpose CHECK (purpose IN ('terminal', 'services')),
    CONSTRAINT ck_terminals_ended CHECK ((ended_at IS NULL) = (ended_by IS NULL))
);
COMMENT ON TABLE terminals IS
    'logins of API processes to Poplar servers, for a terminal or to reach services; the private key of one is in the memory of its process';
COMMENT ON COLUMN terminals.public_key IS 'of this login only';
COMMENT ON COLUMN terminals.created_by IS 'token';
COMMENT ON COLUMN terminals.actor IS 'e-mail of the person, or name of the token, that asked';
CREATE INDEX ix_terminals_cluster ON terminals (project_id, cluster_id);
CREATE INDEX ix_terminals_open ON terminals (project_id, created_at) WHERE ended_at IS NULL;
CREATE INDEX ix_terminals_server ON terminals (project_id, server_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON terminals TO ipucloud_app;

CREATE TABLE job_logs (
    project_id uuid NOT NULL,
    job_id uuid NOT NULL,
    number integer NOT NULL,
    attempt integer NOT NULL,
    text text NOT NULL,
    read_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_job_logs PRIMARY KEY (project_id, job_id, number),
    CONSTRAINT fk_job_logs_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_job_logs_project_id_job_id FOREIGN KEY (project_id, job_id) REFERENCES jobs (project_id, id)
);
COMMENT ON TABLE job_logs IS 'what programs wrote, in order';
GRANT SELECT, INSERT ON job_logs TO ipucloud_app;

CREATE TABLE service_logs (
    project_id uuid NOT NULL,
    service_id uuid NOT NULL,
    number integer NOT NULL,
    attempt integer NOT NULL,
    text text NOT NULL,
    read_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_service_logs PRIMARY KEY (project_id, service_id, number),
    CONSTRAINT fk_service_logs_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_service_logs_project_id_service_id FOREIGN KEY (project_id, service_id)
        REFERENCES services (project_id, id)
);
COMMENT ON TABLE service_logs IS 'what programs wrote, in order; the newest parts';
GRANT SELECT, INSERT, DELETE ON service_logs TO ipucloud_app;

CREATE TABLE service_request_totals (
    project_id uuid NOT NULL,
    service_id uuid NOT NULL,
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    seconds double precision NOT NULL,
    buckets bigint[] NOT NULL,
    CONSTRAINT pk_service_request_totals PRIMARY KEY (project_id, service_id),
    CONSTRAINT fk_service_request_totals_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_service_request_totals_project_id_service_id FOREIGN KEY (project_id, service_id)
        REFERENCES services (project_id, id)
);
COMMENT ON TABLE service_request_totals IS 'the same of all time';
COMMENT ON COLUMN service_request_totals.errors IS 'answered with a status from 500 on, or not at all';
COMMENT ON COLUMN service_request_totals.seconds IS 'until the answers began, together';
COMMENT ON COLUMN service_request_totals.buckets IS 'answers within each of the bounds, and the others';
GRANT SELECT, INSERT, UPDATE ON service_request_totals TO ipucloud_app;

CREATE TABLE service_requests (
    project_id uuid NOT NULL,
    service_id uuid NOT NULL,
    minute timestamptz NOT NULL,
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    seconds double precision NOT NULL,
    buckets bigint[] NOT NULL,
    CONSTRAINT pk_service_requests PRIMARY KEY (project_id, service_id, minute),
    CONSTRAINT fk_service_requests_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_service_requests_project_id_service_id FOREIGN KEY (project_id, service_id)
        REFERENCES services (project_id, id)
);
COMMENT ON TABLE service_requests IS 'requests that the API has forwarded, by the minute in which they were written';
COMMENT ON COLUMN service_requests.errors IS 'answered with a status from 500 on, or not at all';
COMMENT ON COLUMN service_requests.seconds IS 'until the answers began, together';
COMMENT ON COLUMN service_requests.buckets IS 'answers within each of the bounds, and the others';
CREATE INDEX ix_service_requests_minute ON service_requests (minute);
GRANT SELECT, INSERT, UPDATE, DELETE ON service_requests TO ipucloud_app;
