"""Several V-IPU controllers of a region, each with its own version and readings, and the controller of each pod.

Revision ID: 0051
Revises: 0050
"""

from __future__ import annotations

from alembic import op

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
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
          CONSTRAINT pk_vipu_controllers PRIMARY KEY (region, name),
          CONSTRAINT fk_vipu_controllers_region FOREIGN KEY (region) REFERENCES site_regions (region),
          CONSTRAINT ck_vipu_controllers_version CHECK ((version IS NULL) = (version_at IS NULL)),
          CONSTRAINT ck_vipu_controllers_complete CHECK ((started_at IS NULL) = (finished_at IS NULL)),
          CONSTRAINT ck_vipu_controllers_failed CHECK ((error IS NULL) = (failed_since IS NULL))
        )
        """
    )
    for column, comment in (
        ("authority", "PEM that it is verified with; NULL: it speaks plaintext"),
        ("version", "as it said last"),
        ("version_at", "when it said so first"),
        ("started_at", "of the last complete reading"),
        ("finished_at", "of the last complete reading"),
        ("stale_at", "from then on nothing is known; NULL: never observed"),
        ("error", "why the last reading is not complete"),
    ):
        op.execute(f"COMMENT ON COLUMN vipu_controllers.{column} IS '{comment}'")
    op.execute(
        """
        INSERT INTO vipu_controllers (region, name, host, admin_port, secure, authority, cluster_test, version,
                                      version_at, started_at, finished_at, stale_at, error, failed_since)
        SELECT site.region, site.region, vipu_host, vipu_admin_port, vipu_secure, vipu_authority, vipu_cluster_test,
               vipu_version, vipu_version_at, o.started_at, o.finished_at, o.stale_at, o.error, o.failed_since
          FROM site_regions AS site
          LEFT JOIN observations AS o ON o.region = site.region AND o.source = 'v-ipu'
         WHERE vipu_host IS NOT NULL
        """
    )
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON vipu_controllers TO ipucloud_app")
    op.execute("ALTER TABLE pods ADD COLUMN controller text")
    op.execute("COMMENT ON COLUMN pods.controller IS 'that it is under; NULL: a server with IPUs of its own'")
    op.execute(
        "UPDATE pods SET controller = region WHERE vipu_cluster_id IS NOT NULL"
        " AND region IN (SELECT region FROM vipu_controllers)"
    )
    op.execute(
        "ALTER TABLE pods ADD CONSTRAINT fk_pods_controller"
        " FOREIGN KEY (region, controller) REFERENCES vipu_controllers (region, name)"
    )
    op.execute("CREATE INDEX ix_pods_controller ON pods (region, controller)")
    op.execute("ALTER TABLE site_regions DROP CONSTRAINT ck_site_regions_vipu_version")
    op.execute("ALTER TABLE site_regions DROP CONSTRAINT ck_site_regions_vipu")
    for column in ("host", "admin_port", "secure", "authority", "cluster_test", "version", "version_at"):
        op.execute(f"ALTER TABLE site_regions DROP COLUMN vipu_{column}")


def downgrade() -> None:
    """Of several controllers of a region, one is kept; the next inventory of a site with one corrects it."""
    op.execute(
        "ALTER TABLE site_regions ADD COLUMN vipu_host text, ADD COLUMN vipu_admin_port integer,"
        " ADD COLUMN vipu_secure boolean DEFAULT false NOT NULL, ADD COLUMN vipu_authority text,"
        " ADD COLUMN vipu_cluster_test boolean DEFAULT true NOT NULL, ADD COLUMN vipu_version text,"
        " ADD COLUMN vipu_version_at timestamptz"
    )
    for column, comment in (
        ("vipu_host", "NULL: no machine of the region is under V-IPU"),
        ("vipu_authority", "PEM that the controller is verified with; NULL: it speaks plaintext"),
        ("vipu_version", "of the controller, as it said last"),
        ("vipu_version_at", "when it said so first"),
    ):
        op.execute(f"COMMENT ON COLUMN site_regions.{column} IS '{comment}'")
    op.execute(
        """
        UPDATE site_regions AS site
           SET vipu_host = host, vipu_admin_port = admin_port, vipu_secure = secure, vipu_authority = authority,
               vipu_cluster_test = cluster_test, vipu_version = version, vipu_version_at = version_at
          FROM (SELECT DISTINCT ON (region) * FROM vipu_controllers ORDER BY region, name) AS one
         WHERE one.region = site.region
        """
    )
    op.execute(
        "ALTER TABLE site_regions ADD CONSTRAINT ck_site_regions_vipu"
        " CHECK (num_nulls(vipu_host, vipu_admin_port) IN (0, 2)),"
        " ADD CONSTRAINT ck_site_regions_vipu_version CHECK ((vipu_version IS NULL) = (vipu_version_at IS NULL))"
    )
    op.execute("ALTER TABLE pods DROP CONSTRAINT fk_pods_controller, DROP COLUMN controller")
    op.execute("DROP TABLE vipu_controllers")
