-- inventory/: pods, machines, hosts, who holds them, and their site.

CREATE TABLE pod_runs (
    id uuid NOT NULL,
    region text NOT NULL,
    machine_type text NOT NULL,
    gw_group text NOT NULL,
    number integer NOT NULL,
    whole_mask integer DEFAULT 0 NOT NULL,
    largest_run integer GENERATED ALWAYS AS (
        CASE WHEN whole_mask = 65535 THEN 16
             WHEN whole_mask & 255 = 255 OR whole_mask >> 8 = 255 THEN 8
             WHEN whole_mask & (whole_mask >> 1) & (whole_mask >> 2) & (whole_mask >> 3) & 4369 <> 0 THEN 4
             WHEN whole_mask & (whole_mask >> 1) & 21845 <> 0 THEN 2
             WHEN whole_mask <> 0 THEN 1 ELSE 0 END
        ) STORED NOT NULL,
    CONSTRAINT pk_pod_runs PRIMARY KEY (id),
    CONSTRAINT uq_pod_runs_region_machine_type_gw_group_number UNIQUE (region, machine_type, gw_group, number),
    CONSTRAINT ck_pod_runs_whole_mask CHECK (whole_mask BETWEEN 0 AND 65535)
);
ALTER TABLE pod_runs SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0);
COMMENT ON TABLE pod_runs IS
    '16 neighbouring pods: number is position / 16; bit i of whole_mask: pod position % 16 = i is wholly free';
CREATE INDEX ix_pod_runs_room ON pod_runs (region, machine_type, largest_run, gw_group, number) WHERE largest_run > 0;
GRANT SELECT, INSERT, UPDATE, DELETE ON pod_runs TO ipucloud_app;

CREATE TABLE site_regions (
    region text NOT NULL,
    typical_seconds jsonb DEFAULT '{}' NOT NULL,
    synced_at timestamptz DEFAULT app_now() NOT NULL,
    simulated boolean DEFAULT false NOT NULL,
    CONSTRAINT pk_site_regions PRIMARY KEY (region)
);
COMMENT ON COLUMN site_regions.simulated IS 'the site says that it has no hardware, and can be asked for faults';
GRANT SELECT, INSERT, UPDATE, DELETE ON site_regions TO ipucloud_app;

CREATE TABLE reservations (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    name text NOT NULL,
    region text NOT NULL,
    flavor text NOT NULL,
    machine_type text NOT NULL,
    blocks integer NOT NULL,
    machines integer NOT NULL,
    ipus integer NOT NULL,
    servers integer NOT NULL,
    own_hosts boolean NOT NULL,
    sku text NOT NULL,
    currency text NOT NULL,
    starts_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    cancel_until timestamptz,
    state text DEFAULT 'scheduled' NOT NULL,
    state_entered_at timestamptz DEFAULT app_now() NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_reservations PRIMARY KEY (id),
    CONSTRAINT fk_reservations_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT uq_reservations_project_id_id UNIQUE (project_id, id),
    CONSTRAINT ck_reservations_state CHECK (state IN ('scheduled', 'active', 'ended', 'cancelled')),
    CONSTRAINT ck_reservations_size CHECK (blocks > 0 AND machines > 0 AND ipus > 0 AND servers > 0),
    CONSTRAINT ck_reservations_period CHECK (starts_at < ends_at),
    CONSTRAINT ck_reservations_whole_minutes
        CHECK (date_trunc('minute', starts_at, 'UTC') = starts_at AND date_trunc('minute', ends_at, 'UTC') = ends_at)
);
COMMENT ON TABLE reservations IS 'blocks of machines held for a project, and billed from starts_at to ends_at';
COMMENT ON COLUMN reservations.blocks IS 'clusters that it has room for';
COMMENT ON COLUMN reservations.machines IS 'of one block';
COMMENT ON COLUMN reservations.ipus IS 'of one block';
COMMENT ON COLUMN reservations.servers IS 'Poplar servers of one block';
COMMENT ON COLUMN reservations.own_hosts IS 'the machines are the hosts';
COMMENT ON COLUMN reservations.sku IS 'that reserved minutes are billed as';
COMMENT ON COLUMN reservations.cancel_until IS 'NULL: it could never be cancelled';
COMMENT ON COLUMN reservations.created_by IS 'token';
CREATE INDEX ix_reservations_live ON reservations (starts_at) WHERE state IN ('scheduled', 'active');
CREATE INDEX ix_reservations_project ON reservations (project_id, created_at, id);
GRANT SELECT, INSERT, UPDATE ON reservations TO ipucloud_app;

CREATE TABLE simulated_faults (
    id uuid NOT NULL,
    region text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    link text,
    state text DEFAULT 'requested' NOT NULL,
    state_entered_at timestamptz DEFAULT app_now() NOT NULL,
    detail text,
    created_by uuid NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_simulated_faults PRIMARY KEY (id),
    CONSTRAINT ck_simulated_faults_kind CHECK (kind IN ('machine', 'link', 'host', 'controllers')),
    CONSTRAINT ck_simulated_faults_link CHECK (link IN ('internal', 'next', 'gateway')),
    CONSTRAINT ck_simulated_faults_state CHECK (state IN ('requested', 'in_force', 'ending', 'ended', 'failed')),
    CONSTRAINT ck_simulated_faults_of_link CHECK ((link IS NOT NULL) = (kind = 'link')),
    CONSTRAINT fk_simulated_faults_region FOREIGN KEY (region) REFERENCES site_regions (region)
);
COMMENT ON COLUMN simulated_faults.name IS
    'of the machine or host; of the region: every V-IPU controller of the site';
COMMENT ON COLUMN simulated_faults.detail IS 'why it is not carried out yet, or not at all';
COMMENT ON COLUMN simulated_faults.created_by IS 'token';
CREATE INDEX ix_simulated_faults_region ON simulated_faults (region, created_at, id);
CREATE UNIQUE INDEX uq_simulated_faults_open ON simulated_faults (kind, name) WHERE state NOT IN ('ended', 'failed');
GRANT SELECT, INSERT, UPDATE (state, state_entered_at, detail) ON simulated_faults TO ipucloud_app;

CREATE TABLE vipu_controllers (
    region text NOT NULL,
    name text NOT NULL,
    host text NOT NULL,
    admin_port integer NOT NULL,
    secure boolean DEFAULT false NOT NULL,
    authority text,
    cluster_test boolean DEFAULT true NOT NULL,
    version text,
    version_at timestamptz,
    started_at timestamptz,
    finished_at timestamptz,
    stale_at timestamptz,
    error text,
    failed_since timestamptz,
    withheld boolean DEFAULT false NOT NULL,
    CONSTRAINT pk_vipu_controllers PRIMARY KEY (region, name),
    CONSTRAINT ck_vipu_controllers_version CHECK ((version IS NULL) = (version_at IS NULL)),
    CONSTRAINT ck_vipu_controllers_complete CHECK ((started_at IS NULL) = (finished_at IS NULL)),
    CONSTRAINT ck_vipu_controllers_failed CHECK ((error IS NULL) = (failed_since IS NULL)),
    CONSTRAINT fk_vipu_controllers_region FOREIGN KEY (region) REFERENCES site_regions (region)
);
COMMENT ON COLUMN vipu_controllers.authority IS 'PEM that it is verified with; NULL: it speaks plaintext';
COMMENT ON COLUMN vipu_controllers.version IS 'as it said last';
COMMENT ON COLUMN vipu_controllers.version_at IS 'when it said so first';
COMMENT ON COLUMN vipu_controllers.started_at IS 'of the last complete reading';
COMMENT ON COLUMN vipu_controllers.finished_at IS 'of the last complete reading';
COMMENT ON COLUMN vipu_controllers.stale_at IS 'from then on nothing is known; NULL: never observed';
COMMENT ON COLUMN vipu_controllers.error IS 'why the last reading is not complete';
COMMENT ON COLUMN vipu_controllers.withheld IS 'two readings in a row failed: new clusters get none of its machines';
GRANT SELECT, INSERT, UPDATE, DELETE ON vipu_controllers TO ipucloud_app;

CREATE TABLE pods (
    id uuid NOT NULL,
    region text NOT NULL,
    machine_type text NOT NULL,
    name text NOT NULL,
    vipu_cluster_id text,
    gw_group text NOT NULL,
    position integer NOT NULL,
    topology text NOT NULL,
    gateway_topology text,
    run_id uuid NOT NULL,
    free_mask integer DEFAULT 0 NOT NULL,
    allocated_mask integer DEFAULT 0 NOT NULL,
    cleaning_mask integer DEFAULT 0 NOT NULL,
    unhealthy_mask integer DEFAULT 0 NOT NULL,
    maintenance_mask integer DEFAULT 0 NOT NULL,
    largest_free integer GENERATED ALWAYS AS (
        CASE WHEN free_mask = 65535 THEN 16
             WHEN free_mask & 255 = 255 OR free_mask >> 8 = 255 THEN 8
             WHEN free_mask & (free_mask >> 1) & (free_mask >> 2) & (free_mask >> 3) & 4369 <> 0 THEN 4
             WHEN free_mask & (free_mask >> 1) & 21845 <> 0 THEN 2
             WHEN free_mask <> 0 THEN 1 ELSE 0 END
        ) STORED NOT NULL,
    validating_mask integer DEFAULT 0 NOT NULL,
    controller text,
    CONSTRAINT pk_pods PRIMARY KEY (id),
    CONSTRAINT uq_pods_region_machine_type_gw_group_position UNIQUE (region, machine_type, gw_group, position),
    CONSTRAINT fk_pods_controller FOREIGN KEY (region, controller) REFERENCES vipu_controllers (region, name),
    CONSTRAINT ck_pods_free_mask CHECK (free_mask BETWEEN 0 AND 65535),
    CONSTRAINT uq_pods_name UNIQUE (name),
    CONSTRAINT fk_pods_run_id FOREIGN KEY (run_id) REFERENCES pod_runs (id)
);
ALTER TABLE pods SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0);
COMMENT ON COLUMN pods.vipu_cluster_id IS 'NULL: a server with IPUs of its own';
COMMENT ON COLUMN pods.controller IS 'that it is under; NULL: a server with IPUs of its own';
CREATE INDEX ix_pods_controller ON pods (region, controller);
CREATE INDEX ix_pods_room ON pods (region, machine_type, largest_free, gw_group, position)
    WHERE largest_free BETWEEN 1 AND 8;
CREATE INDEX ix_pods_run_id ON pods (run_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON pods TO ipucloud_app;

CREATE TABLE machines (
    id uuid NOT NULL,
    pod_id uuid NOT NULL,
    slot integer NOT NULL,
    name text NOT NULL,
    rnic text NOT NULL,
    bmc text NOT NULL,
    gateway text,
    health text DEFAULT 'ok' NOT NULL,
    maintenance boolean DEFAULT false NOT NULL,
    allocatable boolean DEFAULT true NOT NULL,
    unlisted_since timestamptz,
    validating boolean DEFAULT false NOT NULL,
    topology_ids integer[],
    CONSTRAINT pk_machines PRIMARY KEY (id),
    CONSTRAINT ck_machines_health CHECK (health IN ('ok', 'unknown', 'degraded', 'failed')),
    CONSTRAINT ck_machines_slot CHECK (slot BETWEEN 0 AND 15),
    CONSTRAINT ck_machines_topology_ids
        CHECK (cardinality(topology_ids) = 4 AND 0 <= ALL (topology_ids) AND 63 >= ALL (topology_ids)),
    CONSTRAINT uq_machines_pod_id_slot UNIQUE (pod_id, slot),
    CONSTRAINT fk_machines_pod_id FOREIGN KEY (pod_id) REFERENCES pods (id),
    CONSTRAINT uq_machines_name UNIQUE (name)
);
COMMENT ON COLUMN machines.name IS 'its V-IPU agent id too';
COMMENT ON COLUMN machines.allocatable IS 'no live report prevents it';
COMMENT ON COLUMN machines.unlisted_since IS 'the site''s inventory does not list it any more';
COMMENT ON COLUMN machines.validating IS 'nothing but its validation keeps it from clusters';
COMMENT ON COLUMN machines.topology_ids IS 'of its IPUs 0 to 3 at its V-IPU controller; NULL: it is not under V-IPU';
GRANT SELECT, INSERT, UPDATE, DELETE ON machines TO ipucloud_app;

CREATE TABLE hardware_validations (
    id uuid NOT NULL,
    machine_id uuid NOT NULL,
    reason text NOT NULL,
    requested_at timestamptz DEFAULT app_now() NOT NULL,
    requested_by text,
    alone boolean DEFAULT false NOT NULL,
    name text,
    started_at timestamptz,
    deadline_at timestamptz,
    result text,
    findings text,
    tested_at timestamptz,
    released_at timestamptz,
    ended_at timestamptz,
    CONSTRAINT pk_hardware_validations PRIMARY KEY (id),
    CONSTRAINT ck_hardware_validations_reason CHECK (reason IN ('intake', 'release', 'repair', 'operator')),
    CONSTRAINT ck_hardware_validations_result CHECK (result IN ('passed', 'failed', 'abandoned')),
    CONSTRAINT ck_hardware_validations_started CHECK (num_nulls(name, started_at, deadline_at) IN (0, 3)),
    CONSTRAINT ck_hardware_validations_tested CHECK ((result IS NULL) = (tested_at IS NULL) OR name IS NULL),
    CONSTRAINT ck_hardware_validations_ended CHECK (ended_at IS NULL OR result IS NOT NULL),
    CONSTRAINT fk_hardware_validations_machine_id FOREIGN KEY (machine_id) REFERENCES machines (id)
);
COMMENT ON COLUMN hardware_validations.requested_by IS 'id of an operator''s token';
COMMENT ON COLUMN hardware_validations.alone IS 'not with others of its pod';
COMMENT ON COLUMN hardware_validations.name IS 'at the site, of all that are tested together; NULL: it waits';
COMMENT ON COLUMN hardware_validations.deadline_at IS 'of its present part';
COMMENT ON COLUMN hardware_validations.released_at IS 'nothing of it was at the site; not yet verified';
CREATE INDEX ix_hardware_validations_machine ON hardware_validations (machine_id, requested_at);
CREATE INDEX ix_hardware_validations_name ON hardware_validations (name) WHERE name IS NOT NULL;
CREATE UNIQUE INDEX uq_hardware_validations_open ON hardware_validations (machine_id) WHERE ended_at IS NULL;
GRANT SELECT, INSERT, UPDATE (alone, name, started_at, deadline_at, result, findings, tested_at, released_at,
    ended_at) ON hardware_validations TO ipucloud_app;

CREATE TABLE hosts (
    id uuid NOT NULL,
    region text NOT NULL,
    name text NOT NULL,
    address text NOT NULL,
    machine_id uuid,
    health text DEFAULT 'ok' NOT NULL,
    maintenance boolean DEFAULT false NOT NULL,
    allocatable boolean DEFAULT true NOT NULL,
    held boolean DEFAULT false NOT NULL,
    unlisted_since timestamptz,
    CONSTRAINT pk_hosts PRIMARY KEY (id),
    CONSTRAINT ck_hosts_health CHECK (health IN ('ok', 'unknown', 'degraded', 'failed')),
    CONSTRAINT uq_hosts_machine_id UNIQUE (machine_id),
    CONSTRAINT uq_hosts_name UNIQUE (name),
    CONSTRAINT fk_hosts_machine_id FOREIGN KEY (machine_id) REFERENCES machines (id)
);
ALTER TABLE hosts SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0);
COMMENT ON COLUMN hosts.machine_id IS 'the machine that is this host';
COMMENT ON COLUMN hosts.allocatable IS 'no live report prevents it';
COMMENT ON COLUMN hosts.held IS 'a cluster holds it';
COMMENT ON COLUMN hosts.unlisted_since IS 'the site''s inventory does not list it any more';
CREATE INDEX ix_hosts_free ON hosts (region, name) WHERE machine_id IS NULL AND NOT held;
CREATE INDEX ix_hosts_region ON hosts (region);
GRANT SELECT, INSERT, UPDATE, DELETE ON hosts TO ipucloud_app;

CREATE TABLE allocations (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    cluster_id uuid,
    machine_id uuid,
    host_id uuid,
    ordinal integer NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    released_at timestamptz,
    freed_at timestamptz,
    resize text,
    counted boolean DEFAULT true NOT NULL,
    reservation_id uuid,
    block integer,
    CONSTRAINT pk_allocations PRIMARY KEY (id),
    CONSTRAINT fk_allocations_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_allocations_project_id_reservation_id FOREIGN KEY (project_id, reservation_id)
        REFERENCES reservations (project_id, id),
    CONSTRAINT ck_allocations_holder CHECK (num_nonnulls(cluster_id, reservation_id) > 0),
    CONSTRAINT ck_allocations_block CHECK ((reservation_id IS NULL) = (block IS NULL)),
    CONSTRAINT ck_allocations_one_resource CHECK (num_nonnulls(machine_id, host_id) = 1),
    CONSTRAINT ck_allocations_released_before_freed
        CHECK (freed_at IS NULL OR (released_at IS NOT NULL AND released_at <= freed_at)),
    CONSTRAINT ck_allocations_resize CHECK (resize IN ('joins', 'leaves')),
    CONSTRAINT fk_allocations_machine_id FOREIGN KEY (machine_id) REFERENCES machines (id),
    CONSTRAINT fk_allocations_host_id FOREIGN KEY (host_id) REFERENCES hosts (id)
);
COMMENT ON COLUMN allocations.cluster_id IS 'NULL: a reservation holds it, and no cluster yet';
COMMENT ON COLUMN allocations.ordinal IS 'place of the machine or host within the cluster';
COMMENT ON COLUMN allocations.resize IS 'part in the open resize of its cluster; NULL: it stays, or none is open';
COMMENT ON COLUMN allocations.counted IS 'in the project''s quota; false: the other block of a resize is';
COMMENT ON COLUMN allocations.reservation_id IS 'that it is of; NULL: of none';
COMMENT ON COLUMN allocations.block IS 'number of the block within the reservation';
CREATE INDEX ix_allocations_cluster ON allocations (project_id, cluster_id);
CREATE INDEX ix_allocations_host ON allocations (host_id) WHERE host_id IS NOT NULL;
CREATE INDEX ix_allocations_machine ON allocations (machine_id) WHERE machine_id IS NOT NULL;
CREATE INDEX ix_allocations_reservation ON allocations (project_id, reservation_id) WHERE reservation_id IS NOT NULL;
CREATE UNIQUE INDEX uq_allocations_live_host ON allocations (host_id) WHERE freed_at IS NULL;
CREATE UNIQUE INDEX uq_allocations_live_machine ON allocations (machine_id) WHERE freed_at IS NULL;
GRANT SELECT, INSERT, UPDATE ON allocations TO ipucloud_app;

CREATE TABLE hardware_cleanings (
    allocation_id uuid NOT NULL,
    external_name text NOT NULL,
    observed jsonb DEFAULT '{}' NOT NULL,
    observed_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_hardware_cleanings PRIMARY KEY (allocation_id),
    CONSTRAINT fk_hardware_cleanings_allocation_id FOREIGN KEY (allocation_id) REFERENCES allocations (id)
);
COMMENT ON TABLE hardware_cleanings IS
    'what the site showed of a machine or host before another cluster could get it';
COMMENT ON COLUMN hardware_cleanings.external_name IS 'under which the cluster had used the hardware';
CREATE INDEX ix_hardware_cleanings_observed ON hardware_cleanings (observed_at);
GRANT SELECT, INSERT, UPDATE (observed, observed_at) ON hardware_cleanings TO ipucloud_app;

CREATE VIEW pod_masks WITH (security_invoker = true) AS
SELECT pod_id,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'free'), 0) AS free_mask,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'allocated'), 0) AS allocated_mask,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'cleaning'), 0) AS cleaning_mask,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'unhealthy'), 0) AS unhealthy_mask,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'maintenance'), 0) AS maintenance_mask,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'validating'), 0) AS validating_mask
  FROM (SELECT machines.pod_id, machines.slot,
               CASE WHEN held.released_at IS NOT NULL THEN 'cleaning'
                    WHEN held.id IS NOT NULL THEN 'allocated'
                    WHEN machines.allocatable AND coalesce(own.allocatable, true)
                         AND NOT coalesce(vipu_controllers.withheld, false) THEN 'free'
                    WHEN machines.maintenance OR own.maintenance THEN 'maintenance'
                    WHEN machines.validating AND coalesce(own.allocatable, true) THEN 'validating'
                    ELSE 'unhealthy' END AS state
          FROM machines
          JOIN pods ON pods.id = machines.pod_id
          LEFT JOIN vipu_controllers
            ON vipu_controllers.region = pods.region AND vipu_controllers.name = pods.controller
          LEFT JOIN hosts AS own ON own.machine_id = machines.id
          LEFT JOIN allocations AS held ON held.machine_id = machines.id AND held.freed_at IS NULL) AS slots
 GROUP BY pod_id;
GRANT SELECT ON pod_masks TO ipucloud_app;

CREATE FUNCTION settle_pods(settled uuid[]) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  whole constant integer := 65535;
  affects_run boolean := true;
  changed integer;
BEGIN
  IF cardinality(settled) = 1 THEN
    BEGIN -- The run is needed only when the pod becomes whole or ceases to be.
      PERFORM FROM pods WHERE id = settled[1] FOR NO KEY UPDATE;
      SELECT (pods.free_mask = whole) <> (truth.free_mask = whole) INTO affects_run
        FROM pods, pod_masks AS truth WHERE pods.id = settled[1] AND truth.pod_id = settled[1];
      IF affects_run THEN
        RAISE SQLSTATE 'RETRY'; -- releases the pod: its run comes first
      END IF;
    EXCEPTION WHEN SQLSTATE 'RETRY' THEN NULL;
    END;
  END IF;
  IF affects_run THEN
    PERFORM FROM pod_runs WHERE id IN (SELECT run_id FROM pods WHERE id = ANY (settled)) ORDER BY id FOR NO KEY UPDATE;
    PERFORM FROM pods WHERE id = ANY (settled) ORDER BY id FOR NO KEY UPDATE;
  END IF;
  UPDATE pods
     SET free_mask = truth.free_mask, allocated_mask = truth.allocated_mask, cleaning_mask = truth.cleaning_mask,
         unhealthy_mask = truth.unhealthy_mask, maintenance_mask = truth.maintenance_mask,
         validating_mask = truth.validating_mask
    FROM pod_masks AS truth
   WHERE truth.pod_id = ANY (settled) AND pods.id = truth.pod_id
     AND (pods.free_mask, pods.allocated_mask, pods.cleaning_mask, pods.unhealthy_mask, pods.maintenance_mask,
          pods.validating_mask)
         <> (truth.free_mask, truth.allocated_mask, truth.cleaning_mask, truth.unhealthy_mask, truth.maintenance_mask,
             truth.validating_mask);
  GET DIAGNOSTICS changed = ROW_COUNT;
  IF affects_run THEN
    UPDATE pod_runs SET whole_mask = truth.mask
      FROM (SELECT run_id, coalesce(bit_or(1 << position % 16) FILTER (WHERE free_mask = whole), 0) AS mask
              FROM pods WHERE run_id IN (SELECT run_id FROM pods WHERE id = ANY (settled)) GROUP BY run_id) AS truth
     WHERE pod_runs.id = truth.run_id AND whole_mask <> truth.mask;
  END IF;
  RETURN changed;
END
$$;

CREATE FUNCTION lock_room(place text, type text, wanted integer)
RETURNS TABLE (run uuid, pod uuid, mask integer) LANGUAGE plpgsql AS $$
DECLARE
  awaited_run uuid;
  awaited_pod uuid;
BEGIN
  LOOP
    BEGIN -- the best room that nobody else is taking
      SELECT NULL, id, free_mask INTO run, pod, mask FROM pods
       WHERE region = place AND machine_type = type AND largest_free BETWEEN 1 AND 8 AND largest_free >= wanted
       ORDER BY largest_free, gw_group, position LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
      IF NOT FOUND THEN
        SELECT id, NULL, whole_mask INTO run, pod, mask FROM pod_runs
         WHERE region = place AND machine_type = type AND largest_run > 0 AND largest_run >= wanted / 16
         ORDER BY largest_run, gw_group, number LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
      END IF;
      IF FOUND THEN
        RETURN NEXT;
        RETURN;
      END IF;
      RAISE SQLSTATE 'RETRY';
    EXCEPTION WHEN SQLSTATE 'RETRY' THEN NULL;
    END;
    -- What others are taking is free in this snapshot until they commit: none here means that the region is full.
    SELECT room.run_id, room.pod_id INTO awaited_run, awaited_pod
      FROM ((SELECT NULL::uuid AS run_id, id AS pod_id FROM pods
              WHERE region = place AND machine_type = type AND largest_free BETWEEN 1 AND 8 AND largest_free >= wanted
              ORDER BY largest_free, gw_group, position LIMIT 1)
            UNION ALL
            (SELECT id, NULL FROM pod_runs
              WHERE region = place AND machine_type = type AND largest_run > 0 AND largest_run >= wanted / 16
              ORDER BY largest_run, gw_group, number LIMIT 1)) AS room
     LIMIT 1;
    IF NOT FOUND THEN
      RETURN;
    END IF;
    BEGIN -- one row, by its id: several would be waited for in the order of an outdated snapshot
      IF awaited_pod IS NOT NULL THEN
        SELECT NULL, id, free_mask INTO run, pod, mask FROM pods
         WHERE id = awaited_pod AND largest_free BETWEEN 1 AND 8 AND largest_free >= wanted FOR NO KEY UPDATE;
      ELSE
        SELECT id, NULL, whole_mask INTO run, pod, mask FROM pod_runs
         WHERE id = awaited_run AND largest_run > 0 AND largest_run >= wanted / 16 FOR NO KEY UPDATE;
      END IF;
      IF FOUND THEN
        RETURN NEXT;
        RETURN;
      END IF;
      RAISE SQLSTATE 'RETRY';
    EXCEPTION WHEN SQLSTATE 'RETRY' THEN NULL;
    END;
  END LOOP;
END
$$;

CREATE FUNCTION lock_hosts(place text, wanted integer) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
  awaited uuid[];
  locked uuid[];
BEGIN
  LOOP
    BEGIN
      SELECT array_agg(id) INTO locked FROM (
        SELECT id FROM hosts
         WHERE region = place AND machine_id IS NULL AND NOT held AND allocatable
         ORDER BY name LIMIT wanted FOR NO KEY UPDATE SKIP LOCKED) AS free;
      IF coalesce(cardinality(locked), 0) = wanted THEN
        RETURN coalesce(locked, '{}');
      END IF;
      RAISE SQLSTATE 'RETRY';
    EXCEPTION WHEN SQLSTATE 'RETRY' THEN NULL;
    END;
    SELECT array_agg(id) INTO awaited FROM (
      SELECT id FROM hosts
       WHERE region = place AND machine_id IS NULL AND NOT held AND allocatable
       ORDER BY name LIMIT wanted) AS free;
    IF coalesce(cardinality(awaited), 0) < wanted THEN
      RETURN coalesce(awaited, '{}');
    END IF;
    BEGIN -- in the order of their names, as everybody who waits for hosts
      SELECT array_agg(id) INTO locked FROM (
        SELECT id FROM hosts
         WHERE id = ANY (awaited) AND NOT held AND allocatable
         ORDER BY name FOR NO KEY UPDATE) AS free;
      IF coalesce(cardinality(locked), 0) = wanted THEN
        RETURN coalesce(locked, '{}');
      END IF;
      RAISE SQLSTATE 'RETRY';
    EXCEPTION WHEN SQLSTATE 'RETRY' THEN NULL;
    END;
  END LOOP;
END
$$;
