-- clusters/volumes/, with snapshots, and clusters/addresses/.

CREATE TABLE addresses (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    name text NOT NULL,
    tags jsonb DEFAULT '{}' NOT NULL,
    region text NOT NULL,
    external_name text NOT NULL,
    ip text,
    port integer,
    observed_at timestamptz,
    sku text NOT NULL,
    currency text NOT NULL,
    state text DEFAULT 'creating' NOT NULL,
    state_reason text,
    state_entered_at timestamptz DEFAULT app_now() NOT NULL,
    cluster_id uuid,
    server_id uuid,
    revision integer DEFAULT '0' NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    delete_requested_at timestamptz,
    deleted_at timestamptz,
    CONSTRAINT pk_addresses PRIMARY KEY (id),
    CONSTRAINT fk_addresses_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_addresses_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
        REFERENCES clusters (project_id, id),
    CONSTRAINT fk_addresses_project_id_server_id FOREIGN KEY (project_id, server_id)
        REFERENCES poplar_servers (project_id, id),
    CONSTRAINT uq_addresses_project_id_id UNIQUE (project_id, id),
    CONSTRAINT uq_addresses_external_name UNIQUE (external_name),
    CONSTRAINT ck_addresses_state CHECK (state IN ('creating', 'available', 'attaching', 'attached', 'detaching',
        'deleting', 'deleted', 'error')),
    CONSTRAINT ck_addresses_port CHECK (port BETWEEN 1 AND 65535),
    CONSTRAINT ck_addresses_observed CHECK (CASE WHEN state IN ('creating', 'error') THEN num_nulls(ip, port,
        observed_at) = 3 WHEN state IN ('deleting', 'deleted') THEN num_nulls(ip, port, observed_at) IN (0, 3) ELSE
        num_nulls(ip, port, observed_at) = 0 END),
    CONSTRAINT ck_addresses_attachment CHECK (num_nulls(cluster_id, server_id) = CASE WHEN state IN ('attaching',
        'attached', 'detaching') THEN 0 ELSE 2 END),
    CONSTRAINT ck_addresses_requested CHECK ((delete_requested_at IS NOT NULL) = (state IN ('deleting', 'deleted'))),
    CONSTRAINT ck_addresses_deleted CHECK ((deleted_at IS NOT NULL) = (state = 'deleted'))
);
COMMENT ON TABLE addresses IS 'public addresses that outlive clusters';
COMMENT ON COLUMN addresses.external_name IS 'at the site: the id and the incarnation';
COMMENT ON COLUMN addresses.ip IS 'as its site chose it';
COMMENT ON COLUMN addresses.port IS 'of SSH at it';
COMMENT ON COLUMN addresses.cluster_id IS 'whose server has it, gets it or loses it';
COMMENT ON COLUMN addresses.revision IS 'of its attachment; it only grows';
COMMENT ON COLUMN addresses.created_by IS 'token';
CREATE INDEX ix_addresses_cluster ON addresses (project_id, cluster_id);
CREATE INDEX ix_addresses_project ON addresses (project_id, created_at, id);
CREATE INDEX ix_addresses_server ON addresses (project_id, server_id);
CREATE UNIQUE INDEX uq_addresses_name ON addresses (project_id, name) WHERE state <> 'deleted';
GRANT SELECT, INSERT, UPDATE ON addresses TO ipucloud_app;

CREATE TABLE volumes (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    name text NOT NULL,
    tags jsonb DEFAULT '{}' NOT NULL,
    region text NOT NULL,
    external_name text NOT NULL,
    size_gib integer NOT NULL,
    wanted_gib integer,
    sku text NOT NULL,
    currency text NOT NULL,
    state text DEFAULT 'creating' NOT NULL,
    state_reason text,
    state_entered_at timestamptz DEFAULT app_now() NOT NULL,
    cluster_id uuid,
    server_id uuid,
    revision integer DEFAULT '0' NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    delete_requested_at timestamptz,
    deleted_at timestamptz,
    CONSTRAINT pk_volumes PRIMARY KEY (id),
    CONSTRAINT fk_volumes_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_volumes_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
        REFERENCES clusters (project_id, id),
    CONSTRAINT fk_volumes_project_id_server_id FOREIGN KEY (project_id, server_id)
        REFERENCES poplar_servers (project_id, id),
    CONSTRAINT uq_volumes_project_id_id UNIQUE (project_id, id),
    CONSTRAINT uq_volumes_external_name UNIQUE (external_name),
    CONSTRAINT ck_volumes_state CHECK (state IN ('creating', 'available', 'attaching', 'attached', 'detaching',
        'resizing', 'deleting', 'deleted', 'error')),
    CONSTRAINT ck_volumes_size CHECK (size_gib > 0 AND wanted_gib > size_gib),
    CONSTRAINT ck_volumes_wanted CHECK ((wanted_gib IS NOT NULL) = (state = 'resizing')),
    CONSTRAINT ck_volumes_attachment CHECK (num_nulls(cluster_id, server_id) = CASE WHEN state IN ('attaching',
        'attached', 'detaching') THEN 0 WHEN state = 'resizing' AND cluster_id IS NOT NULL THEN 0 ELSE 2 END),
    CONSTRAINT ck_volumes_requested CHECK ((delete_requested_at IS NOT NULL) = (state IN ('deleting', 'deleted'))),
    CONSTRAINT ck_volumes_deleted CHECK ((deleted_at IS NOT NULL) = (state = 'deleted'))
);
COMMENT ON TABLE volumes IS 'storage that outlives clusters';
COMMENT ON COLUMN volumes.external_name IS 'at the site: the id and the incarnation';
COMMENT ON COLUMN volumes.size_gib IS 'as billed';
COMMENT ON COLUMN volumes.wanted_gib IS 'the size it grows to';
COMMENT ON COLUMN volumes.cluster_id IS 'whose server has it, gets it or loses it';
COMMENT ON COLUMN volumes.revision IS 'of its attachment; it only grows';
COMMENT ON COLUMN volumes.created_by IS 'token';
CREATE INDEX ix_volumes_cluster ON volumes (project_id, cluster_id);
CREATE INDEX ix_volumes_project ON volumes (project_id, created_at, id);
CREATE INDEX ix_volumes_server ON volumes (project_id, server_id);
CREATE UNIQUE INDEX uq_volumes_name ON volumes (project_id, name) WHERE state <> 'deleted';
GRANT SELECT, INSERT, UPDATE ON volumes TO ipucloud_app;

CREATE TABLE snapshots (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    volume_id uuid,
    cluster_id uuid,
    server_id uuid,
    image text,
    name text NOT NULL,
    tags jsonb DEFAULT '{}' NOT NULL,
    region text NOT NULL,
    external_name text NOT NULL,
    size_gib integer,
    sku text NOT NULL,
    currency text NOT NULL,
    state text DEFAULT 'creating' NOT NULL,
    state_reason text,
    state_entered_at timestamptz DEFAULT app_now() NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    delete_requested_at timestamptz,
    deleted_at timestamptz,
    CONSTRAINT pk_snapshots PRIMARY KEY (id),
    CONSTRAINT fk_snapshots_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_snapshots_project_id_volume_id FOREIGN KEY (project_id, volume_id)
        REFERENCES volumes (project_id, id),
    CONSTRAINT fk_snapshots_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
        REFERENCES clusters (project_id, id),
    CONSTRAINT fk_snapshots_project_id_server_id FOREIGN KEY (project_id, server_id)
        REFERENCES poplar_servers (project_id, id),
    CONSTRAINT uq_snapshots_project_id_id UNIQUE (project_id, id),
    CONSTRAINT uq_snapshots_external_name UNIQUE (external_name),
    CONSTRAINT ck_snapshots_state CHECK (state IN ('creating', 'available', 'deleting', 'deleted', 'error')),
    CONSTRAINT ck_snapshots_size CHECK (size_gib > 0),
    CONSTRAINT ck_snapshots_source CHECK (num_nulls(volume_id, server_id) = 1),
    CONSTRAINT ck_snapshots_server CHECK (num_nulls(cluster_id, server_id, image) IN (0, 3)),
    CONSTRAINT ck_snapshots_size_is_known CHECK (size_gib IS NOT NULL OR volume_id IS NULL AND state <> 'available'),
    CONSTRAINT ck_snapshots_requested CHECK ((delete_requested_at IS NOT NULL) = (state IN ('deleting', 'deleted'))),
    CONSTRAINT ck_snapshots_deleted CHECK ((deleted_at IS NOT NULL) = (state = 'deleted'))
);
COMMENT ON TABLE snapshots IS 'copies of volumes, and of the disks of Poplar servers';
COMMENT ON COLUMN snapshots.volume_id IS 'that it is a copy of';
COMMENT ON COLUMN snapshots.server_id IS 'whose disk it is a copy of';
COMMENT ON COLUMN snapshots.image IS 'of the catalogue, which that server had';
COMMENT ON COLUMN snapshots.external_name IS 'at the site: the id and the incarnation';
COMMENT ON COLUMN snapshots.size_gib IS 'of the volume at that time, or of what was on the disk; as billed';
COMMENT ON COLUMN snapshots.created_by IS 'token';
CREATE INDEX ix_snapshots_cluster ON snapshots (project_id, cluster_id);
CREATE INDEX ix_snapshots_project ON snapshots (project_id, created_at, id);
CREATE INDEX ix_snapshots_server ON snapshots (project_id, server_id);
CREATE INDEX ix_snapshots_volume ON snapshots (project_id, volume_id);
CREATE UNIQUE INDEX uq_snapshots_name ON snapshots (project_id, name) WHERE state <> 'deleted';
GRANT SELECT, INSERT, UPDATE ON snapshots TO ipucloud_app;

CREATE TABLE volume_origins (
    volume_id uuid NOT NULL,
    project_id uuid NOT NULL,
    snapshot_id uuid NOT NULL,
    CONSTRAINT pk_volume_origins PRIMARY KEY (volume_id),
    CONSTRAINT fk_volume_origins_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_volume_origins_project_id_volume_id FOREIGN KEY (project_id, volume_id)
        REFERENCES volumes (project_id, id),
    CONSTRAINT fk_volume_origins_project_id_snapshot_id FOREIGN KEY (project_id, snapshot_id)
        REFERENCES snapshots (project_id, id)
);
COMMENT ON TABLE volume_origins IS 'the snapshot that a volume was made from';
CREATE INDEX ix_volume_origins_snapshot ON volume_origins (project_id, snapshot_id);
CREATE INDEX ix_volume_origins_volume ON volume_origins (project_id, volume_id);
GRANT SELECT, INSERT ON volume_origins TO ipucloud_app;
