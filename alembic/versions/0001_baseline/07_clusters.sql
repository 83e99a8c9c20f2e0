-- clusters/ and partitions/.

CREATE TABLE clusters (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    name text NOT NULL,
    region text NOT NULL,
    flavor text NOT NULL,
    machine_type text NOT NULL,
    machines integer NOT NULL,
    ipus integer NOT NULL,
    allocated_through text DEFAULT 'v-ipu' NOT NULL,
    sku text NOT NULL,
    currency text NOT NULL,
    image text NOT NULL,
    reconfigurable boolean DEFAULT true NOT NULL,
    ssh_keys jsonb DEFAULT '[]' NOT NULL,
    user_data text,
    tags jsonb DEFAULT '{}' NOT NULL,
    delete_protection boolean DEFAULT false NOT NULL,
    expires_at timestamptz,
    state text NOT NULL,
    state_reason text,
    state_entered_at timestamptz DEFAULT app_now() NOT NULL,
    state_sla_seconds integer,
    blocked_by text,
    incarnation integer DEFAULT '1' NOT NULL,
    external_name text NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    ready_at timestamptz,
    delete_requested_at timestamptz,
    deleted_at timestamptz,
    version bigint DEFAULT '1' NOT NULL,
    auto_repair boolean DEFAULT true NOT NULL,
    repair_window jsonb,
    endpoint_host text,
    endpoint_port integer,
    keys_revision integer DEFAULT '1' NOT NULL,
    expiry_warned_at timestamptz,
    idle_suspend_minutes integer,
    idle_counted_from timestamptz,
    s3_revision integer DEFAULT '0' NOT NULL,
    preemptible boolean DEFAULT false NOT NULL,
    notice_revision integer DEFAULT '0' NOT NULL,
    ssh_authority text,
    CONSTRAINT pk_clusters PRIMARY KEY (id),
    CONSTRAINT fk_clusters_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT ck_clusters_state CHECK (state IN ('creating', 'active', 'degraded', 'resizing', 'suspending',
        'suspended', 'resuming', 'rebooting', 'rebuilding', 'error', 'deleting', 'deleted')),
    CONSTRAINT ck_clusters_deleted CHECK ((state = 'deleted') = (deleted_at IS NOT NULL)),
    CONSTRAINT ck_clusters_allocated_through CHECK (allocated_through IN ('v-ipu', 'host-devices')),
    CONSTRAINT ck_clusters_size
        CHECK (machines > 0 AND CASE allocated_through WHEN 'v-ipu' THEN ipus = 4 * machines ELSE ipus > 0 END),
    CONSTRAINT ck_clusters_endpoint CHECK (num_nulls(endpoint_host, endpoint_port) IN (0, 2)),
    CONSTRAINT ck_clusters_idle_suspend_minutes CHECK (idle_suspend_minutes > 0),
    CONSTRAINT uq_clusters_project_id_id UNIQUE (project_id, id),
    CONSTRAINT uq_clusters_external_name UNIQUE (external_name)
);
COMMENT ON COLUMN clusters.external_name IS '<cluster>-<incarnation>, never reused';
COMMENT ON COLUMN clusters.repair_window IS 'as in the API; NULL: repairs begin at any time';
COMMENT ON COLUMN clusters.endpoint_host IS 'user endpoint of its V-IPU allocation; NULL: it has none now';
COMMENT ON COLUMN clusters.keys_revision IS 'counts changes of ssh_keys';
COMMENT ON COLUMN clusters.expiry_warned_at IS 'of this expires_at';
COMMENT ON COLUMN clusters.idle_suspend_minutes IS 'suspended after so long without use; NULL: never';
COMMENT ON COLUMN clusters.idle_counted_from IS 'when idle_suspend_minutes was changed';
COMMENT ON COLUMN clusters.s3_revision IS 'counts changes of its S3 connections; 0: it never had one';
COMMENT ON COLUMN clusters.preemptible IS 'suspended, with notice, when an ordinary cluster needs its machines';
COMMENT ON COLUMN clusters.notice_revision IS 'counts notices of its preemption, and their ends; 0: it never had one';
COMMENT ON COLUMN clusters.ssh_authority IS
    'public key whose certificates its servers are to accept, of keys_revision too; NULL: none';
CREATE INDEX ix_clusters_expires_at ON clusters (expires_at) WHERE deleted_at IS NULL AND expires_at IS NOT NULL;
CREATE INDEX ix_clusters_preemptible ON clusters (region, machine_type) WHERE deleted_at IS NULL AND preemptible;
CREATE INDEX ix_clusters_project_created ON clusters (project_id, created_at, id);
CREATE INDEX ix_clusters_project_living ON clusters (project_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX ix_clusters_region_idle ON clusters (region)
    WHERE deleted_at IS NULL AND idle_suspend_minutes IS NOT NULL;
CREATE UNIQUE INDEX uq_clusters_living_name ON clusters (project_id, name) WHERE deleted_at IS NULL;
GRANT SELECT, INSERT, UPDATE ON clusters TO ipucloud_app;

CREATE TABLE cluster_s3_connections (
    project_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    connection_id uuid NOT NULL,
    place integer NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_cluster_s3_connections PRIMARY KEY (project_id, cluster_id, connection_id),
    CONSTRAINT fk_cluster_s3_connections_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_cluster_s3_connections_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
        REFERENCES clusters (project_id, id)
);
COMMENT ON TABLE cluster_s3_connections IS 'S3 connections that the servers of a cluster are to have';
CREATE INDEX ix_cluster_s3_connections_connection ON cluster_s3_connections (project_id, connection_id);
GRANT SELECT, INSERT, DELETE ON cluster_s3_connections TO ipucloud_app;

CREATE TABLE partitions (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    origin text NOT NULL,
    number integer,
    name text NOT NULL,
    external_name text NOT NULL,
    desired_state text NOT NULL,
    state text NOT NULL,
    state_reason text,
    state_entered_at timestamptz DEFAULT app_now() NOT NULL,
    requested jsonb,
    observed jsonb,
    observed_at timestamptz,
    ipuof jsonb,
    ipuof_at timestamptz,
    reset_relocatable boolean DEFAULT false NOT NULL,
    reset_fence bigint,
    reset_sent_at timestamptz,
    reset_confirmed boolean DEFAULT false NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    removed_at timestamptz,
    version bigint DEFAULT '1' NOT NULL,
    status jsonb,
    status_at timestamptz,
    lost boolean DEFAULT false NOT NULL,
    CONSTRAINT pk_partitions PRIMARY KEY (id),
    CONSTRAINT fk_partitions_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_partitions_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
        REFERENCES clusters (project_id, id),
    CONSTRAINT ck_partitions_origin CHECK (origin IN ('cluster', 'api', 'customer')),
    CONSTRAINT ck_partitions_desired_state CHECK (desired_state IN ('present', 'unmanaged', 'reset', 'absent')),
    CONSTRAINT ck_partitions_state
        CHECK (state IN ('creating', 'active', 'resetting', 'error', 'unknown', 'missing', 'removing', 'removed')),
    CONSTRAINT ck_partitions_removed CHECK ((state = 'removed') = (removed_at IS NOT NULL)),
    CONSTRAINT ck_partitions_requested CHECK ((origin = 'api') = (requested IS NOT NULL AND number IS NOT NULL)),
    CONSTRAINT ck_partitions_customers_own_are_unmanaged CHECK (origin <> 'customer' OR desired_state = 'unmanaged'),
    CONSTRAINT ck_partitions_removed_are_absent
        CHECK (desired_state = 'absent' OR origin = 'customer' OR removed_at IS NULL),
    CONSTRAINT ck_partitions_observed CHECK ((observed IS NULL) = (observed_at IS NULL)),
    CONSTRAINT ck_partitions_status CHECK ((status IS NULL) = (status_at IS NULL)),
    CONSTRAINT ck_partitions_error_has_reason CHECK (state <> 'error' OR state_reason IS NOT NULL),
    CONSTRAINT ck_partitions_ipuof CHECK ((ipuof IS NULL) = (ipuof_at IS NULL)),
    CONSTRAINT uq_partitions_project_id_id UNIQUE (project_id, id),
    CONSTRAINT uq_partitions_cluster_id_external_name UNIQUE (cluster_id, external_name)
);
COMMENT ON COLUMN partitions.number IS 'of those asked for by the API, counted per cluster';
COMMENT ON COLUMN partitions.external_name IS 'its id at the controller';
COMMENT ON COLUMN partitions.reset_fence IS 'fence under which a reset was to be sent';
COMMENT ON COLUMN partitions.status IS 'what its controller says while it is not active';
COMMENT ON COLUMN partitions.lost IS 'with its allocation, which is restored';
CREATE INDEX ix_partitions_cluster ON partitions (project_id, cluster_id, created_at);
CREATE INDEX ix_partitions_in_error ON partitions (project_id, cluster_id) WHERE state IN ('error', 'resetting');
CREATE UNIQUE INDEX uq_partitions_living_name ON partitions (cluster_id, name)
    WHERE removed_at IS NULL AND origin = 'api';
GRANT SELECT, INSERT, UPDATE, DELETE ON partitions TO ipucloud_app;

CREATE TABLE poplar_servers (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    ordinal integer NOT NULL,
    name text NOT NULL,
    state text NOT NULL,
    ssh_host text,
    ssh_port integer,
    ssh_user text,
    host_key text,
    host_key_fingerprint text,
    boot_before text,
    ssh_keys jsonb,
    ssh_keys_since timestamptz,
    generation integer DEFAULT '1' NOT NULL,
    s3_revision integer,
    s3_connections jsonb,
    s3_mounts jsonb,
    s3_observed_at timestamptz,
    notice_revision integer,
    ssh_authority text,
    CONSTRAINT pk_poplar_servers PRIMARY KEY (id),
    CONSTRAINT fk_poplar_servers_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_poplar_servers_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
        REFERENCES clusters (project_id, id),
    CONSTRAINT ck_poplar_servers_state
        CHECK (state IN ('pending', 'running', 'rebooting', 'rebuilding', 'off', 'deleted')),
    CONSTRAINT uq_poplar_servers_project_id_id UNIQUE (project_id, id),
    CONSTRAINT uq_poplar_servers_cluster_id_ordinal UNIQUE (cluster_id, ordinal)
);
COMMENT ON COLUMN poplar_servers.name IS '<external name>-p<ordinal>';
COMMENT ON COLUMN poplar_servers.boot_before IS 'while it restarts: its boot id before that, once known';
COMMENT ON COLUMN poplar_servers.ssh_keys IS 'as in clusters; those it was last seen to accept, NULL: not seen';
COMMENT ON COLUMN poplar_servers.generation IS 'how often its system was to be written';
COMMENT ON COLUMN poplar_servers.s3_revision IS 'as in clusters; the one it was last seen to have, NULL: not seen';
COMMENT ON COLUMN poplar_servers.s3_connections IS 'names of those it was last seen to have';
COMMENT ON COLUMN poplar_servers.s3_mounts IS 'folders at which it was last seen to have mounted some of them';
COMMENT ON COLUMN poplar_servers.notice_revision IS 'as in clusters; the one it was last seen to have';
COMMENT ON COLUMN poplar_servers.ssh_authority IS 'as in clusters; the one it was last seen to trust';
CREATE INDEX ix_poplar_servers_cluster ON poplar_servers (project_id, cluster_id);
GRANT SELECT, INSERT, UPDATE ON poplar_servers TO ipucloud_app;

CREATE TABLE vipu_access_keys (
    name text NOT NULL,
    project_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    number integer NOT NULL,
    sha256 text NOT NULL,
    ends_server_key boolean NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    replaced_at timestamptz,
    CONSTRAINT pk_vipu_access_keys PRIMARY KEY (name),
    CONSTRAINT fk_vipu_access_keys_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_vipu_access_keys_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
        REFERENCES clusters (project_id, id),
    CONSTRAINT ck_vipu_access_keys_sha256 CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    CONSTRAINT uq_vipu_access_keys_cluster_id_number UNIQUE (cluster_id, number)
);
COMMENT ON TABLE vipu_access_keys IS 'keys that customers have to secure V-IPU controllers';
COMMENT ON COLUMN vipu_access_keys.name IS 'its id at the controller, never reused';
COMMENT ON COLUMN vipu_access_keys.number IS 'counted per cluster';
COMMENT ON COLUMN vipu_access_keys.sha256 IS 'of the secret, which is stored nowhere';
CREATE INDEX ix_vipu_access_keys_cluster ON vipu_access_keys (project_id, cluster_id);
CREATE UNIQUE INDEX uq_vipu_access_keys_valid ON vipu_access_keys (cluster_id) WHERE replaced_at IS NULL;
GRANT SELECT, INSERT, UPDATE (replaced_at) ON vipu_access_keys TO ipucloud_app;

CREATE TABLE vipu_links (
    cluster_id uuid NOT NULL,
    project_id uuid NOT NULL,
    links jsonb NOT NULL,
    observed_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_vipu_links PRIMARY KEY (cluster_id),
    CONSTRAINT fk_vipu_links_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_vipu_links_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
        REFERENCES clusters (project_id, id)
);
COMMENT ON TABLE vipu_links IS 'the links of clusters in use, as their controllers showed them last';
CREATE INDEX ix_vipu_links_cluster ON vipu_links (project_id, cluster_id);
GRANT SELECT, INSERT, UPDATE (links, observed_at) ON vipu_links TO ipucloud_app;

CREATE TABLE cluster_rebuilds (
    project_id uuid NOT NULL,
    operation_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    disk text NOT NULL,
    image text NOT NULL,
    user_data text,
    ssh_keys jsonb DEFAULT '[]' NOT NULL,
    keys_revision integer NOT NULL,
    begun_at timestamptz,
    CONSTRAINT pk_cluster_rebuilds PRIMARY KEY (project_id, operation_id),
    CONSTRAINT fk_cluster_rebuilds_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_cluster_rebuilds_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
        REFERENCES clusters (project_id, id),
    CONSTRAINT fk_cluster_rebuilds_project_id_operation_id FOREIGN KEY (project_id, operation_id)
        REFERENCES operations (project_id, id),
    CONSTRAINT ck_cluster_rebuilds_disk CHECK (disk IN ('keep', 'wipe'))
);
COMMENT ON TABLE cluster_rebuilds IS
    'what Poplar servers are to be written with; the cluster has it once a server was written';
CREATE INDEX ix_cluster_rebuilds_cluster ON cluster_rebuilds (project_id, cluster_id);
GRANT SELECT, INSERT, UPDATE (begun_at) ON cluster_rebuilds TO ipucloud_app;

CREATE TABLE resizes (
    operation_id uuid NOT NULL,
    project_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    from_flavor text NOT NULL,
    from_machines integer NOT NULL,
    from_ipus integer NOT NULL,
    from_sku text NOT NULL,
    to_flavor text NOT NULL,
    to_machines integer NOT NULL,
    to_ipus integer NOT NULL,
    to_sku text NOT NULL,
    moves boolean,
    idle text,
    CONSTRAINT pk_resizes PRIMARY KEY (operation_id),
    CONSTRAINT fk_resizes_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_resizes_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
        REFERENCES clusters (project_id, id),
    CONSTRAINT fk_resizes_project_id_operation_id FOREIGN KEY (project_id, operation_id)
        REFERENCES operations (project_id, id),
    CONSTRAINT ck_resizes_idle CHECK (idle IN ('joins', 'leaves')),
    CONSTRAINT ck_resizes_sizes CHECK (from_machines > 0 AND to_machines > 0 AND from_machines <> to_machines)
);
COMMENT ON TABLE resizes IS 'what a resize leads from and to, for as long as its cluster is known';
COMMENT ON COLUMN resizes.moves IS 'to another block of machines; NULL: it has waited for capacity so far';
COMMENT ON COLUMN resizes.idle IS 'the allocations that its present steps leave alone; NULL: none';
CREATE INDEX ix_resizes_cluster ON resizes (project_id, cluster_id);
CREATE INDEX ix_resizes_operation ON resizes (project_id, operation_id);
GRANT SELECT, INSERT, UPDATE (moves, idle) ON resizes TO ipucloud_app;

CREATE FUNCTION record_first_partition(partition uuid, cluster uuid) RETURNS void LANGUAGE sql AS $$
  INSERT INTO partitions (id, project_id, cluster_id, origin, name, external_name, desired_state, state)
  SELECT partition, project_id, id, 'cluster', external_name, external_name, 'unmanaged', 'active'
    FROM clusters WHERE id = cluster
  ON CONFLICT (cluster_id, external_name) DO NOTHING
$$;

CREATE FUNCTION remove_partitions(project uuid, cluster uuid, operation uuid) RETURNS void LANGUAGE sql AS $$
  WITH removed AS (
    UPDATE partitions
       SET desired_state = CASE origin WHEN 'customer' THEN desired_state ELSE 'absent' END, state = 'removed',
           removed_at = app_now(), state_reason = 'the cluster was taken down', state_entered_at = app_now(),
           version = version + 1
     WHERE project_id = project AND cluster_id = cluster AND removed_at IS NULL
    RETURNING id, origin
  )
INSERT INTO events (project_id, type, subject_type, subject_id, operation_id, request_id, data)
  SELECT project, 'partition.removed', 'partition', id, operation, NULL, jsonb_build_object('cluster', cluster)
    FROM removed WHERE origin <> 'customer'
$$;

CREATE FUNCTION keep_partitions(project uuid, cluster uuid, operation uuid) RETURNS void LANGUAGE sql AS $$
  WITH kept AS (
    UPDATE partitions
       SET desired_state = CASE desired_state WHEN 'absent' THEN 'absent' ELSE 'unmanaged' END,
           state = CASE desired_state WHEN 'absent' THEN 'removed' ELSE 'creating' END,
           removed_at = CASE desired_state WHEN 'absent' THEN app_now() END,
           state_reason = (
             SELECT CASE WHEN desired_state = 'absent' AND clusters.state = 'resizing'
                         THEN 'it was being removed when its cluster was resized'
                         WHEN desired_state = 'absent' THEN 'it was being removed when its cluster was repaired'
                         WHEN clusters.state = 'resizing' THEN 'it is made again by the resize of its cluster'
                         ELSE 'it is made again by the repair of its cluster' END
               FROM clusters WHERE clusters.id = cluster),
           state_entered_at = app_now(), observed = observed || '{"ipus": []}', ipuof = NULL, ipuof_at = NULL,
           status = NULL, status_at = NULL, reset_fence = NULL, reset_sent_at = NULL, reset_confirmed = false,
           version = version + 1
     WHERE project_id = project AND cluster_id = cluster AND removed_at IS NULL
       AND (state <> 'missing' OR lost OR desired_state <> 'unmanaged')
    RETURNING id, origin, state
  )
INSERT INTO events (project_id, type, subject_type, subject_id, operation_id, request_id, data)
  SELECT project, 'partition.' || state, 'partition', id, operation, NULL, jsonb_build_object('cluster', cluster)
    FROM kept WHERE origin <> 'customer'
$$;

CREATE FUNCTION lose_partitions(project uuid, cluster uuid) RETURNS void LANGUAGE sql AS $$
  WITH lost AS (
    UPDATE partitions
       SET desired_state = CASE desired_state WHEN 'absent' THEN 'absent' ELSE 'unmanaged' END,
           state = CASE desired_state WHEN 'absent' THEN 'removed' ELSE 'missing' END,
           removed_at = CASE desired_state WHEN 'absent' THEN app_now() END,
           state_reason = CASE desired_state WHEN 'absent' THEN 'the V-IPU controller lost it with the cluster''s allocation while it was being removed'
                                             ELSE 'the V-IPU controller lost it with the cluster''s allocation; it is made again automatically' END,
           state_entered_at = app_now(), lost = desired_state <> 'absent', status = NULL, status_at = NULL,
           ipuof = NULL, ipuof_at = NULL, reset_fence = NULL, reset_sent_at = NULL, reset_confirmed = false,
           version = version + 1
     WHERE project_id = project AND cluster_id = cluster AND removed_at IS NULL
       AND (state <> 'missing' OR desired_state <> 'unmanaged')
    RETURNING id, origin, state, state_reason
  )
INSERT INTO events (project_id, type, subject_type, subject_id, operation_id, request_id, data)
  SELECT project, 'partition.' || state, 'partition', id, NULL, NULL,
         jsonb_build_object('cluster', cluster, 'reason', state_reason)
    FROM lost WHERE origin <> 'customer'
$$;

CREATE FUNCTION rename_partitions(project uuid, cluster uuid, named text) RETURNS void LANGUAGE sql AS $$
  DELETE FROM partitions
   WHERE project_id = project AND cluster_id = cluster AND origin = 'customer' AND removed_at IS NOT NULL;
  UPDATE partitions p
     SET external_name = CASE origin WHEN 'api' THEN named || '-' || number ELSE named END,
         name = CASE origin WHEN 'api' THEN p.name ELSE named END, version = p.version + 1
    FROM clusters c
   WHERE p.project_id = project AND p.cluster_id = cluster AND c.project_id = project AND c.id = cluster
     AND c.state IN ('rebuilding', 'resizing') AND origin <> 'customer'
     AND (removed_at IS NULL OR p.external_name = c.external_name);
$$;

CREATE VIEW kept_partitions WITH (security_invoker = true) AS
SELECT id, project_id, cluster_id, external_name, created_at, lost AND state = 'missing' AS lost,
       CASE origin WHEN 'cluster' THEN NULL ELSE coalesce(requested, observed - 'ipus') END AS shape
  FROM partitions WHERE removed_at IS NULL AND (state = 'creating' OR lost AND state = 'missing');
GRANT SELECT ON kept_partitions TO ipucloud_app;

CREATE VIEW shown_partitions WITH (security_invoker = true) AS
SELECT id, project_id, cluster_id, name, created_at, removed_at,
       coalesce(observed, requested) -> 'size' AS size,
       coalesce(observed, requested) -> 'reconfigurable' AS reconfigurable
  FROM partitions;
GRANT SELECT ON shown_partitions TO ipucloud_app;

CREATE FUNCTION set_region_of_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  cluster uuid;
BEGIN
  CASE NEW.subject_type
    WHEN 'cluster' THEN cluster := NEW.subject_id;
    WHEN 'partition' THEN
      SELECT cluster_id INTO cluster FROM partitions WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'job' THEN
      SELECT cluster_id INTO cluster FROM jobs WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'service' THEN
      SELECT cluster_id INTO cluster FROM services WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'terminal' THEN
      SELECT cluster_id INTO cluster FROM terminals WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'fault_report' THEN
      SELECT cluster_id INTO cluster FROM fault_reports WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'volume' THEN
      SELECT region INTO NEW.region FROM volumes WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'snapshot' THEN
      SELECT region INTO NEW.region FROM snapshots WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'address' THEN
      SELECT region INTO NEW.region FROM addresses WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'reservation' THEN
      SELECT region INTO NEW.region FROM reservations WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    ELSE
      NEW.region := NEW.data ->> 'region';
  END CASE;
  IF cluster IS NOT NULL THEN
    SELECT region INTO NEW.region FROM clusters WHERE project_id = NEW.project_id AND id = cluster;
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER event_region BEFORE INSERT ON events FOR EACH ROW
  WHEN (NEW.region IS NULL AND NEW.project_id IS NOT NULL AND NEW.subject_type IN (
    'cluster', 'partition', 'job', 'service', 'terminal', 'fault_report', 'volume', 'snapshot', 'address',
    'reservation', 'quota_request'))
  EXECUTE FUNCTION set_region_of_event();
