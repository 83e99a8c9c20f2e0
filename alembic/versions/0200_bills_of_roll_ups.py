"""The daily roll-up says on whose bill, and at which price, so that a draft invoice need not read the charges.

Revision ID: 0200
Revises: 0166
"""

from __future__ import annotations

from alembic import op

revision = "0200"
down_revision = "0166"
branch_labels = None
depends_on = None

UP = (
    # Derived from the charges, and made again within minutes.
    "TRUNCATE usage_days, day_rollups",
    "ALTER TABLE usage_days ADD billing_month DATE NOT NULL, ADD price_id UUID NOT NULL,"
    " ADD unit_price NUMERIC(20, 10) NOT NULL",
    "COMMENT ON COLUMN usage_days.billing_month IS 'whose bill it is on'",
    "COMMENT ON COLUMN usage_days.price_id IS 'of prices or contract_prices'",
    "ALTER TABLE usage_days DROP CONSTRAINT pk_usage_days",
    "ALTER TABLE usage_days ADD CONSTRAINT pk_usage_days"
    " PRIMARY KEY (day, version, cluster_id, account_id, flavor, sku, region, currency, billing_month, price_id)",
)
DOWN = (
    "TRUNCATE usage_days, day_rollups",
    "ALTER TABLE usage_days DROP CONSTRAINT pk_usage_days",
    "ALTER TABLE usage_days DROP billing_month, DROP price_id, DROP unit_price",
    "ALTER TABLE usage_days ADD CONSTRAINT pk_usage_days"
    " PRIMARY KEY (day, version, cluster_id, account_id, flavor, sku, region, currency)",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
