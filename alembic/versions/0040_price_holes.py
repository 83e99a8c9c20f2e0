"""Prices leave no hole, and minutes without one hold nothing up.

Revision ID: 0040
Revises: 0039
"""

from __future__ import annotations

from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

TABLE = """
CREATE TABLE unpriced_minutes (
    hour TIMESTAMP WITH TIME ZONE NOT NULL,
    account_id UUID NOT NULL,
    sku TEXT NOT NULL,
    region TEXT NOT NULL,
    currency TEXT NOT NULL,
    minutes BIGINT NOT NULL,
    noted_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_unpriced_minutes PRIMARY KEY (hour, account_id, sku, region, currency),
    CONSTRAINT fk_unpriced_minutes_hour FOREIGN KEY(hour) REFERENCES hour_closes (hour),
    CONSTRAINT ck_unpriced_minutes_minutes CHECK (minutes > 0)
)
"""
VIEW = """
CREATE VIEW price_holes AS
SELECT book.sku, book.region, book.currency, lower(hole) AS begins, upper(hole) AS ends
  FROM (SELECT sku, region, currency, min(valid_from) AS first,
               coalesce(range_agg(tstzrange(valid_from, valid_to)) FILTER (WHERE listed), tstzmultirange()) AS held
          FROM (SELECT sku, region, currency, valid_from, valid_to, true AS listed FROM prices
                UNION ALL
                SELECT sku, region, currency, valid_from, valid_to, false FROM contract_prices) AS version
         GROUP BY sku, region, currency) AS book
 CROSS JOIN LATERAL unnest(tstzmultirange(tstzrange(book.first, NULL)) - book.held) AS hole
"""
STATEMENTS = (
    TABLE,
    "COMMENT ON TABLE unpriced_minutes IS 'minutes of closed hours that are not charged because they have no price'",
    VIEW,
    "ALTER TABLE billing_months ADD COLUMN late_at TIMESTAMP WITH TIME ZONE",
    "COMMENT ON TABLE billing_months IS 'written by open_billing_month and seal_billing_month, but for late_at'",
    *(
        statement
        for table in ("prices", "contract_prices")
        for statement in (
            f"ALTER TABLE {table} ADD COLUMN restores UUID CONSTRAINT fk_{table}_restores REFERENCES {table} (id)",
            f"COMMENT ON COLUMN {table}.restores IS"
            " 'the version whose price comes back with this one, because the one between has an end'",
            f"CREATE INDEX ix_{table}_restores ON {table} (restores)",
        )
    ),
    "GRANT SELECT ON price_holes TO ipucloud_app",
    "GRANT SELECT, INSERT, DELETE ON unpriced_minutes TO ipucloud_app",
    "GRANT UPDATE (late_at) ON billing_months TO ipucloud_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("ALTER TABLE contract_prices DROP COLUMN restores")
    op.execute("ALTER TABLE prices DROP COLUMN restores")
    op.execute("COMMENT ON TABLE billing_months IS 'written by open_billing_month and seal_billing_month only'")
    op.execute("ALTER TABLE billing_months DROP COLUMN late_at")
    op.execute("DROP VIEW price_holes")
    op.execute("DROP TABLE unpriced_minutes")
