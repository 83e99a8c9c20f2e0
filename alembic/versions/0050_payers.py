"""Tokens of billing accounts, for their payers.

Revision ID: 0050
Revises: 0049
"""

from __future__ import annotations

from alembic import op

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None

_ROLES = "role IN ('viewer', 'operator', 'billing', 'owner', 'admin', 'support'{})"
_PLATFORM = "role IN ('admin', 'support')"


def upgrade() -> None:
    op.execute(
        "ALTER TABLE tokens ADD COLUMN account_id uuid CONSTRAINT fk_tokens_account_id REFERENCES billing_accounts"
    )
    _constrain("role", _ROLES.format(", 'payer'"))
    _constrain("platform_role", f"(project_id IS NULL AND account_id IS NULL) = ({_PLATFORM})")
    op.create_check_constraint(op.f("ck_tokens_account_role"), "tokens", "(account_id IS NOT NULL) = (role = 'payer')")
    op.create_check_constraint(op.f("ck_tokens_one_home"), "tokens", "num_nonnulls(project_id, account_id) <= 1")
    op.create_index("ix_tokens_account", "tokens", ["account_id"])
    op.execute("COMMENT ON COLUMN tokens.account_id IS 'whose payers have it'")
    op.execute("COMMENT ON COLUMN tokens.project_id IS 'NULL: of the platform, or of an account'")


def downgrade() -> None:
    op.execute("DELETE FROM tokens WHERE account_id IS NOT NULL")
    op.drop_column("tokens", "account_id")  # and with it the constraints that name it
    op.drop_constraint("ck_tokens_role", "tokens")
    op.create_check_constraint(op.f("ck_tokens_role"), "tokens", _ROLES.format(""))
    op.create_check_constraint(op.f("ck_tokens_platform_role"), "tokens", f"(project_id IS NULL) = ({_PLATFORM})")
    op.execute("COMMENT ON COLUMN tokens.project_id IS 'NULL: a platform token'")


def _constrain(name: str, rule: str) -> None:
    op.drop_constraint(f"ck_tokens_{name}", "tokens")
    op.create_check_constraint(op.f(f"ck_tokens_{name}"), "tokens", rule)
