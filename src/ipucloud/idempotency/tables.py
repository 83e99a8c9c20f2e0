"""Idempotency keys: the stored answer of a request, written in the transaction of its effect."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.db.base import instant, json_column, metadata

idempotency_keys = sa.Table(
    "idempotency_keys",
    metadata,
    sa.Column("scope", sa.Uuid, primary_key=True, comment="project, or the nil uuid for the platform"),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("fingerprint", sa.LargeBinary, nullable=False),
    sa.Column("status", sa.SmallInteger, nullable=False),
    json_column("headers", default="'{}'"),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Column("subject_id", sa.Uuid, nullable=True, comment="kept until 24 h after this object is gone"),
    instant("created_at", default_now=True),
)
sa.Index("ix_idempotency_keys_created", idempotency_keys.c.created_at)
