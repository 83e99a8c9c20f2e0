"""The query of a webhook's URL in a column of its own, and stored answers without what is not shown any more.

Here is no key: what was stored in plain, as variables of programs were, stays plain until a worker of this version
encrypts it, within an hour of its start.

Revision ID: 0004_hidden_queries
Revises: 0003_verified_people
"""

from __future__ import annotations

from alembic import op

revision = "0004_hidden_queries"
down_revision = "0003_verified_people"
branch_labels = None
depends_on = None

_SHOWN = """
split_part({0}, '?', 1) || '?' || (
  SELECT string_agg(CASE WHEN position('=' IN part) > 0 THEN split_part(part, '=', 1) || '=***' ELSE '***' END, '&'
                    ORDER BY nth)
    FROM string_to_table(substr({0}, position('?' IN {0}) + 1), '&') WITH ORDINALITY AS parts (part, nth))
"""
_URL = "(answer.document ->> 'url')"


def upgrade() -> None:
    op.execute("ALTER TABLE webhooks ADD COLUMN query text")
    op.execute("COMMENT ON COLUMN webhooks.query IS 'of the url; sealed'")
    op.execute("COMMENT ON COLUMN webhooks.url IS 'as it is shown: without the values of its query'")
    for table in ("jobs", "services"):
        op.execute(f"COMMENT ON COLUMN {table}.environment IS 'names with sealed values'")
        op.execute(f"GRANT UPDATE (environment) ON {table} TO ipucloud_app")
    op.execute(
        f"""
        UPDATE webhooks SET query = substr(url, position('?' IN url) + 1), url = {_SHOWN.format("url")}
         WHERE url LIKE '%?_%'
        """  # noqa: S608  # our own text
    )
    _rewrite_answers(
        "jobs UNION ALL SELECT id FROM services",
        "jsonb_typeof(answer.document -> 'environment') = 'object'",
        "'environment', (SELECT coalesce(jsonb_agg(name), '[]')"
        " FROM jsonb_object_keys(answer.document -> 'environment') AS name)",
    )
    _rewrite_answers("webhooks", f"{_URL} LIKE '%?_%'", f"'url', {_SHOWN.format(_URL)}")


def downgrade() -> None:
    """What a worker has encrypted meanwhile is lost with its column."""
    op.execute(
        """
        UPDATE webhooks SET url = split_part(url, '?', 1) || '?' || query
         WHERE query IS NOT NULL AND query !~ '^v1[.][0-9a-f]{12}[.]'
        """
    )
    op.execute("ALTER TABLE webhooks DROP COLUMN query")
    op.execute("COMMENT ON COLUMN webhooks.url IS NULL")
    for table in ("jobs", "services"):
        op.execute(f"COMMENT ON COLUMN {table}.environment IS NULL")
        op.execute(f"REVOKE UPDATE (environment) ON {table} FROM ipucloud_app")


def _rewrite_answers(subjects: str, which: str, members: str) -> None:
    """Stored answers about the objects of these tables, with other members."""
    op.execute(
        f"""
        WITH answer AS MATERIALIZED (
          SELECT scope, key, convert_from(body, 'UTF8')::jsonb AS document FROM idempotency_keys
           WHERE length(body) > 0 AND subject_id IN (SELECT id FROM {subjects})
        )
        UPDATE idempotency_keys AS kept
           SET body = convert_to((answer.document || jsonb_build_object({members}))::text, 'UTF8')
          FROM answer WHERE (kept.scope, kept.key) = (answer.scope, answer.key) AND {which}
        """  # noqa: S608  # our own text
    )
