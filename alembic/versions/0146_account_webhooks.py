"""Billing accounts have webhooks.

Revision ID: 0146
Revises: 0145
"""

from __future__ import annotations

from alembic import op

revision = "0146"
down_revision = "0145"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE webhooks ALTER project_id DROP NOT NULL",
    "ALTER TABLE webhooks ADD account_id UUID",
    "ALTER TABLE webhooks ADD CONSTRAINT fk_webhooks_account_id FOREIGN KEY(account_id)"
    " REFERENCES billing_accounts (id)",
    "ALTER TABLE webhooks ADD CONSTRAINT ck_webhooks_one_home CHECK (num_nonnulls(project_id, account_id) = 1)",
    "ALTER TABLE webhooks ADD CONSTRAINT uq_webhooks_account_id_id UNIQUE (account_id, id)",
    "CREATE INDEX ix_webhooks_account ON webhooks (account_id, created_at, id)",
    "COMMENT ON COLUMN webhooks.project_id IS 'NULL: of an account'",
    "COMMENT ON COLUMN webhooks.account_id IS 'NULL: of a project'",
    "ALTER TABLE webhook_deliveries ALTER project_id DROP NOT NULL",
    "ALTER TABLE webhook_deliveries ADD account_id UUID",
    "ALTER TABLE webhook_deliveries ADD CONSTRAINT fk_webhook_deliveries_account_id_webhook_id"
    " FOREIGN KEY(account_id, webhook_id) REFERENCES webhooks (account_id, id)",
    "ALTER TABLE webhook_deliveries ADD CONSTRAINT ck_webhook_deliveries_one_home"
    " CHECK (num_nonnulls(project_id, account_id) = 1)",
    "CREATE INDEX ix_webhook_deliveries_account ON webhook_deliveries (account_id, webhook_id, created_at, id)",
    "COMMENT ON COLUMN webhook_deliveries.project_id IS 'NULL: of an account'",
    "COMMENT ON COLUMN webhook_deliveries.account_id IS 'NULL: of a project'",
)
DOWN = (
    "DELETE FROM webhook_deliveries WHERE account_id IS NOT NULL",
    "ALTER TABLE webhook_deliveries DROP account_id",
    "ALTER TABLE webhook_deliveries ALTER project_id SET NOT NULL",
    "DELETE FROM webhooks WHERE account_id IS NOT NULL",
    "ALTER TABLE webhooks DROP account_id",
    "ALTER TABLE webhooks ALTER project_id SET NOT NULL",
    "COMMENT ON COLUMN webhook_deliveries.project_id IS NULL",
    "COMMENT ON COLUMN webhooks.project_id IS NULL",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
