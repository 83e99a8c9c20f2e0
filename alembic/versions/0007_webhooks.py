"""Webhooks: endpoints and their deliveries.

Revision ID: 0007
Revises: 0006
"""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE webhooks (
        id UUID NOT NULL,
        project_id UUID NOT NULL,
        url TEXT NOT NULL,
        description TEXT DEFAULT '' NOT NULL,
        event_types TEXT[] NOT NULL,
        secret TEXT NOT NULL,
        previous_secret TEXT,
        previous_until TIMESTAMP WITH TIME ZONE,
        disabled TEXT,
        disabled_at TIMESTAMP WITH TIME ZONE,
        failing_since TIMESTAMP WITH TIME ZONE,
        after_transaction BIGINT NOT NULL,
        after_id BIGINT NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        version BIGINT DEFAULT '1' NOT NULL,
        CONSTRAINT pk_webhooks PRIMARY KEY (id),
        CONSTRAINT fk_webhooks_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT ck_webhooks_disabled CHECK (disabled IN ('by_owner', 'gone', 'failing')),
        CONSTRAINT ck_webhooks_disabled_at CHECK ((disabled IS NULL) = (disabled_at IS NULL)),
        CONSTRAINT ck_webhooks_previous CHECK ((previous_secret IS NULL) = (previous_until IS NULL)),
        CONSTRAINT uq_webhooks_project_id_id UNIQUE (project_id, id)
    )
    """,
    "COMMENT ON COLUMN webhooks.event_types IS 'such as cluster.*; empty: all'",
    "COMMENT ON COLUMN webhooks.secret IS 'sealed'",
    "COMMENT ON COLUMN webhooks.previous_secret IS 'sealed; signs too until previous_until'",
    "COMMENT ON COLUMN webhooks.disabled IS 'why nothing is sent; NULL: it is'",
    "COMMENT ON COLUMN webhooks.after_transaction IS 'the last event that was looked at'",
    "CREATE INDEX ix_webhooks_project ON webhooks (project_id, created_at, id)",
    """
    CREATE TABLE webhook_deliveries (
        id UUID NOT NULL,
        project_id UUID NOT NULL,
        webhook_id UUID NOT NULL,
        event_transaction BIGINT,
        event_id BIGINT,
        type TEXT NOT NULL,
        payload TEXT NOT NULL,
        state TEXT DEFAULT 'pending' NOT NULL,
        tries INTEGER DEFAULT '0' NOT NULL,
        next_at TIMESTAMP WITH TIME ZONE,
        log JSONB DEFAULT '[]' NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        delivered_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_webhook_deliveries PRIMARY KEY (id),
        CONSTRAINT fk_webhook_deliveries_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_webhook_deliveries_project_id_webhook_id FOREIGN KEY(project_id, webhook_id) REFERENCES webhooks (project_id, id),
        CONSTRAINT ck_webhook_deliveries_state CHECK (state IN ('pending', 'delivered', 'failed')),
        CONSTRAINT ck_webhook_deliveries_next CHECK ((state = 'pending') = (next_at IS NOT NULL)),
        CONSTRAINT ck_webhook_deliveries_event CHECK ((event_id IS NULL) = (event_transaction IS NULL)),
        CONSTRAINT uq_webhook_deliveries_webhook_id_event_transaction_event_id UNIQUE (webhook_id, event_transaction, event_id)
    )
    """,
    "COMMENT ON COLUMN webhook_deliveries.id IS 'the message''s id, the same at every try'",
    "COMMENT ON COLUMN webhook_deliveries.event_transaction IS 'NULL: a ping'",
    "COMMENT ON COLUMN webhook_deliveries.payload IS 'the body, byte for byte as it is signed'",
    "COMMENT ON COLUMN webhook_deliveries.tries IS 'of the schedule under way'",
    "CREATE INDEX ix_webhook_deliveries_due ON webhook_deliveries (webhook_id, next_at) WHERE next_at IS NOT NULL",
    "CREATE INDEX ix_webhook_deliveries_log ON webhook_deliveries (project_id, webhook_id, created_at, id)",
    "CREATE INDEX ix_webhook_deliveries_created ON webhook_deliveries (created_at)",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON webhooks, webhook_deliveries TO ipucloud_app",
)
DOWN = ("DROP TABLE webhook_deliveries", "DROP TABLE webhooks")


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
