"""Subscriptions of people, and e-mails."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from ipucloud.contract.notifications import MailState
from ipucloud.db.base import instant, metadata, one_of, same_project

notification_subscriptions = sa.Table(
    "notification_subscriptions",
    metadata,
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("users.id"), primary_key=True),
    sa.Column("project_id", sa.Uuid, sa.ForeignKey("projects.id"), primary_key=True),
    sa.Column("event_types", pg.ARRAY(sa.Text), nullable=False, comment="such as cluster.*"),
    sa.Column(
        "after_transaction", sa.BigInteger, nullable=False, comment="transaction of the last event that was read"
    ),
    sa.Column("after_id", sa.BigInteger, nullable=False),
    instant("created_at", default_now=True),
    sa.CheckConstraint("event_types <> '{}'", name="event_types"),
    comment="events of a project that a person gets by e-mail",
)
sa.Index("ix_notification_subscriptions_project", notification_subscriptions.c.project_id)

mails = sa.Table(
    "mails",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("type", sa.Text, nullable=False, comment="of the event, or `invitation`"),
    sa.Column("recipient", sa.Text, nullable=False),
    sa.Column("language", sa.Text, nullable=False),
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("users.id")),
    sa.Column("project_id", sa.Uuid, sa.ForeignKey("projects.id")),
    sa.Column("event_transaction", sa.BigInteger),
    sa.Column("event_id", sa.BigInteger),
    sa.Column("invitation_id", sa.Uuid),
    sa.Column("link", sa.Text, comment="of an invitation, sealed; NULL once it is sent or over"),
    sa.Column("state", sa.Text, nullable=False, server_default=MailState.PENDING.value),
    sa.Column("tries", sa.Integer, nullable=False, server_default="0"),
    instant("next_at"),
    sa.Column("failure", sa.Text, comment="of the last try"),
    instant("created_at", default_now=True),
    instant("sent_at"),
    same_project("mails", "invitation_id", "invitations"),
    one_of("state", MailState),
    sa.CheckConstraint("(state = 'pending') = (next_at IS NOT NULL)", name="next"),
    sa.CheckConstraint("(state = 'sent') = (sent_at IS NOT NULL)", name="sent"),
    sa.CheckConstraint("link IS NULL OR state = 'pending'", name="link"),
    sa.CheckConstraint(
        "num_nonnulls(event_id, invitation_id) = 1 AND (event_id IS NULL) = (event_transaction IS NULL)"
        " AND (event_id IS NULL) = (user_id IS NULL)",
        name="reason",
    ),
    sa.UniqueConstraint("user_id", "event_transaction", "event_id"),
    comment="e-mails to send, and those that were sent; the id is in Message-ID at every try",
)
sa.Index("ix_mails_created", mails.c.created_at)
sa.Index("ix_mails_invitation", mails.c.invitation_id, postgresql_where=mails.c.invitation_id.is_not(None))
sa.Index("ix_mails_project", mails.c.project_id, mails.c.invitation_id)
