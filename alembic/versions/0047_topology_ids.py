"""How V-IPU controllers number the IPUs of each machine.

Until the next inventory, along the chain of their domain's IPU-Links.

Revision ID: 0047
Revises: 0046
"""

from __future__ import annotations

from alembic import op

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE machines ADD COLUMN topology_ids integer[]")
    op.execute(
        "COMMENT ON COLUMN machines.topology_ids"
        " IS 'of its IPUs 0 to 3 at its V-IPU controller; NULL: it is not under V-IPU'"
    )
    op.execute(
        "UPDATE machines SET topology_ids = ARRAY[4 * slot, 4 * slot + 1, 4 * slot + 2, 4 * slot + 3]"
        " FROM pods WHERE pods.id = machines.pod_id AND pods.vipu_cluster_id IS NOT NULL"
    )
    op.execute(
        "ALTER TABLE machines ADD CONSTRAINT ck_machines_topology_ids"
        " CHECK (cardinality(topology_ids) = 4 AND 0 <= ALL (topology_ids) AND 63 >= ALL (topology_ids))"
    )


def downgrade() -> None:
    op.execute("ALTER TABLE machines DROP COLUMN topology_ids")
