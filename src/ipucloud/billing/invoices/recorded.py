"""What documents, payments, credits and charges say was posted, beside what was, each by the name of its posting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from ipucloud.billing.ledger.transfers import Side
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements


class Row(NamedTuple):
    """An amount of money by the codes and owners of its accounts; below 0 the other way round."""

    name: str
    debit_code: str
    debit_owner: UUID | None
    credit_code: str
    credit_owner: UUID | None
    currency: str
    amount: Decimal

    @property
    def debit(self) -> Side:
        return Side(self.debit_code, self.debit_owner, self.currency)

    @property
    def credit(self) -> Side:
        return Side(self.credit_code, self.credit_owner, self.currency)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was recorded and what was posted, under the same names; `account_id`: whose money it is."""

    account_id: UUID
    recorded: Sequence[Row]
    posted: Sequence[Row]


class _Invoice(NamedTuple):
    id: UUID
    account_id: UUID
    currency: str


_SIDES = "debit_code, CASE WHEN debit_code IN ('unbilled', 'receivable', 'wallet', 'promo') THEN account_id END"
_RECORDED = f"""
SELECT name, {_SIDES} AS debit_owner, {_SIDES.replace("debit_code", "credit_code")} AS credit_owner, currency, amount
  FROM (
    SELECT 'invoice/' || i.id || '/' || part.name, part.debit_code, part.credit_code, i.account_id, i.currency,
           part.amount
      FROM invoices i
     CROSS JOIN LATERAL (
       VALUES ('usage', 'receivable', 'unbilled', i.cost), ('rounding', 'receivable', 'rounding', i.adjustment),
              ('promo', 'promo', 'receivable', i.promo_applied), ('tax', 'receivable', 'tax', i.tax),
              ('wallet', 'wallet', 'receivable', i.wallet_applied)) AS part (name, debit_code, credit_code, amount)
    UNION ALL
    SELECT 'payment/' || p.id || '/' || part.name, part.debit_code, part.credit_code, p.account_id, p.currency,
           part.amount
      FROM payments p
     CROSS JOIN LATERAL (
       VALUES ('invoice', 'in', 'cash', 'receivable', p.amount - p.to_wallet),
              ('wallet', 'in', 'cash', 'wallet', p.to_wallet), ('out', 'out', 'wallet', 'cash', p.amount))
       AS part (name, direction, debit_code, credit_code, amount)
     WHERE p.state = 'done' AND p.direction = part.direction
    UNION ALL
    SELECT 'settlement/' || s.id || '/wallet', 'wallet', 'receivable', i.account_id, i.currency, s.amount
      FROM invoice_settlements s JOIN invoices i ON i.id = s.invoice_id WHERE s.from_wallet
    UNION ALL
    SELECT 'credit_note/' || n.id || '/' || part.name, part.debit_code, part.credit_code, i.account_id, i.currency,
           part.amount
      FROM credit_notes n JOIN invoices i ON i.id = n.invoice_id
     CROSS JOIN LATERAL (
       VALUES ('net', 'revenue', 'receivable', n.net), ('tax', 'tax', 'receivable', n.tax),
              ('wallet', 'receivable', 'wallet', n.to_wallet)) AS part (name, debit_code, credit_code, amount)
    UNION ALL
    SELECT 'credit/' || c.id || '/granted', 'revenue', 'promo', c.account_id, c.currency, c.amount FROM promo_credits c
    UNION ALL
    SELECT 'credit/' || c.id || '/expired', 'promo', 'revenue', c.account_id, c.currency, sum(u.amount)
      FROM promo_credits c JOIN promo_credit_uses u ON u.credit_id = c.id WHERE u.invoice_id IS NULL GROUP BY c.id
    UNION ALL
    -- What was used of a credit beyond its amount cannot be taken back: it is granted as well.
    SELECT 'overused/' || c.id, 'revenue', 'promo', c.account_id, c.currency, sum(u.amount) - c.amount
      FROM promo_credits c JOIN promo_credit_uses u ON u.credit_id = c.id GROUP BY c.id
    HAVING sum(u.amount) > c.amount
  ) AS records (name, debit_code, credit_code, account_id, currency, amount)
"""  # noqa: S608  # our own text
_POSTED = """
SELECT coalesce(t.adjusts, t.idem) AS name, d.code AS debit_code, d.owner_id AS debit_owner, c.code AS credit_code,
       c.owner_id AS credit_owner, t.currency, t.amount
  FROM ledger_transfers t JOIN ledger_accounts d ON d.id = t.debit_id JOIN ledger_accounts c ON c.id = t.credit_id
"""
_BY_NAMES = "WHERE t.idem = ANY(CAST(:names AS text[])) OR t.adjusts = ANY(CAST(:names AS text[]))"
_BY_RECORD = "WHERE starts_with(coalesce(t.adjusts, t.idem), :record)"
_POSTED_BY_NAMES = Query(clauses(_POSTED, _BY_NAMES), Row)
_POSTED_BY_RECORD = Query(clauses(_POSTED, _BY_RECORD), Row)
_POSTED_BY_ACCOUNT = Query(
    clauses(
        _POSTED,
        _BY_NAMES,
        """
        OR t.currency = :currency
           AND (SELECT id FROM ledger_accounts WHERE (owner_id, code, currency) = (:account_id, :code, :currency))
               IN (t.debit_id, t.credit_id)
        """,
    ),
    Row,
)
_RECORDED_OF_INVOICE = Query(clauses(_RECORDED, "WHERE account_id = :account_id AND starts_with(name, :record)"), Row)
_RECORDED_OF_RECORD = Query(clauses(_RECORDED, "WHERE starts_with(name, :record)"), Row)
_RECORDED_OF_ACCOUNT = Query(
    clauses(
        _RECORDED,
        "WHERE account_id = :account_id AND currency = :currency AND CAST(:code AS text) IN (debit_code, credit_code)",
    ),
    Row,
)
_INVOICE = Query("SELECT id, account_id, currency FROM invoices WHERE number = :number", _Invoice)
_HOUR = """concat_ws('/', 'usage', to_char(CAST(:hour AS timestamptz) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24'),"""
_CHARGED = Query(
    clauses(
        "SELECT",
        _HOUR,
        """
               0, account_id, currency) AS name, 'unbilled' AS debit_code, account_id AS debit_owner,
               'revenue' AS credit_code, NULL::uuid AS credit_owner, currency, sum(cost) AS amount
          FROM usage_charges WHERE hour = :hour AND account_id = :account_id AND currency = :currency
         GROUP BY account_id, currency
        """,
    ),
    Row,
)
_NAMES_OF_HOUR = Query(
    clauses(
        "SELECT",
        _HOUR,
        """
               revision, CAST(:account_id AS uuid), CAST(:currency AS text))
          FROM generate_series(0, (SELECT revision FROM hour_closes WHERE hour = :hour)) AS revision ORDER BY revision
        """,
    ),
    str,
)


async def of_invoice(connection: Statements, number: str) -> Comparison | None:
    """The five amounts of an invoice; None if there is none of this number."""
    invoice = await _INVOICE.one_or_none(connection, {"number": number})
    if invoice is None:
        return None
    values = {"account_id": invoice.account_id, "record": f"invoice/{invoice.id}/"}
    recorded = await _RECORDED_OF_INVOICE.all(connection, values)
    posted = await _POSTED_BY_NAMES.all(connection, {"names": [row.name for row in recorded]})
    return Comparison(invoice.account_id, recorded, posted)


async def of_hour(connection: Statements, hour: datetime, account_id: UUID, currency: str) -> Comparison:
    """The charges of a closed hour: all its postings count as the first, which an adjusting entry names."""
    values = {"hour": hour, "account_id": account_id, "currency": currency}
    recorded = await _CHARGED.all(connection, values)
    names = await _NAMES_OF_HOUR.all(connection, values)
    posted = await _POSTED_BY_NAMES.all(connection, {"names": names})
    return Comparison(account_id, recorded, [row._replace(name=names[0]) for row in posted])


async def of_balance(connection: Statements, account_id: UUID, currency: str, code: str) -> Comparison:
    """Everything that a wallet or promotional credit was moved by, or should have been."""
    values = {"account_id": account_id, "currency": currency, "code": code}
    recorded = await _RECORDED_OF_ACCOUNT.all(connection, values)
    names = {"names": [row.name for row in recorded]}
    return Comparison(account_id, recorded, await _POSTED_BY_ACCOUNT.all(connection, values | names))


async def of_record(connection: Statements, kind: str, record_id: str) -> Comparison | None:
    """A payment, refund or credit by its id; None if nothing was posted for one."""
    values = {"record": f"{kind}/{record_id}/"}
    posted = await _POSTED_BY_RECORD.all(connection, values)
    recorded = await _RECORDED_OF_RECORD.all(connection, values)
    owners = [owner for row in (*recorded, *posted) for owner in (row.debit_owner, row.credit_owner) if owner]
    return Comparison(owners[0], recorded, posted) if owners else None
