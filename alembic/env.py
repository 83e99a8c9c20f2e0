"""Runs migrations as the owner role: one transaction per revision, with a limit on waiting for locks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import context


def run() -> None:
    url = context.config.get_main_option("sqlalchemy.url")
    if url is None:
        raise RuntimeError("run migrations by `ipucloud migrate`")
    engine = sa.create_engine(
        url, poolclass=sa.NullPool, connect_args={"options": "-c timezone=UTC -c lock_timeout=5s"}
    )
    with engine.connect() as connection:
        models = context.config.attributes.get("models")  # only a comparison has them
        context.configure(
            connection=connection, target_metadata=models, transaction_per_migration=True, compare_type=True
        )
        with context.begin_transaction():
            context.run_migrations()
    engine.dispose()


if context.is_offline_mode():
    raise RuntimeError("migrations run online only")
run()
