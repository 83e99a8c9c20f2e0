-- inventory/expected/, inventory/health/, quotas/: what hardware is to be there, what is wrong with it, who may use it.

CREATE TABLE expected_inventories (
    region text NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    changed_at timestamptz DEFAULT app_now() NOT NULL,
    changed_by text NOT NULL,
    CONSTRAINT pk_expected_inventories PRIMARY KEY (region)
);
COMMENT ON TABLE expected_inventories IS 'the regions whose hardware is compared with an expected inventory';
COMMENT ON COLUMN expected_inventories.changed_by IS 'id of an operator''s token';
GRANT SELECT, INSERT, UPDATE, DELETE ON expected_inventories TO ipucloud_app;

CREATE TABLE hardware_events (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    at timestamptz DEFAULT app_now() NOT NULL,
    region text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    detail text NOT NULL,
    actor text,
    CONSTRAINT pk_hardware_events PRIMARY KEY (id),
    CONSTRAINT ck_hardware_events_kind CHECK (kind IN ('machine', 'host')),
    CONSTRAINT ck_hardware_events_type CHECK (type IN ('added', 'removed', 'returned', 'serial_changed',
        'model_changed', 'firmware_changed', 'moved', 'accepted'))
);
COMMENT ON COLUMN hardware_events.detail IS 'for operators';
COMMENT ON COLUMN hardware_events.actor IS 'id of an operator''s token';
CREATE INDEX ix_hardware_events_object ON hardware_events (kind, name, at);
CREATE INDEX ix_hardware_events_region ON hardware_events (region, at);
GRANT SELECT, INSERT ON hardware_events TO ipucloud_app;

CREATE TABLE shown_hardware (
    region text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    serial text,
    model text,
    firmware text,
    parts text DEFAULT '{}' NOT NULL,
    pod text,
    slot integer,
    first_seen_at timestamptz DEFAULT app_now() NOT NULL,
    changed_at timestamptz DEFAULT app_now() NOT NULL,
    missing_since timestamptz,
    part_serials text DEFAULT '{}' NOT NULL,
    CONSTRAINT pk_shown_hardware PRIMARY KEY (region, kind, name),
    CONSTRAINT ck_shown_hardware_kind CHECK (kind IN ('machine', 'host'))
);
COMMENT ON TABLE shown_hardware IS 'what machines and hosts show of themselves, whether or not they are registered';
COMMENT ON COLUMN shown_hardware.kind IS 'machine or host';
COMMENT ON COLUMN shown_hardware.parts IS 'firmware of parts, as JSON';
COMMENT ON COLUMN shown_hardware.pod IS 'by the V-IPU controller';
COMMENT ON COLUMN shown_hardware.slot IS 'by the V-IPU controller';
COMMENT ON COLUMN shown_hardware.missing_since IS 'NULL: it was in the last reading';
COMMENT ON COLUMN shown_hardware.part_serials IS 'serial numbers of parts, as JSON';
CREATE INDEX ix_shown_hardware_serial ON shown_hardware (serial);
GRANT SELECT, INSERT, UPDATE ON shown_hardware TO ipucloud_app;

CREATE TABLE shown_inventories (
    region text NOT NULL,
    kind text NOT NULL,
    digest text NOT NULL,
    CONSTRAINT pk_shown_inventories PRIMARY KEY (region, kind),
    CONSTRAINT ck_shown_inventories_kind CHECK (kind IN ('machine', 'host'))
);
COMMENT ON TABLE shown_inventories IS 'a digest of the last reading of a region that was written to shown_hardware';
GRANT SELECT, INSERT, UPDATE ON shown_inventories TO ipucloud_app;

CREATE TABLE address_quotas (
    project_id uuid NOT NULL,
    region text NOT NULL,
    address_limit integer NOT NULL,
    CONSTRAINT pk_address_quotas PRIMARY KEY (project_id, region),
    CONSTRAINT fk_address_quotas_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT ck_address_quotas_address_limit CHECK (address_limit >= 0)
);
COMMENT ON TABLE address_quotas IS 'without a row the limit is that of the settings';
GRANT SELECT, INSERT, UPDATE, DELETE ON address_quotas TO ipucloud_app;

CREATE TABLE observations (
    region text NOT NULL,
    source text NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    objects integer DEFAULT '0' NOT NULL,
    answered integer DEFAULT '0' NOT NULL,
    error text,
    failed_since timestamptz,
    stale_at timestamptz,
    halted_since timestamptz,
    CONSTRAINT pk_observations PRIMARY KEY (region, source),
    CONSTRAINT ck_observations_source
        CHECK (source IN ('bmc', 'v-ipu', 'host', 'ssh', 'site', 'operation', 'operator')),
    CONSTRAINT ck_observations_complete CHECK ((started_at IS NULL) = (finished_at IS NULL)),
    CONSTRAINT ck_observations_failed CHECK ((error IS NULL) = (failed_since IS NULL)),
    CONSTRAINT fk_observations_region FOREIGN KEY (region) REFERENCES site_regions (region)
);
COMMENT ON TABLE observations IS 'the last complete reading of a region by each source';
COMMENT ON COLUMN observations.started_at IS 'of the last complete reading';
COMMENT ON COLUMN observations.finished_at IS 'of the last complete reading';
COMMENT ON COLUMN observations.objects IS 'asked for';
COMMENT ON COLUMN observations.error IS 'why the last reading is not complete';
COMMENT ON COLUMN observations.stale_at IS 'from then on nothing is known; NULL: never observed';
COMMENT ON COLUMN observations.halted_since IS 'too much failed at once: nothing acts by itself';
GRANT SELECT, INSERT, UPDATE ON observations TO ipucloud_app;

CREATE TABLE quota_requests (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    region text NOT NULL,
    machine_type text NOT NULL,
    wanted_limit integer NOT NULL,
    reason text NOT NULL,
    state text DEFAULT 'open' NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    granted_limit integer,
    answer text,
    decided_by uuid,
    decided_at timestamptz,
    CONSTRAINT pk_quota_requests PRIMARY KEY (id),
    CONSTRAINT fk_quota_requests_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT ck_quota_requests_state CHECK (state IN ('open', 'granted', 'declined', 'withdrawn')),
    CONSTRAINT ck_quota_requests_decided
        CHECK (num_nulls(decided_by, decided_at) = CASE WHEN state = 'open' THEN 2 ELSE 0 END),
    CONSTRAINT ck_quota_requests_granted CHECK ((granted_limit IS NOT NULL) = (state = 'granted')),
    CONSTRAINT ck_quota_requests_limits CHECK (wanted_limit > 0 AND granted_limit BETWEEN 1 AND wanted_limit),
    CONSTRAINT ck_quota_requests_declined CHECK (state <> 'declined' OR answer IS NOT NULL),
    CONSTRAINT ck_quota_requests_answer CHECK (answer IS NULL OR state IN ('granted', 'declined'))
);
COMMENT ON COLUMN quota_requests.wanted_limit IS 'machines that the project wants to be able to hold';
COMMENT ON COLUMN quota_requests.created_by IS 'token';
COMMENT ON COLUMN quota_requests.granted_limit IS 'the limit that was set instead of the one before';
COMMENT ON COLUMN quota_requests.answer IS 'the operator''s, for the customer';
COMMENT ON COLUMN quota_requests.decided_by IS 'token that granted, declined or withdrew it';
CREATE INDEX ix_quota_requests_project ON quota_requests (project_id, created_at, id);
CREATE UNIQUE INDEX uq_quota_requests_open ON quota_requests (project_id, region, machine_type) WHERE state = 'open';
GRANT SELECT, INSERT, UPDATE (state, granted_limit, answer, decided_by, decided_at) ON quota_requests TO ipucloud_app;

CREATE TABLE quotas (
    project_id uuid NOT NULL,
    region text NOT NULL,
    machine_type text NOT NULL,
    machine_limit integer NOT NULL,
    used integer DEFAULT '0' NOT NULL,
    CONSTRAINT pk_quotas PRIMARY KEY (project_id, region, machine_type),
    CONSTRAINT fk_quotas_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT ck_quotas_used CHECK (used BETWEEN 0 AND machine_limit)
);
GRANT SELECT, INSERT, UPDATE ON quotas TO ipucloud_app;

CREATE TABLE volume_quotas (
    project_id uuid NOT NULL,
    region text NOT NULL,
    gib_limit integer NOT NULL,
    CONSTRAINT pk_volume_quotas PRIMARY KEY (project_id, region),
    CONSTRAINT fk_volume_quotas_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT ck_volume_quotas_gib_limit CHECK (gib_limit >= 0)
);
COMMENT ON TABLE volume_quotas IS 'without a row the limit is that of the settings';
GRANT SELECT, INSERT, UPDATE, DELETE ON volume_quotas TO ipucloud_app;

CREATE TABLE expected_hardware (
    region text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    serial text,
    model text,
    firmware text,
    rack text,
    pod text,
    slot integer,
    changed_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_expected_hardware PRIMARY KEY (region, kind, name),
    CONSTRAINT fk_expected_hardware_region FOREIGN KEY (region)
        REFERENCES expected_inventories (region) ON DELETE CASCADE,
    CONSTRAINT uq_expected_hardware_kind_serial UNIQUE (kind, serial) DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT ck_expected_hardware_kind CHECK (kind IN ('machine', 'host')),
    CONSTRAINT ck_expected_hardware_place CHECK ((pod IS NULL) = (slot IS NULL) AND (pod IS NULL OR kind = 'machine'))
);
COMMENT ON TABLE expected_hardware IS 'what an operator expects; NULL: any';
COMMENT ON COLUMN expected_hardware.kind IS 'machine or host';
GRANT SELECT, INSERT, UPDATE, DELETE ON expected_hardware TO ipucloud_app;

CREATE TABLE health_reports (
    id uuid NOT NULL,
    region text NOT NULL,
    machine_id uuid,
    host_id uuid,
    source text NOT NULL,
    code text NOT NULL,
    allocation text NOT NULL,
    credited boolean NOT NULL,
    detail text NOT NULL,
    message text,
    first_seen_at timestamptz DEFAULT app_now() NOT NULL,
    confirmed_at timestamptz,
    last_seen_at timestamptz DEFAULT app_now() NOT NULL,
    good_since timestamptz,
    cleared_at timestamptz,
    expires_at timestamptz,
    created_by text,
    cluster_id uuid,
    good_readings integer DEFAULT '0' NOT NULL,
    maintenance_at timestamptz,
    CONSTRAINT pk_health_reports PRIMARY KEY (id),
    CONSTRAINT ck_health_reports_source
        CHECK (source IN ('bmc', 'v-ipu', 'host', 'ssh', 'site', 'operation', 'operator')),
    CONSTRAINT ck_health_reports_code CHECK (code IN ('bmc_critical', 'powered_off', 'power_stuck',
        'firmware_differs', 'agent_unreachable', 'sensor_critical', 'sensor_warning', 'link_down', 'link_degraded',
        'partition_error', 'allocation_lost', 'host_failed', 'server_off', 'ssh_unreachable', 'host_key_changed',
        'not_observed', 'build_failed', 'replaced', 'not_clean', 'not_validated', 'validation_failed', 'surplus',
        'wrong_serial', 'wrong_model', 'cabling', 'maintenance', 'drain', 'quarantine')),
    CONSTRAINT ck_health_reports_allocation CHECK (allocation IN ('allowed', 'prevented')),
    CONSTRAINT ck_health_reports_one_object CHECK (num_nonnulls(machine_id, host_id) = 1),
    CONSTRAINT ck_health_reports_maintenance_at CHECK (maintenance_at IS NULL OR code = 'drain'),
    CONSTRAINT fk_health_reports_machine_id FOREIGN KEY (machine_id) REFERENCES machines (id),
    CONSTRAINT fk_health_reports_host_id FOREIGN KEY (host_id) REFERENCES hosts (id)
);
COMMENT ON COLUMN health_reports.credited IS 'a cluster''s minutes with the object are credited';
COMMENT ON COLUMN health_reports.detail IS 'for operators';
COMMENT ON COLUMN health_reports.message IS 'for customers; NULL: they do not see the report';
COMMENT ON COLUMN health_reports.confirmed_at IS 'NULL: suspected, without effect';
COMMENT ON COLUMN health_reports.good_since IS 'the first of the good readings in a row';
COMMENT ON COLUMN health_reports.cleared_at IS 'NULL: live';
COMMENT ON COLUMN health_reports.created_by IS 'id of an operator''s token';
COMMENT ON COLUMN health_reports.cluster_id IS 'held the object when the report was confirmed';
COMMENT ON COLUMN health_reports.good_readings IS 'in a row, since it was seen last';
COMMENT ON COLUMN health_reports.maintenance_at IS 'of a drain: when its planned maintenance begins';
CREATE INDEX ix_health_reports_host ON health_reports (host_id, first_seen_at) WHERE host_id IS NOT NULL;
CREATE INDEX ix_health_reports_machine ON health_reports (machine_id, first_seen_at) WHERE machine_id IS NOT NULL;
CREATE INDEX ix_health_reports_region ON health_reports (region) WHERE cleared_at IS NULL;
CREATE UNIQUE INDEX uq_health_reports_live ON health_reports (machine_id, host_id, source, code) NULLS NOT DISTINCT
    WHERE cleared_at IS NULL;
GRANT SELECT, INSERT, UPDATE (detail, confirmed_at, last_seen_at, good_since, cleared_at, expires_at, created_by,
    cluster_id, good_readings, maintenance_at) ON health_reports TO ipucloud_app;

CREATE VIEW inventory_findings WITH (security_invoker = true) AS
SELECT inventory.region, kind, name, finding.code, finding.expected, finding.shown,
       greatest(finding.since, hardware.changed_at, inventory.created_at) AS since
  FROM expected_inventories inventory
  JOIN (SELECT region, kind, name, e.name IS NOT NULL AS is_expected, s.name IS NOT NULL AS was_seen,
               e.serial AS expected_serial, e.model AS expected_model, e.firmware AS expected_firmware,
               e.pod AS expected_pod, e.slot AS expected_slot, e.changed_at,
               s.serial, s.model, s.firmware, s.pod, s.slot, s.first_seen_at, s.changed_at AS seen_changed_at,
               s.missing_since
          FROM expected_hardware e FULL JOIN shown_hardware s USING (region, kind, name)) hardware
    ON hardware.region = inventory.region
  JOIN observations reading
    ON reading.region = inventory.region AND reading.finished_at IS NOT NULL
       AND reading.source = CASE kind WHEN 'machine' THEN 'bmc' ELSE 'host' END
 CROSS JOIN LATERAL (VALUES
         ('missing', is_expected AND (NOT was_seen OR missing_since IS NOT NULL), expected_serial, NULL,
          missing_since),
         ('surplus', NOT is_expected AND missing_since IS NULL, NULL, serial, first_seen_at),
         ('wrong_serial', missing_since IS NULL AND expected_serial <> serial, expected_serial, serial,
          seen_changed_at),
         ('wrong_model', missing_since IS NULL AND expected_model <> model, expected_model, model, seen_changed_at),
         ('firmware_differs', missing_since IS NULL AND expected_firmware <> firmware, expected_firmware, firmware,
          seen_changed_at),
         ('cabling', missing_since IS NULL AND (expected_pod, expected_slot) <> (pod, slot),
          expected_pod || ' slot ' || expected_slot, pod || ' slot ' || slot, seen_changed_at)
       ) AS finding (code, differs, expected, shown, since)
 WHERE finding.differs;
GRANT SELECT ON inventory_findings TO ipucloud_app;

CREATE VIEW cited_faults WITH (security_invoker = true) AS
SELECT r.id, CASE WHEN r.machine_id IS NULL THEN 'poplar_server' ELSE 'machine' END AS kind, m.name AS machine, r.code,
       r.message, r.first_seen_at,
       CASE WHEN r.cleared_at IS NOT NULL THEN coalesce(r.good_since, r.cleared_at) END AS ended_at
  FROM health_reports r LEFT JOIN machines m ON m.id = r.machine_id;
GRANT SELECT ON cited_faults TO ipucloud_app;
