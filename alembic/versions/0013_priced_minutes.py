"""One function each for the arithmetic of minutes and their cost, and for who pays.

Revision ID: 0013
Revises: 0012
"""

from __future__ import annotations

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


UP = (
    """
CREATE FUNCTION minutes_between(origin timestamptz, since timestamptz, until timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT greatest(0, minutes_before(origin, until) - minutes_before(origin, since))
$$
    """,
    """
CREATE FUNCTION priced_minutes(origin timestamptz, since timestamptz, until timestamptz, valid_from timestamptz,
                               valid_to timestamptz, quantity integer, unit_price numeric)
RETURNS TABLE (started_at timestamptz, ended_at timestamptz, first_minute integer, minutes integer, cost numeric)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT span.started_at, span.ended_at, minutes_before(origin, span.started_at),
         minutes_between(origin, span.started_at, span.ended_at),
         minutes_between(origin, span.started_at, span.ended_at) * (quantity * unit_price)
    FROM (SELECT greatest(since, valid_from) AS started_at, least(until, valid_to) AS ended_at) AS span
$$
    """,
    """
CREATE FUNCTION payer_of(project uuid, instant timestamptz) RETURNS TABLE (account_id uuid)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT a.account_id FROM project_accounts a
   WHERE a.project_id = project AND a.valid_from <= instant ORDER BY a.valid_from DESC LIMIT 1
$$
    """,
    """
CREATE FUNCTION projects_paid_by(account uuid) RETURNS TABLE (project_id uuid)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT ever.project_id
    FROM (SELECT DISTINCT a.project_id FROM project_accounts a WHERE a.account_id = account) AS ever
   WHERE account = (SELECT payer.account_id FROM payer_of(ever.project_id, app_now()) AS payer)
$$
    """,
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP FUNCTION projects_paid_by, payer_of, priced_minutes, minutes_between")
