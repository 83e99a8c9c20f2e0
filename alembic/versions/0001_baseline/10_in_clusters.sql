-- Further packages of clusters/: cost limits, fault reports, idle clusters, preemption, repairs, schedules, waiting.

CREATE TABLE token_clusters (
    project_id uuid NOT NULL,
    token_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    since timestamptz DEFAULT app_now() NOT NULL,
    stopped_at timestamptz,
    CONSTRAINT pk_token_clusters PRIMARY KEY (project_id, token_id, cluster_id),
    CONSTRAINT fk_token_clusters_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_token_clusters_project_id_token_id FOREIGN KEY (project_id, token_id)
        REFERENCES tokens (project_id, id),
    CONSTRAINT fk_token_clusters_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
        REFERENCES clusters (project_id, id),
    CONSTRAINT ck_token_clusters_order CHECK (stopped_at >= since)
);
COMMENT ON TABLE token_clusters IS
    'their cost from since to stopped_at counts against the token''s limit; stopped_at: it was reached';
CREATE INDEX ix_token_clusters_cluster ON token_clusters (project_id, cluster_id);
GRANT SELECT, INSERT, UPDATE (stopped_at) ON token_clusters TO ipucloud_app;

CREATE TABLE server_uses (
    server_id uuid NOT NULL,
    project_id uuid NOT NULL,
    sessions integer,
    attached_ipus integer,
    idle_since timestamptz,
    observed_at timestamptz NOT NULL,
    CONSTRAINT pk_server_uses PRIMARY KEY (server_id),
    CONSTRAINT fk_server_uses_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_server_uses_project_id_server_id FOREIGN KEY (project_id, server_id)
        REFERENCES poplar_servers (project_id, id),
    CONSTRAINT ck_server_uses_idle_since CHECK (idle_since IS NULL OR (sessions = 0 AND attached_ipus = 0))
);
COMMENT ON TABLE server_uses IS 'written by observation alone, of clusters with idle_suspend_minutes';
COMMENT ON COLUMN server_uses.sessions IS 'logins that are open; NULL: the site does not show it';
COMMENT ON COLUMN server_uses.attached_ipus IS 'IPUs that programs hold; NULL: the site does not show it';
COMMENT ON COLUMN server_uses.idle_since IS 'NULL: it is in use, or nobody knows';
CREATE INDEX ix_server_uses_server ON server_uses (project_id, server_id);
GRANT SELECT, INSERT, UPDATE ON server_uses TO ipucloud_app;

CREATE TABLE capacity_waits (
    operation_id uuid NOT NULL,
    project_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    region text NOT NULL,
    machine_type text NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz NOT NULL,
    granted_at timestamptz,
    looked_at timestamptz,
    held_up_by text,
    preemptible boolean DEFAULT false NOT NULL,
    kind text NOT NULL,
    machines integer NOT NULL,
    CONSTRAINT pk_capacity_waits PRIMARY KEY (operation_id),
    CONSTRAINT fk_capacity_waits_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_capacity_waits_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
        REFERENCES clusters (project_id, id),
    CONSTRAINT fk_capacity_waits_project_id_operation_id FOREIGN KEY (project_id, operation_id)
        REFERENCES operations (project_id, id),
    CONSTRAINT ck_capacity_waits_kind CHECK (kind IN ('cluster.create', 'cluster.resume', 'cluster.resize')),
    CONSTRAINT ck_capacity_waits_until CHECK (until > since)
);
COMMENT ON TABLE capacity_waits IS
    'operations that wait for machines; they hold none of those, and no quota for them, until granted_at';
COMMENT ON COLUMN capacity_waits.held_up_by IS 'code of the problem, if it is another than the lack of capacity';
COMMENT ON COLUMN capacity_waits.preemptible IS 'as the cluster is';
COMMENT ON COLUMN capacity_waits.kind IS 'of the operation';
COMMENT ON COLUMN capacity_waits.machines IS 'that the cluster is to have; of a resize its new size';
CREATE INDEX ix_capacity_waits_cluster ON capacity_waits (project_id, cluster_id);
CREATE INDEX ix_capacity_waits_operation ON capacity_waits (project_id, operation_id);
CREATE INDEX ix_capacity_waits_queue ON capacity_waits (region, machine_type, project_id);
GRANT SELECT, INSERT, UPDATE ON capacity_waits TO ipucloud_app;

CREATE TABLE cluster_schedules (
    cluster_id uuid NOT NULL,
    project_id uuid NOT NULL,
    time_zone text NOT NULL,
    periods jsonb DEFAULT '[]' NOT NULL,
    holidays jsonb DEFAULT '[]' NOT NULL,
    next_action text,
    next_at timestamptz,
    computed_at timestamptz NOT NULL,
    due_action text,
    due_at timestamptz,
    retry_at timestamptz,
    waits_for text,
    detail text,
    operation_id uuid,
    CONSTRAINT pk_cluster_schedules PRIMARY KEY (cluster_id),
    CONSTRAINT fk_cluster_schedules_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_cluster_schedules_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
        REFERENCES clusters (project_id, id),
    CONSTRAINT fk_cluster_schedules_project_id_operation_id FOREIGN KEY (project_id, operation_id)
        REFERENCES operations (project_id, id),
    CONSTRAINT ck_cluster_schedules_next_action CHECK (next_action IN ('suspend', 'resume')),
    CONSTRAINT ck_cluster_schedules_due_action CHECK (due_action IN ('suspend', 'resume')),
    CONSTRAINT ck_cluster_schedules_waits_for CHECK (waits_for IN ('operation', 'budget_reached',
        'capacity_exhausted', 'cost_limit_reached', 'funds_exhausted', 'payment_overdue', 'quota_exceeded',
        'state_conflict', 'resume_failed')),
    CONSTRAINT ck_cluster_schedules_next CHECK ((next_action IS NULL) = (next_at IS NULL)),
    CONSTRAINT ck_cluster_schedules_due CHECK (num_nulls(due_action, due_at) IN (0, 2)),
    CONSTRAINT ck_cluster_schedules_nothing_due
        CHECK (due_action IS NOT NULL OR num_nonnulls(retry_at, waits_for, detail, operation_id) = 0)
);
COMMENT ON COLUMN cluster_schedules.next_at IS 'of the calendar, later than what is due';
COMMENT ON COLUMN cluster_schedules.due_action IS 'what is to be done now';
COMMENT ON COLUMN cluster_schedules.operation_id IS 'the resume that was begun for it';
CREATE INDEX ix_cluster_schedules_cluster ON cluster_schedules (project_id, cluster_id);
CREATE INDEX ix_cluster_schedules_operation ON cluster_schedules (project_id, operation_id)
    WHERE operation_id IS NOT NULL;
GRANT SELECT, INSERT, UPDATE, DELETE ON cluster_schedules TO ipucloud_app;

CREATE TABLE preemptions (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    noticed_at timestamptz DEFAULT app_now() NOT NULL,
    preempt_at timestamptz NOT NULL,
    ended_at timestamptz,
    outcome text,
    operation_id uuid,
    CONSTRAINT pk_preemptions PRIMARY KEY (id),
    CONSTRAINT fk_preemptions_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_preemptions_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
        REFERENCES clusters (project_id, id),
    CONSTRAINT fk_preemptions_project_id_operation_id FOREIGN KEY (project_id, operation_id)
        REFERENCES operations (project_id, id),
    CONSTRAINT ck_preemptions_outcome CHECK (outcome IN ('suspended', 'not_needed', 'not_in_use')),
    CONSTRAINT ck_preemptions_preempt_at CHECK (preempt_at >= noticed_at),
    CONSTRAINT ck_preemptions_ended CHECK ((ended_at IS NULL) = (outcome IS NULL)),
    CONSTRAINT ck_preemptions_operation_id
        CHECK ((operation_id IS NOT NULL) = (outcome IS NOT DISTINCT FROM 'suspended'))
);
COMMENT ON TABLE preemptions IS 'a preemptible cluster was told that it is suspended at preempt_at';
COMMENT ON COLUMN preemptions.operation_id IS 'suspends the cluster';
CREATE INDEX ix_preemptions_cluster ON preemptions (project_id, cluster_id);
CREATE INDEX ix_preemptions_operation ON preemptions (project_id, operation_id) WHERE operation_id IS NOT NULL;
CREATE UNIQUE INDEX uq_preemptions_open ON preemptions (cluster_id) WHERE ended_at IS NULL;
GRANT SELECT, INSERT, UPDATE ON preemptions TO ipucloud_app;

CREATE TABLE scheduled_repairs (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    reason text NOT NULL,
    hardware text[] NOT NULL,
    announced_at timestamptz DEFAULT app_now() NOT NULL,
    starts_at timestamptz NOT NULL,
    latest_at timestamptz NOT NULL,
    waits_for text,
    started_at timestamptz,
    operation_id uuid,
    ended_at timestamptz,
    outcome text,
    CONSTRAINT pk_scheduled_repairs PRIMARY KEY (id),
    CONSTRAINT fk_scheduled_repairs_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_scheduled_repairs_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
        REFERENCES clusters (project_id, id),
    CONSTRAINT fk_scheduled_repairs_project_id_operation_id FOREIGN KEY (project_id, operation_id)
        REFERENCES operations (project_id, id),
    CONSTRAINT ck_scheduled_repairs_reason CHECK (reason IN ('fault', 'maintenance')),
    CONSTRAINT ck_scheduled_repairs_waits_for CHECK (waits_for IN ('capacity', 'limit', 'operator')),
    CONSTRAINT ck_scheduled_repairs_outcome
        CHECK (outcome IN ('repaired', 'failed', 'cancelled', 'not_needed', 'superseded', 'maintained')),
    CONSTRAINT ck_scheduled_repairs_latest_at CHECK (starts_at <= latest_at),
    CONSTRAINT ck_scheduled_repairs_started CHECK ((operation_id IS NULL) = (started_at IS NULL)),
    CONSTRAINT ck_scheduled_repairs_ended CHECK ((ended_at IS NULL) = (outcome IS NULL))
);
COMMENT ON COLUMN scheduled_repairs.hardware IS 'names of the machines and hosts to replace';
COMMENT ON COLUMN scheduled_repairs.waits_for IS 'why it has not begun although its time has come';
COMMENT ON COLUMN scheduled_repairs.operation_id IS 'carries it out';
CREATE INDEX ix_scheduled_repairs_cluster ON scheduled_repairs (project_id, cluster_id);
CREATE INDEX ix_scheduled_repairs_operation ON scheduled_repairs (project_id, operation_id)
    WHERE operation_id IS NOT NULL;
CREATE INDEX ix_scheduled_repairs_started ON scheduled_repairs (started_at);
CREATE UNIQUE INDEX uq_scheduled_repairs_open ON scheduled_repairs (cluster_id) WHERE ended_at IS NULL;
GRANT SELECT, INSERT, UPDATE ON scheduled_repairs TO ipucloud_app;

CREATE TABLE fault_reports (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    machine_id uuid,
    host_id uuid,
    name text NOT NULL,
    category text NOT NULL,
    description text NOT NULL,
    since timestamptz,
    state text DEFAULT 'open' NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    answer text,
    answered_by uuid,
    answered_at timestamptz,
    report_id uuid,
    repaired_at timestamptz,
    closed_at timestamptz,
    CONSTRAINT pk_fault_reports PRIMARY KEY (id),
    CONSTRAINT fk_fault_reports_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_fault_reports_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
        REFERENCES clusters (project_id, id),
    CONSTRAINT ck_fault_reports_state CHECK (state IN ('open', 'confirmed', 'dismissed', 'repaired', 'closed')),
    CONSTRAINT ck_fault_reports_category
        CHECK (category IN ('ipu', 'link', 'server', 'disk', 'network', 'performance', 'other')),
    CONSTRAINT ck_fault_reports_one_object CHECK (num_nonnulls(machine_id, host_id) = 1),
    CONSTRAINT ck_fault_reports_answered
        CHECK (num_nulls(answer, answered_by, answered_at) = CASE WHEN state = 'open' THEN 3 ELSE 0 END),
    CONSTRAINT ck_fault_reports_confirmed
        CHECK ((report_id IS NOT NULL) = (state IN ('confirmed', 'repaired', 'closed'))),
    CONSTRAINT ck_fault_reports_repaired CHECK ((repaired_at IS NOT NULL) = (state = 'repaired')),
    CONSTRAINT ck_fault_reports_closed CHECK ((closed_at IS NOT NULL) = (state = 'closed')),
    CONSTRAINT fk_fault_reports_machine_id FOREIGN KEY (machine_id) REFERENCES machines (id),
    CONSTRAINT fk_fault_reports_host_id FOREIGN KEY (host_id) REFERENCES hosts (id),
    CONSTRAINT fk_fault_reports_report_id FOREIGN KEY (report_id) REFERENCES health_reports (id)
);
COMMENT ON COLUMN fault_reports.name IS 'of the machine or Poplar server, when it was reported';
COMMENT ON COLUMN fault_reports.since IS 'as the customer says; nothing is computed from it';
COMMENT ON COLUMN fault_reports.created_by IS 'token';
COMMENT ON COLUMN fault_reports.answer IS 'the operator''s, for the customer';
COMMENT ON COLUMN fault_reports.answered_by IS 'token';
CREATE INDEX ix_fault_reports_cluster ON fault_reports (project_id, cluster_id, created_at, id);
CREATE INDEX ix_fault_reports_host ON fault_reports (host_id) WHERE host_id IS NOT NULL;
CREATE INDEX ix_fault_reports_machine ON fault_reports (machine_id) WHERE machine_id IS NOT NULL;
CREATE INDEX ix_fault_reports_project ON fault_reports (project_id, created_at, id);
CREATE INDEX ix_fault_reports_report ON fault_reports (report_id) WHERE report_id IS NOT NULL;
CREATE UNIQUE INDEX uq_fault_reports_unsettled ON fault_reports (cluster_id, machine_id, host_id) NULLS NOT DISTINCT
    WHERE state IN ('open', 'confirmed');
GRANT SELECT, INSERT, UPDATE (state, answer, answered_by, answered_at, report_id, repaired_at, closed_at) ON
    fault_reports TO ipucloud_app;

CREATE FUNCTION wake_those_that_wait() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM capacity_waits WHERE granted_at IS NULL AND until > app_now()) THEN
    UPDATE work SET wake_seq = wake_seq + 1, run_at = least(run_at, app_now())
     WHERE kind = 'periodic' AND key = 'serve_waiting_clusters';
  END IF;
  RETURN NULL;
END
$$;

CREATE CONSTRAINT TRIGGER pods_wake_those_that_wait AFTER UPDATE ON pods DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (NEW.free_mask & ~OLD.free_mask <> 0) EXECUTE FUNCTION wake_those_that_wait();

CREATE CONSTRAINT TRIGGER hosts_wake_those_that_wait AFTER UPDATE ON hosts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (NEW.allocatable AND NOT NEW.held AND (OLD.held OR NOT OLD.allocatable)) EXECUTE FUNCTION
    wake_those_that_wait();

CREATE CONSTRAINT TRIGGER operations_wake_those_that_wait AFTER UPDATE ON operations DEFERRABLE INITIALLY DEFERRED FOR
    EACH ROW WHEN (NEW.finished_at IS NOT NULL AND OLD.finished_at IS NULL) EXECUTE FUNCTION wake_those_that_wait();

CREATE CONSTRAINT TRIGGER quotas_wake_those_that_wait AFTER UPDATE ON quotas DEFERRABLE INITIALLY DEFERRED FOR EACH
    ROW WHEN (NEW.machine_limit - NEW.used > OLD.machine_limit - OLD.used) EXECUTE FUNCTION wake_those_that_wait();

CREATE VIEW shown_waits AS
SELECT waits.project_id, waits.cluster_id, place, since, until, held_up_by, looked_at, machines,
       (SELECT min(c.expires_at) FROM clusters AS c
         WHERE c.region = waits.region AND c.machine_type = waits.machine_type AND c.deleted_at IS NULL
           AND NOT c.delete_protection AND c.expires_at > app_now() AND c.id <> waits.cluster_id
           AND c.machines >= waits.machines AND waits.place = 1 AND waits.held_up_by IS NULL) AS expected_at
  FROM (
SELECT project_id, cluster_id, operation_id, kind, region, machine_type, machines, preemptible, since, until,
       looked_at, held_up_by, row_number() OVER (
         PARTITION BY region, machine_type
             ORDER BY preemptible, nth, greatest(since, served_at), since, cluster_id) AS place
  FROM (SELECT w.project_id, w.cluster_id, w.operation_id, w.kind, w.region, w.machine_type, w.machines, w.preemptible,
               w.since, w.until, w.looked_at, w.held_up_by,
               row_number() OVER (PARTITION BY w.region, w.machine_type, w.preemptible, w.project_id
                                      ORDER BY w.since, w.cluster_id) AS nth,
               (SELECT max(granted_at) FROM capacity_waits AS served
                 WHERE (served.region, served.machine_type, served.project_id)
                     = (w.region, w.machine_type, w.project_id)) AS served_at

  FROM capacity_waits AS w JOIN operations AS o ON (o.project_id, o.id) = (w.project_id, w.operation_id)
 WHERE w.granted_at IS NULL AND o.finished_at IS NULL AND NOT o.undoing AND o.state <> 'cancelling'
   AND w.until > app_now()
) AS mine
) AS waits
 WHERE current_user <> 'ipucloud_tenant' OR waits.project_id = tenant_id();
GRANT SELECT ON shown_waits TO ipucloud_app;
