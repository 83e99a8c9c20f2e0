"""Rules about invoices and credit notes, what pays them, and their numbers."""

from __future__ import annotations

from ipucloud.db.documents import decimal_places
from ipucloud.invariants.adjusting import OF_INVOICE, OF_PROMO, OF_RECORD, OF_WALLET
from ipucloud.invariants.rules import Invariant, Refusal

_STANDS = Refusal("Issued documents are never rewritten; a person must find the cause and issue a credit note.")
_MONEY_STANDS = Refusal("Postings are never rewritten; a person must find the cause and post a correction.")
_SUM = "coalesce((SELECT sum({what}) FROM {table} x WHERE x.invoice_id = i.id), 0)"
_COST = _SUM.format(what="x.cost", table="invoice_lines")
_AMOUNT = _SUM.format(what="x.amount", table="invoice_lines")
_TAX = _SUM.format(what="x.tax", table="invoice_taxes")
_BURNED = _SUM.format(what="x.amount", table="promo_credit_uses")
_NEWEST = "(SELECT * FROM invoices ORDER BY issued_at DESC, id DESC LIMIT 1000)"

SUMS = Invariant(
    name="invoice_is_the_sum_of_its_lines",
    sentence="An invoice's total is the sum of its parts (the newest thousand).",
    object_type="invoice",
    remedy="Find out what bypassed the code that issues invoices; issue a credit note for the difference"
    " (`ipucloud credit-notes create`).",
    repair=_STANDS,
    statement=f"""
    SELECT number AS object_id, NULL::uuid AS project_id,
           format('lines of %s, rounded %s, taxes of %s, credit of %s: not %s', exact, amount, taxes, burned, total)
             AS detail
      FROM (SELECT i.*, {_COST} AS exact, {_AMOUNT} AS amount, {_TAX} AS taxes, {_BURNED} AS burned
              FROM {_NEWEST} AS i) AS invoice
     WHERE (cost, subtotal, tax, promo_applied) <> (exact, amount, taxes, burned)
        OR total <> exact + adjustment - burned + taxes
    """,  # noqa: S608  # our own text
)

ROUNDED = Invariant(
    name="invoice_is_rounded_to_its_currency",
    sentence="Lines and taxes of an invoice have its currency's decimal places (the newest thousand).",
    object_type="invoice",
    remedy="Find out what bypassed the code that issues invoices; issue a credit note for the difference"
    " (`ipucloud credit-notes create`).",
    repair=_STANDS,
    statement=f"""
    SELECT DISTINCT number AS object_id, NULL::uuid AS project_id,
           format('%s of %s is not %s rounded to %s decimal places', part, amount, exact, places) AS detail
      FROM (SELECT i.number, 'line ' || l.line AS part, l.amount, l.cost AS exact,
                   {decimal_places("i.currency")} AS places
              FROM {_NEWEST} AS i JOIN invoice_lines l ON l.invoice_id = i.id
            UNION ALL
            SELECT i.number, 'tax', t.tax, t.taxable * t.rate, {decimal_places("i.currency")}
              FROM {_NEWEST} AS i JOIN invoice_taxes t ON t.invoice_id = i.id) AS figures
     WHERE amount <> round(exact, places)
    """,  # noqa: S608  # our own text
)

IN_LEDGER = Invariant(
    name="invoice_is_in_the_ledger",
    sentence="Every amount of an invoice was transferred exactly once (the newest thousand).",
    object_type="invoice",
    remedy="Find out what issued it without its transfers, or moved their money otherwise.",
    repair=OF_INVOICE,
    statement=f"""
    SELECT i.number AS object_id, NULL::uuid AS project_id,
           format('%s of %s, transfers of %s', part.name, part.amount, t.amount) AS detail
      FROM {_NEWEST} AS i
     CROSS JOIN LATERAL (
       VALUES ('usage', 'receivable', i.cost), ('rounding', 'receivable', i.adjustment), ('tax', 'receivable', i.tax),
              ('promo', 'promo', i.promo_applied), ('wallet', 'wallet', i.wallet_applied)) AS part (name, debit, amount)
     CROSS JOIN LATERAL (
       SELECT coalesce(sum(CASE part.debit WHEN d.code THEN x.amount WHEN c.code THEN -x.amount END), 0) AS amount
         FROM ledger_transfers x
         JOIN ledger_accounts d ON d.id = x.debit_id JOIN ledger_accounts c ON c.id = x.credit_id
        WHERE 'invoice/' || i.id || '/' || part.name IN (x.idem, x.adjusts)) AS t
     WHERE t.amount <> part.amount
    """,  # noqa: S608  # our own text
)

BILLED = Invariant(
    name="invoiced_month_has_nothing_unbilled",
    sentence="An invoice includes every charge of its account, currency and month (the newest).",
    object_type="invoice",
    remedy="Find out what posted charges to a sealed month or left some off the invoice; correct the hours.",
    repair=_STANDS,
    statement="""
    SELECT i.number AS object_id, NULL::uuid AS project_id,
           format('invoiced %s, charged %s', i.cost, charged.cost) AS detail
      FROM (SELECT newest.*, sum(used.minutes) OVER (ORDER BY issued_at DESC, id DESC) AS minutes
              FROM (SELECT * FROM invoices ORDER BY issued_at DESC, id DESC LIMIT 20) AS newest
             CROSS JOIN LATERAL (
               SELECT sum(abs(l.minutes)) AS minutes FROM invoice_lines l WHERE l.invoice_id = newest.id) AS used) AS i
     CROSS JOIN LATERAL (
       SELECT coalesce(sum(c.cost), 0) AS cost FROM usage_charges c
        WHERE c.billing_month = i.month AND c.account_id = i.account_id AND c.currency = i.currency) AS charged
     -- The charges of an account lie apart: so many hours of usage are so many pages to read.
     WHERE i.minutes <= 100000 * 60 AND charged.cost <> i.cost
    """,
)

NUMBERS = Invariant(
    name="numbers_have_no_gap",
    sentence="A year's invoices and credit notes are numbered from 1 without gaps.",
    object_type="series",
    remedy="Find out which transaction took the number; explain the gap to the tax office.",
    repair=_STANDS,
    statement="""
    SELECT format('%s-%s', coalesce(c.series, used.series), coalesce(c.year, used.year)) AS object_id,
           NULL::uuid AS project_id,
           format('%s documents up to number %s, counted %s', coalesce(used.documents, 0), coalesce(used.highest, 0),
                  coalesce(c.last, 0)) AS detail
      FROM invoice_counters c
      FULL JOIN (
        SELECT series, year, count(*) AS documents, max(sequence) AS highest
          FROM (SELECT series, year, sequence FROM invoices
                UNION ALL SELECT series, year, sequence FROM credit_notes) AS numbered
         GROUP BY series, year) AS used ON (used.series, used.year) = (c.series, c.year)
     WHERE (coalesce(used.documents, 0), coalesce(used.highest, 0)) <> (coalesce(c.last, 0), coalesce(c.last, 0))
    """,
)

NOT_OVERPAID = Invariant(
    name="invoice_is_settled_once",
    sentence="No invoice is settled for more than is due, and no credit note returns more tax than was billed.",
    object_type="invoice",
    remedy="Find the duplicate; credit the difference to the customer (`ipucloud credits create`).",
    repair=_MONEY_STANDS,
    statement="""
    SELECT i.number AS object_id, NULL::uuid AS project_id,
           format('due %s, settled %s', i.due, settled.amount) AS detail
      FROM (SELECT invoice_id, sum(amount) AS amount FROM invoice_settlements GROUP BY invoice_id) AS settled
      JOIN invoices i ON i.id = settled.invoice_id
     WHERE settled.amount > i.due
     UNION ALL
    SELECT i.number, NULL, format('taxable %s at %s, given back %s; tax %s, given back %s', coalesce(t.taxable, 0),
                                  returned.rate, returned.net, coalesce(t.tax, 0), returned.tax)
      FROM (SELECT n.invoice_id, c.rate, sum(c.net) AS net, sum(c.tax) AS tax
              FROM credit_notes n JOIN credit_note_taxes c ON c.credit_note_id = n.id GROUP BY 1, 2) AS returned
      JOIN invoices i ON i.id = returned.invoice_id
      LEFT JOIN invoice_taxes t ON (t.invoice_id, t.rate) = (returned.invoice_id, returned.rate)
     WHERE abs(returned.net) > abs(coalesce(t.taxable, 0)) OR abs(returned.tax) > abs(coalesce(t.tax, 0))
     UNION ALL
    SELECT n.number, NULL, format('net %s and tax %s, by rate %s and %s', n.net, n.tax, coalesce(sum(c.net), 0),
                                  coalesce(sum(c.tax), 0))
      FROM credit_notes n LEFT JOIN credit_note_taxes c ON c.credit_note_id = n.id
     GROUP BY n.id HAVING (n.net, n.tax) <> (coalesce(sum(c.net), 0), coalesce(sum(c.tax), 0))
    """,
)

CREDIT_NOTE = Invariant(
    name="credit_note_names_what_it_corrects",
    sentence="A negative line of a credit note names the document that billed the usage (the newest thousand).",
    object_type="invoice",
    remedy="Find out which charges were taken back that no document had billed; explain them to the customer.",
    repair=_STANDS,
    statement=f"""
    SELECT i.number AS object_id, NULL::uuid AS project_id,
           format('line %s takes back %s of %s and names %s', l.line, -l.cost, to_char(l.usage_month, 'YYYY-MM'),
                  coalesce(b.number, 'nothing')) AS detail
      FROM {_NEWEST} AS i JOIN invoice_lines l ON l.invoice_id = i.id LEFT JOIN invoices b ON b.id = l.corrects
     WHERE i.series = 'CN' AND l.cost < 0
       AND (b.account_id, b.currency, true) IS DISTINCT FROM (i.account_id, i.currency, b.month < i.month)
    """,  # noqa: S608  # our own text
)

WALLET_PAYS = Invariant(
    name="wallet_pays_open_invoices",
    sentence="No account has both money in its wallet and an open invoice, and what wallets paid is in the ledger.",
    object_type="account",
    remedy="Record any payment of the account (`ipucloud payments create`), of one cent if need be: the wallet then"
    " pays what is open. A settlement without its transfer breaks `wallet_is_what_was_paid` too, which repairs it.",
    repair=_MONEY_STANDS,
    statement="""
    SELECT format('%s %s', w.owner_id, w.currency) AS object_id, NULL::uuid AS project_id,
           format('the wallet holds %s, and %s is open', w.credits - w.debits, sum(open.rest)) AS detail
      FROM ledger_accounts w
      JOIN (SELECT account_id, currency, due - coalesce((SELECT sum(s.amount) FROM invoice_settlements s
                                                          WHERE s.invoice_id = i.id), 0) AS rest
              FROM invoices i WHERE due > 0) AS open ON (open.account_id, open.currency) = (w.owner_id, w.currency)
     WHERE w.code = 'wallet' AND w.credits > w.debits AND open.rest > 0
     GROUP BY w.id
     UNION ALL
    SELECT format('%s %s', i.account_id, i.currency), NULL,
           format('settlement %s of %s: %s, transfers of %s', s.id, i.number, s.amount, t.amount)
      FROM invoice_settlements s JOIN invoices i ON i.id = s.invoice_id
     CROSS JOIN LATERAL (
       SELECT coalesce(sum(CASE 'wallet' WHEN d.code THEN x.amount WHEN c.code THEN -x.amount END), 0) AS amount
         FROM ledger_transfers x
         JOIN ledger_accounts d ON d.id = x.debit_id JOIN ledger_accounts c ON c.id = x.credit_id
        WHERE 'settlement/' || s.id || '/wallet' IN (x.idem, x.adjusts)) AS t
     WHERE s.from_wallet AND s.amount <> t.amount
    """,
)

CREDITS = Invariant(
    name="promotional_credit_is_what_was_granted",
    sentence="Remaining credits match the ledger, and no credit was used twice.",
    object_type="account",
    remedy="Find out what used credit without a transfer, or moved it without a record. What was used twice is"
    " granted again.",
    repair=OF_PROMO,
    statement="""
    SELECT format('%s %s', account_id, currency) AS object_id, NULL::uuid AS project_id,
           format('credits have %s left, the ledger holds %s', coalesce(granted.rest, 0), coalesce(held.balance, 0))
             AS detail
      FROM (SELECT account_id, currency, sum(rest) AS rest, min(rest) AS least
              FROM (SELECT c.account_id, c.currency,
                           c.amount - coalesce(sum(u.amount), 0) + coalesce((
                             SELECT sum(amount) FROM ledger_transfers WHERE adjusts = 'overused/' || c.id), 0) AS rest
                      FROM promo_credits c LEFT JOIN promo_credit_uses u ON u.credit_id = c.id
                     GROUP BY c.id) AS credit
             GROUP BY account_id, currency) AS granted
      FULL JOIN (SELECT owner_id AS account_id, currency, credits - debits AS balance FROM ledger_accounts
                  WHERE code = 'promo') AS held USING (account_id, currency)
     WHERE coalesce(granted.rest, 0) <> coalesce(held.balance, 0) OR granted.least < 0
    """,
)

WALLET = Invariant(
    name="wallet_is_what_was_paid",
    sentence="A wallet's balance equals payments and credits, less what it paid and refunds.",
    object_type="account",
    remedy="Find out what moved money of the wallet without a payment or a document, or left it out.",
    repair=OF_WALLET,
    statement="""
    SELECT format('%s %s', account_id, currency) AS object_id, NULL::uuid AS project_id,
           format('it was given %s, the ledger holds %s', coalesce(moved.amount, 0), coalesce(held.balance, 0))
             AS detail
      FROM (SELECT account_id, currency, sum(amount) AS amount
              FROM (SELECT account_id, currency, to_wallet AS amount FROM payments WHERE state = 'done'
                    UNION ALL SELECT account_id, currency, -wallet_applied FROM invoices
                    UNION ALL SELECT i.account_id, i.currency, n.to_wallet
                                FROM credit_notes n JOIN invoices i ON i.id = n.invoice_id
                    UNION ALL SELECT i.account_id, i.currency, -s.amount
                                FROM invoice_settlements s JOIN invoices i ON i.id = s.invoice_id
                               WHERE s.from_wallet) AS movement
             GROUP BY account_id, currency) AS moved
      FULL JOIN (SELECT owner_id AS account_id, currency, credits - debits AS balance FROM ledger_accounts
                  WHERE code = 'wallet') AS held USING (account_id, currency)
     WHERE coalesce(moved.amount, 0) <> coalesce(held.balance, 0)
    """,
)

MOVED_ONCE = Invariant(
    name="money_moves_once",
    sentence="No payment, refund or granted credit moved more than its amount (the newest thousand transfers).",
    object_type="payment",
    remedy="Find out what posted money without a payment or a credit, or twice.",
    repair=OF_RECORD,
    statement="""
    SELECT moved.name AS object_id, NULL::uuid AS project_id,
           format('recorded %s, transferred %s', coalesce(p.amount, c.amount, 0), moved.amount) AS detail
      FROM (SELECT split_part(name, '/', 1) || ' ' || split_part(name, '/', 2) AS name, split_part(name, '/', 2) AS id,
                   -- A refund goes to the platform's account; all others come from there.
                   sum(CASE WHEN (d.owner_id IS NULL) <> (split_part(name, '/', 3) = 'out') THEN t.amount
                            ELSE -t.amount END) AS amount
              FROM (SELECT *, coalesce(adjusts, idem) AS name FROM ledger_transfers ORDER BY id DESC LIMIT 1000) AS t
              JOIN ledger_accounts d ON d.id = t.debit_id
             WHERE kind IN ('payment', 'top_up', 'refund', 'payment_reversed', 'credit_granted')
                OR kind = 'adjustment' AND split_part(name, '/', 1) IN ('payment', 'credit')
                   AND split_part(name, '/', 3) <> 'expired'
             GROUP BY 1, 2) AS moved
      LEFT JOIN payments p ON p.id::text = moved.id AND p.state = 'done'
      LEFT JOIN promo_credits c ON c.id::text = moved.id
     WHERE moved.amount > coalesce(p.amount, c.amount, 0)
    """,
)

REVERSED = Invariant(
    name="payment_taken_back_is_reversed",
    sentence="What the payment provider took back of a payment is no longer in the wallet, nor is more than it took.",
    object_type="payment",
    remedy="Reverse the payment under the provider's id (`ipucloud payments reverse`). Record what came back, such as"
    " after a dispute that was won, under that id with `-returned` (`ipucloud payments create`).",
    repair=Refusal("Whether the customer is to lose the money is for a person to decide."),
    statement="""
    SELECT p.id::text AS object_id, NULL::uuid AS project_id,
           format(CASE WHEN f.taken THEN '%s of %s %s: %s %s were taken back and are still in the wallet of account %s'
                       ELSE '%s of %s %s: %s %s came back and are missing in the wallet of account %s' END,
                  f.id, p.reference, f.status, f.amount, p.currency, p.account_id) AS detail
      FROM found_reversals f JOIN payments p ON p.id = f.payment_id
     WHERE CASE WHEN f.taken THEN f.id ELSE f.id || '-returned' END NOT IN (
             SELECT reference FROM payments o WHERE o.account_id = p.account_id AND o.state = 'done'
                AND o.direction = CASE WHEN f.taken THEN 'out' ELSE 'in' END)
       AND (f.taken OR EXISTS (SELECT FROM payments o WHERE (o.account_id, o.reference) = (p.account_id, f.id)))
    """,
)

RULES = (
    *(SUMS, ROUNDED, IN_LEDGER, BILLED, NUMBERS, NOT_OVERPAID),
    *(CREDIT_NOTE, WALLET_PAYS, CREDITS, WALLET, MOVED_ONCE, REVERSED),
)
