"""Tokens can be limited to clusters.

Revision ID: 0014_tokens_of_clusters
Revises: 0013_reversed_payments
"""

from __future__ import annotations

from alembic import op

revision = "0014_tokens_of_clusters"
down_revision = "0013_reversed_payments"
branch_labels = None
depends_on = None

_FUNCTIONS = (
    """
CREATE FUNCTION reached_clusters() RETURNS uuid[] LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT nullif(current_setting('ipucloud.clusters', true), '')::uuid[] $$
""",
    """
CREATE FUNCTION clusters_of(project uuid, ids uuid[]) RETURNS TABLE (id uuid, name text, deleted boolean)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT its.id, its.name, its.deleted_at IS NOT NULL FROM clusters AS its
   WHERE its.project_id = project AND its.id = ANY (ids)
$$
""",
)
_REACHED = "((SELECT reached_clusters()) IS NULL OR {} = ANY ((SELECT reached_clusters())::uuid[]))"
_OWN = "project_id = (SELECT tenant_id())"
_PAYERS = "SELECT paying.account_id FROM project_accounts AS paying WHERE paying.project_id = (SELECT tenant_id())"
_OF_ACCOUNT = f"{_OWN} OR project_id IS NULL AND account_id IN ({_PAYERS}) OR account_id = (SELECT payer_id())"
_VISIBLE = {
    "clusters": f"{_OWN} OR (SELECT payer_id()) IS NOT NULL AND project_id IN (SELECT payees())",
    "operations": _OF_ACCOUNT,
    "events": _OF_ACCOUNT,
}
_CHANGED = "((SELECT changed_project()) IS NULL OR project_id = (SELECT changed_project()){})"
_ACCOUNT = " AND ((SELECT changed_account()) IS NULL OR account_id = (SELECT changed_account()))"
_CHANGEABLE = {
    "clusters": _CHANGED.format(""),
    "operations": _CHANGED.format(" OR project_id IS NULL") + _ACCOUNT,
}
_COLUMN = {"clusters": "id", "operations": "cluster_id", "events": "subject_id"}


def upgrade() -> None:
    for function in _FUNCTIONS:
        op.execute(function)
    op.execute(
        "ALTER TABLE tokens ADD COLUMN clusters uuid[],"
        " ADD CONSTRAINT ck_tokens_clusters"
        " CHECK (cardinality(clusters) > 0 AND array_position(clusters, NULL) IS NULL),"
        " ADD CONSTRAINT ck_tokens_clusters_kind"
        " CHECK (clusters IS NULL OR project_id IS NOT NULL AND kind IN ('service', 'personal'))"
    )
    op.execute("COMMENT ON COLUMN tokens.clusters IS 'those that it is limited to; NULL: it is not'")
    op.execute("CREATE INDEX ix_tokens_clusters ON tokens (project_id) WHERE clusters IS NOT NULL")
    for table, column in _COLUMN.items():
        _alter(table, _REACHED.format(column))


def downgrade() -> None:
    for table in _COLUMN:
        _alter(table, None)
    op.execute("UPDATE tokens SET revoked_at = app_now() WHERE clusters IS NOT NULL AND revoked_at IS NULL")
    op.execute("ALTER TABLE tokens DROP COLUMN clusters")
    op.execute("DROP FUNCTION clusters_of")
    op.execute("DROP FUNCTION reached_clusters")


def _alter(table: str, reached: str | None) -> None:
    def limited(condition: str) -> str:
        return condition if reached is None else f"({condition}) AND {reached}"

    op.execute(f"ALTER POLICY tenant ON {table} USING ({limited(_VISIBLE[table])})")
    if table not in _CHANGEABLE:
        return
    changed = _CHANGEABLE[table] if reached is None else f"{_CHANGEABLE[table]} AND {reached}"
    op.execute(f"ALTER POLICY inserts ON {table} WITH CHECK ({changed})")
    op.execute(f"ALTER POLICY updates ON {table} USING ({changed})")
    op.execute(f"ALTER POLICY deletes ON {table} USING ({changed})")
