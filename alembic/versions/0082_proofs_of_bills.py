"""Signed proofs of sealed months, and the facts that they are made of.

Revision ID: 0082
Revises: 0070
"""

from __future__ import annotations

from alembic import op

revision = "0082"
down_revision = "0070"
branch_labels = None
depends_on = None

TABLES = ("billed_facts", "month_proofs", "bill_proofs")
FINAL = "CREATE TRIGGER {0}_final BEFORE UPDATE OR DELETE ON {0} FOR EACH ROW EXECUTE FUNCTION refuse_change_of_money()"
KEPT = "CREATE TRIGGER {0}_kept BEFORE TRUNCATE ON {0} FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_money()"
UP = (
    """
    CREATE TABLE billed_facts (
        month DATE NOT NULL,
        account_id UUID NOT NULL,
        currency TEXT NOT NULL,
        fact TEXT NOT NULL,
        CONSTRAINT pk_billed_facts PRIMARY KEY (month, account_id, currency, fact),
        CONSTRAINT fk_billed_facts_month FOREIGN KEY(month) REFERENCES billing_months (month)
    )
    """,
    "COMMENT ON TABLE billed_facts IS"
    " 'append-only; the usage intervals and prices of a sealed month''s charges, as they were then'",
    """
    CREATE TABLE month_proofs (
        month DATE NOT NULL,
        root BYTEA NOT NULL,
        bills INTEGER NOT NULL,
        public_key TEXT NOT NULL,
        signature TEXT NOT NULL,
        signed_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_month_proofs PRIMARY KEY (month),
        CONSTRAINT fk_month_proofs_month FOREIGN KEY(month) REFERENCES billing_months (month),
        CONSTRAINT ck_month_proofs_root CHECK (octet_length(root) = 32 AND bills >= 0)
    )
    """,
    "COMMENT ON TABLE month_proofs IS 'append-only; what each sealed month was made of, signed'",
    "COMMENT ON COLUMN month_proofs.root IS 'of the month''s bills'",
    "COMMENT ON COLUMN month_proofs.public_key IS 'Ed25519, base64'",
    "COMMENT ON COLUMN month_proofs.signature IS 'base64'",
    """
    CREATE TABLE bill_proofs (
        month DATE NOT NULL,
        place INTEGER NOT NULL,
        account_id UUID NOT NULL,
        currency TEXT NOT NULL,
        root BYTEA NOT NULL,
        leaves BIGINT NOT NULL,
        CONSTRAINT pk_bill_proofs PRIMARY KEY (month, place),
        CONSTRAINT uq_bill_proofs_account UNIQUE (month, account_id, currency),
        CONSTRAINT fk_bill_proofs_month FOREIGN KEY(month) REFERENCES month_proofs (month),
        CONSTRAINT ck_bill_proofs_root CHECK (octet_length(root) = 32 AND leaves > 0 AND place >= 0)
    )
    """,
    "COMMENT ON TABLE bill_proofs IS 'append-only; the leaves of month_proofs'",
    "COMMENT ON COLUMN bill_proofs.place IS 'among the bills of the month, from 0'",
    "COMMENT ON COLUMN bill_proofs.root IS 'of its facts and charges'",
    "COMMENT ON COLUMN bill_proofs.leaves IS 'facts and charges'",
    *(trigger.format(table) for table in TABLES for trigger in (FINAL, KEPT)),
    *(f"GRANT SELECT, INSERT ON {table} TO ipucloud_app" for table in TABLES),
)
DOWN = tuple(f"DROP TABLE {table}" for table in reversed(TABLES))


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
