"""E-mails: of events that people choose, and of invitations.

Revision ID: 0097
Revises: 0096
"""

from __future__ import annotations

from alembic import op

revision = "0097"
down_revision = "0096"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE users ADD language TEXT DEFAULT 'en' NOT NULL",
    "ALTER TABLE users ADD CONSTRAINT ck_users_language CHECK (language IN ('en', 'de'))",
    """
    CREATE TABLE notification_subscriptions (
        user_id UUID NOT NULL,
        project_id UUID NOT NULL,
        event_types TEXT[] NOT NULL,
        after_transaction BIGINT NOT NULL,
        after_id BIGINT NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_notification_subscriptions PRIMARY KEY (user_id, project_id),
        CONSTRAINT fk_notification_subscriptions_user_id FOREIGN KEY(user_id) REFERENCES users (id),
        CONSTRAINT fk_notification_subscriptions_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT ck_notification_subscriptions_event_types CHECK (event_types <> '{}')
    )
    """,
    "COMMENT ON TABLE notification_subscriptions IS 'events of a project that a person gets by e-mail'",
    "COMMENT ON COLUMN notification_subscriptions.event_types IS 'such as cluster.*'",
    "COMMENT ON COLUMN notification_subscriptions.after_transaction IS 'transaction of the last event that was read'",
    "CREATE INDEX ix_notification_subscriptions_project ON notification_subscriptions (project_id)",
    "ALTER TABLE invitations ADD CONSTRAINT uq_invitations_project_id_id UNIQUE (project_id, id)",
    """
    CREATE TABLE mails (
        id UUID NOT NULL,
        type TEXT NOT NULL,
        recipient TEXT NOT NULL,
        language TEXT NOT NULL,
        user_id UUID,
        project_id UUID,
        event_transaction BIGINT,
        event_id BIGINT,
        invitation_id UUID,
        link TEXT,
        state TEXT DEFAULT 'pending' NOT NULL,
        tries INTEGER DEFAULT '0' NOT NULL,
        next_at TIMESTAMP WITH TIME ZONE,
        failure TEXT,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        sent_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_mails PRIMARY KEY (id),
        CONSTRAINT fk_mails_user_id FOREIGN KEY(user_id) REFERENCES users (id),
        CONSTRAINT fk_mails_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_mails_project_id_invitation_id FOREIGN KEY(project_id, invitation_id)
            REFERENCES invitations (project_id, id),
        CONSTRAINT ck_mails_state CHECK (state IN ('pending', 'sent', 'failed', 'dropped')),
        CONSTRAINT ck_mails_next CHECK ((state = 'pending') = (next_at IS NOT NULL)),
        CONSTRAINT ck_mails_sent CHECK ((state = 'sent') = (sent_at IS NOT NULL)),
        CONSTRAINT ck_mails_link CHECK (link IS NULL OR state = 'pending'),
        CONSTRAINT ck_mails_reason CHECK (num_nonnulls(event_id, invitation_id) = 1
            AND (event_id IS NULL) = (event_transaction IS NULL) AND (event_id IS NULL) = (user_id IS NULL)),
        CONSTRAINT uq_mails_user_id_event_transaction_event_id UNIQUE (user_id, event_transaction, event_id)
    )
    """,
    "COMMENT ON TABLE mails IS 'e-mails to send, and those that were sent; the id is in Message-ID at every try'",
    "COMMENT ON COLUMN mails.type IS 'of the event, or `invitation`'",
    "COMMENT ON COLUMN mails.link IS 'of an invitation, sealed; NULL once it is sent or over'",
    "COMMENT ON COLUMN mails.failure IS 'of the last try'",
    "CREATE INDEX ix_mails_created ON mails (created_at)",
    "CREATE INDEX ix_mails_invitation ON mails (invitation_id) WHERE invitation_id IS NOT NULL",
    "CREATE INDEX ix_mails_project ON mails (project_id, invitation_id)",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON notification_subscriptions, mails TO ipucloud_app",
)
DOWN = (
    "DELETE FROM work WHERE kind IN ('mail', 'mail.dispatch')",
    "DROP TABLE mails",
    "DROP TABLE notification_subscriptions",
    "ALTER TABLE invitations DROP CONSTRAINT uq_invitations_project_id_id",
    "ALTER TABLE users DROP language",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
