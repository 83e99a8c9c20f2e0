"""Rules about the ledger: every charge is posted and transferred, and the ledger balances."""

from __future__ import annotations

from types import MappingProxyType

from ipucloud.billing.reports.rollup import DAY_CLOSED, HOLDS
from ipucloud.db.documents import clauses
from ipucloud.db.tenancy import APP_ROLE
from ipucloud.invariants.adjusting import CLOSED, OF_HOUR, VERIFIED
from ipucloud.invariants.rules import Invariant, Refusal, by, decided

_MONEY_STANDS = Refusal("Postings are never rewritten; a person must find the cause and post a correction.")

TRIAL_BALANCE = Invariant(
    name="trial_balance_is_zero",
    sentence="Debits equal credits in every currency, and every account's sums match its transfers.",
    object_type="ledger_account",
    remedy="Find out what bypassed the trigger of ledger_transfers. If the transfers are right, have the audit count"
    " the sums again; if not, restore the ledger from a backup.",
    repair=decided(
        "counts the account's sums again from its transfers",
        "Either the sums or the transfers may be wrong.",
        """
        SELECT FROM (SELECT id FROM ledger_accounts WHERE CAST(:object_id AS text) IN (id::text, currency) ORDER BY id)
                    AS a
         WHERE recount_ledger_account(a.id)
        """,
    ),
    statement="""
    WITH accounts AS (
        SELECT l.id, l.code, l.currency, l.debits, l.credits, debit.moved AS debited, credit.moved AS credited
          FROM ledger_accounts l
         CROSS JOIN LATERAL (
           SELECT coalesce(sum(amount), 0) AS moved FROM ledger_transfers t WHERE t.debit_id = l.id) AS debit
         CROSS JOIN LATERAL (
           SELECT coalesce(sum(amount), 0) AS moved FROM ledger_transfers t WHERE t.credit_id = l.id) AS credit
         -- A ledger grows for ever, and what is read of it every minute must not.
         WHERE (SELECT coalesce(max(id), 0) FROM ledger_transfers) <= 500000
            OR l.owner_id IS NOT NULL
           AND l.id IN (SELECT unnest(ARRAY[debit_id, credit_id])
                          FROM (SELECT debit_id, credit_id FROM ledger_transfers ORDER BY id DESC LIMIT 50) AS newest)
    ), wrong AS (
        SELECT * FROM accounts WHERE debits <> debited OR credits <> credited
    )
    SELECT id::text AS object_id, NULL::uuid AS project_id,
           format('%s %s: debits %s, credits %s; its transfers come to %s and %s', code, currency, debits, credits,
                  debited, credited) AS detail
      FROM wrong
    UNION ALL
    SELECT currency, NULL, format('all accounts in %s: debits %s, credits %s', currency, sum(debits), sum(credits))
      FROM ledger_accounts WHERE currency NOT IN (SELECT currency FROM wrong)
     GROUP BY currency HAVING sum(debits) <> sum(credits)
    """,
)

FLOOR = Invariant(
    name="wallet_is_not_negative",
    sentence="Promotional credits are never overdrawn, and wallets only by payments that were reversed.",
    object_type="ledger_account",
    remedy="Find out what overdrew it. Record the payment by which the customer makes a wallet good"
    " (`ipucloud payments create`); grant what a promotional credit lacks (`ipucloud credits create`).",
    repair=_MONEY_STANDS,
    statement="""
    SELECT id::text AS object_id, NULL::uuid AS project_id,
           format('the %s of account %s holds %s %s', code, owner_id, credits - debits, currency) AS detail
      FROM ledger_accounts a WHERE code IN ('wallet', 'promo') AND credits < debits
       AND (code = 'promo' OR debits - credits > coalesce((
             SELECT sum(p.amount) FROM payments p
              WHERE (p.account_id, p.currency) = (a.owner_id, a.currency) AND p.reverses IS NOT NULL), 0))
    """,
)

IN_LEDGER = Invariant(
    name="closed_hour_is_in_the_ledger",
    sentence="The charges of a closed hour are in the ledger (the last three hours).",
    object_type="hour",
    remedy="Find out what posted charges without a transfer, or moved their money otherwise.",
    repair=OF_HOUR,
    statement="""
    WITH last AS (
      SELECT hour, revision FROM hour_closes WHERE closed_at IS NOT NULL ORDER BY hour DESC LIMIT 3
    ), charged AS (
      SELECT hour, account_id, currency, sum(cost) AS cost
        FROM usage_charges WHERE hour IN (SELECT hour FROM last) GROUP BY hour, account_id, currency
    )
    SELECT format('%s %s %s', to_char(c.hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24'), c.account_id, c.currency)
             AS object_id, NULL::uuid AS project_id,
           format('charges of %s %s, transfers of %s', c.cost, c.currency, coalesce(moved.amount, 0)) AS detail
      FROM charged c JOIN last USING (hour)
     CROSS JOIN LATERAL (
       SELECT array_agg(concat_ws('/', 'usage', to_char(c.hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24'), revision,
                                  c.account_id, c.currency) ORDER BY revision) AS idems
         FROM generate_series(0, last.revision) AS revision) AS names
     CROSS JOIN LATERAL (
       SELECT sum(CASE 'unbilled' WHEN d.code THEN t.amount WHEN a.code THEN -t.amount END) AS amount
         FROM ledger_transfers t
         JOIN ledger_accounts d ON d.id = t.debit_id JOIN ledger_accounts a ON a.id = t.credit_id
        WHERE t.idem = ANY (names.idems) OR t.adjusts = names.idems[1]) AS moved
     WHERE c.cost <> coalesce(moved.amount, 0)
    """,
)

OF_CLOSED_HOURS = Invariant(
    name="charge_is_of_a_closed_hour",
    sentence="Charges exist only for closed hours.",
    object_type="hour",
    remedy="Find out what posts charges other than the close, and wait until the hour is over.",
    repair=CLOSED,
    statement="""
    SELECT DISTINCT to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24') AS object_id, NULL::uuid AS project_id,
           'it has charges and is not closed' AS detail
      FROM usage_charges
     WHERE hour > coalesce((SELECT max(hour) FROM hour_closes WHERE closed_at IS NOT NULL), '-infinity')
    """,
)

SEALED_IS_VERIFIED = Invariant(
    name="sealed_month_was_verified",
    sentence="Every hour of a sealed month was closed and then verified.",
    object_type="month",
    remedy="Apply the audit's repair. Find out what sealed the month.",
    repair=VERIFIED,
    statement="""
    SELECT b.month::text AS object_id, NULL::uuid AS project_id,
           format('%s hours were not, the first is %s', count(*), min(c.hour)) AS detail
      FROM billing_months b
      JOIN hour_closes c ON c.hour >= b.month::timestamp AT TIME ZONE 'UTC'
                        AND c.hour < (b.month + interval '1 month') AT TIME ZONE 'UTC'
     WHERE b.sealed_at IS NOT NULL AND c.verified_at IS NULL
     GROUP BY b.month
    """,
)

SEALED_IN_TIME = Invariant(
    name="month_is_sealed_in_time",
    sentence="A billing month is sealed within two days of its end, or one day of being opened.",
    object_type="month",
    remedy="See why its first hour that is not verified is not closed; the worker's log names the error.",
    repair=Refusal("A month is sealed by closing and verifying its hours, which a worker does when it can."),
    statement="""
    SELECT b.month::text AS object_id, NULL::uuid AS project_id,
           format('its invoices wait; the first of its hours that is not verified: %s',
                  coalesce(min(c.hour)::text, 'none that has begun to close')) AS detail
      FROM billing_months b
      LEFT JOIN hour_closes c ON c.hour >= b.month::timestamp AT TIME ZONE 'UTC'
                             AND c.hour < (b.month + interval '1 month') AT TIME ZONE 'UTC' AND c.verified_at IS NULL
     WHERE b.sealed_at IS NULL AND (b.month + interval '1 month 2 days') AT TIME ZONE 'UTC' <= app_now()
       AND b.opened_at + interval '1 day' <= app_now()
     GROUP BY b.month
    """,
)

ALL_PRICED = Invariant(
    name="used_minutes_have_a_price",
    sentence="Every minute of a closed hour has a price, and is charged.",
    object_type="price",
    remedy="Add a price for that time; a contract price or the list price. The minutes are then charged.",
    repair=Refusal("Prices are set by people."),
    statement="""
    SELECT concat_ws('/', sku, region, currency, account_id) AS object_id, NULL::uuid AS project_id,
           format('%s minutes from %s on are not charged', sum(minutes), min(hour)) AS detail
      FROM unpriced_minutes GROUP BY account_id, sku, region, currency
    """,
)

RERATED = Invariant(
    name="corrected_price_is_rated",
    sentence="A price correction is finished within a day, and its first day is then charged at no other price (the"
    " newest).",
    object_type="price_correction",
    remedy="Find out what kept it (`periodic_task_failed` in the workers' log).",
    repair=decided(
        "has a worker rate the hours of its period again",
        "Rating them again does not help while what kept the worker from it lasts.",
        """
        SELECT note_dirty_hours('price', valid_from, coalesce(valid_to, 'infinity')) FROM price_corrections
         WHERE id = CAST(:object_id AS uuid)
        """,
    ),
    statement="""
    WITH newest AS (SELECT * FROM price_corrections ORDER BY created_at DESC, id DESC LIMIT 1)
    SELECT c.id::text AS object_id, NULL::uuid AS project_id,
           format('accepted at %s, and not finished', c.created_at) AS detail
      FROM newest c WHERE c.finished_at IS NULL AND c.created_at + interval '1 day' <= app_now()
    UNION ALL
    SELECT c.id::text, NULL::uuid, format('%s minutes at %s in the hour %s', sum(u.minutes), u.unit_price, u.hour)
      FROM newest c
      JOIN usage_charges u ON u.hour >= c.valid_from AND u.hour < c.valid_from + interval '1 day'
                          AND (c.valid_to IS NULL OR u.hour + interval '1 hour' <= c.valid_to)
                          AND (u.sku, u.region, u.currency) = (c.sku, c.region, c.currency)
                          AND u.unit_price <> c.unit_price
     WHERE c.finished_at IS NOT NULL
       AND CASE WHEN c.account_id IS NULL THEN NOT EXISTS (
                       SELECT FROM contract_prices k WHERE k.account_id = u.account_id
                          AND (k.sku, k.region, k.currency) = (c.sku, c.region, c.currency))
                ELSE u.account_id = c.account_id END
     GROUP BY c.id, u.hour, u.interval_id, u.unit_price
    HAVING sum(u.minutes) <> 0
    """,
)

HAS_PAYER = Invariant(
    name="project_has_an_account",
    sentence="Every project has a paying account from its creation on.",
    object_type="project",
    remedy="If the project should pay for itself, have the audit make its account; `ipucloud accounts assign` names"
    " another from then on.",
    repair=decided(
        "lets the project pay for itself, from its creation on",
        "Who pays is decided by people.",
        "INSERT INTO billing_accounts (id, name) SELECT id, name FROM projects WHERE id = :project_id"
        " ON CONFLICT DO NOTHING",
        "INSERT INTO project_accounts (project_id, account_id, valid_from) VALUES (:project_id, :project_id, 'epoch')"
        " ON CONFLICT DO NOTHING",
    ),
    statement="""
    SELECT p.id::text AS object_id, p.id AS project_id, 'no account pays for it' AS detail
      FROM projects p
     WHERE NOT EXISTS (SELECT FROM project_accounts a WHERE a.project_id = p.id AND a.valid_from <= p.created_at)
    """,
)

PARTITIONS_CLOSED = Invariant(
    name="partitions_of_charges_are_out_of_reach",
    sentence="The application's role reaches charges only through the guarded parent table.",
    object_type="privilege",
    remedy="Run `ipucloud migrate`, which takes the privileges back, and find out what gave them.",
    repair=Refusal("The application owns nothing of the schema; only its owner may change it."),
    statement="""
    SELECT i.inhrelid::regclass::text AS object_id, NULL::uuid AS project_id,
           format('%s may reach it', CAST(:role AS text)) AS detail
      FROM pg_inherits i
     WHERE i.inhparent = 'usage_charges'::regclass
       AND (has_table_privilege(CAST(:role AS name), i.inhrelid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
            OR has_any_column_privilege(CAST(:role AS name), i.inhrelid, 'SELECT, INSERT, UPDATE'))
    """,
    parameters=MappingProxyType({"role": APP_ROLE}),
)

RULES = (
    TRIAL_BALANCE,
    FLOOR,
    IN_LEDGER,
    OF_CLOSED_HOURS,
    SEALED_IS_VERIFIED,
    SEALED_IN_TIME,
    ALL_PRICED,
    RERATED,
    HAS_PAYER,
    PARTITIONS_CLOSED,
)


ROLL_UP = Invariant(
    name="roll_up_is_the_charges",
    sentence="A valid roll-up equals its day's charges (the latest, up to 20,000 clusters).",
    object_type="day",
    remedy="Apply the audit's repair; the roll-up is rebuilt within a minute. Find out what changed it.",
    repair=by(
        "deletes the roll-up, so that it is rebuilt",
        "UPDATE day_rollups SET hours = -1 WHERE day = CAST(:object_id AS date) AND hours >= 0",
    ),
    statement=clauses(
        "WITH last AS (SELECT rolled.day, rolled.version FROM day_rollups AS rolled",
        DAY_CLOSED,
        "WHERE",
        HOLDS,
        """
         AND built_at IS NOT NULL AND rolled.clusters <= 20000 ORDER BY built_at DESC, rolled.day DESC LIMIT 1
        ), charged AS (
          SELECT c.account_id, c.currency, sum(c.minutes) AS minutes, sum(c.machine_minutes) AS machine_minutes,
                 sum(c.credited) AS credited, sum(c.cost) AS cost, sum(c.list_cost) AS list_cost
            FROM last CROSS JOIN generate_series(0, 23) AS n
            -- Hour by hour, so that the planner takes the index and does not read the whole month.
           CROSS JOIN LATERAL (
             SELECT c.account_id, c.currency, sum(c.minutes) AS minutes,
                    sum(c.minutes::bigint * c.quantity) AS machine_minutes,
                    sum(c.minutes::bigint * c.credited) AS credited, sum(c.cost) AS cost,
                    sum(c.minutes * c.quantity * c.list_unit_price) AS list_cost
               FROM usage_charges c
              WHERE c.hour = last.day::timestamp AT TIME ZONE 'UTC' + make_interval(hours => n)
              GROUP BY c.account_id, c.currency) AS c
           GROUP BY c.account_id, c.currency
        ), rolled_up AS (
          SELECT d.account_id, d.currency, sum(d.minutes) AS minutes, sum(d.machine_minutes) AS machine_minutes,
                 sum(d.credited_machine_minutes) AS credited, sum(d.cost) AS cost, sum(d.list_cost) AS list_cost
            FROM last JOIN usage_days d USING (day, version) GROUP BY d.account_id, d.currency
        )
        SELECT (SELECT day FROM last)::text AS object_id, NULL::uuid AS project_id,
               format('%s accounts differ; rolled up %s, charged %s', count(*), sum(r.cost), sum(c.cost)) AS detail
          FROM charged c FULL JOIN rolled_up r USING (account_id, currency)
         WHERE (c.minutes, c.machine_minutes, c.credited, c.cost, c.list_cost)
               IS DISTINCT FROM (r.minutes, r.machine_minutes, r.credited, r.cost, r.list_cost)
        HAVING count(*) > 0
        """,
    ),
)

ROLL_UP_RULES = (ROLL_UP,)
