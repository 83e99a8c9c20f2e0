"""Proofs of bills: every invoice of a random world is proven by its file alone, and no changed file is."""

from __future__ import annotations

import asyncio
import copy
import json
import random
import subprocess
import sys
from base64 import b64decode
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipucloud.client import verify_bill
from ipucloud.client.verify_bill import NotProven, verify
from ipucloud.db.engine import Database
from ipucloud.extras.proofs.file import pieces_of, proof_of
from ipucloud.extras.proofs.leaves import Billed
from ipucloud.extras.proofs.merkle import Fold, leaf, path_to, root_of
from ipucloud.extras.proofs.sign import sign_months, statement_of
from ipucloud.kernel.sealing import Keys, new_key, read_keys, signer_of
from tests.feature.billing.invoices.customers import transact
from tests.feature.billing.test_killed import killed_at
from tests.feature.billing.test_oracle import ROUNDS, WINDOW, Recorder, anew
from tests.feature.billing.timelines import BASES, ONE_DATABASE, TIMELINES, Timeline
from tests.feature.billing.world import BillingWorld, at, in_billing_world
from tests.support.invoices import add_tax_rate
from tests.support.postgres import Database as Scratch

KEYS = read_keys(new_key())
_QUIET = """
INSERT INTO hour_closes (hour, begun_at, closed_at, verified_at, charges)
SELECT hour, app_now(), app_now(), app_now(), 0
  FROM generate_series(CAST(:since AS timestamptz), CAST(:until AS timestamptz) - interval '1 hour', interval '1 hour')
       AS hour ON CONFLICT DO NOTHING
"""
File = dict[str, Any]


async def proven(billing: BillingWorld, number: str, keys: Keys = KEYS) -> bytes:
    async with billing.database.read() as connection:
        proof = await proof_of(connection, number, keys)
    return b"".join([piece async for piece in pieces_of(billing.database, proof)])


async def lived(billing: BillingWorld, base: datetime, timelines: list[Timeline]) -> dict[str, bytes]:
    """Live, seal two months, record late what was left out of the first; the proof of every document."""
    await transact(billing, add_tax_rate)
    recorders = [
        Recorder(billing, base, timeline, await billing.make_cluster(), f"sku-{place}")
        for place, timeline in enumerate(timelines)
    ]
    end = (base + WINDOW).replace(minute=0)
    months = [(base.replace(day=1) + timedelta(days=31 * ahead)).replace(day=2, hour=1, minute=0) for ahead in (1, 2)]
    for place, now in enumerate((end + timedelta(minutes=2), *months)):
        for recorder in recorders:
            if place == 0:
                await recorder.prices()
            await recorder.record(0 if place < 2 else ROUNDS, now)
        # What goes on for ever would make months of charges, and hours in which nothing is used take long to close.
        await billing.execute(
            "UPDATE usage_intervals SET ended_at = greatest(:end, started_at) WHERE ended_at IS NULL", end=end
        )
        await billing.keep(now)
        if place == 0:
            await billing.execute(_QUIET, since=end, until=months[-1])
    assert await sign_months(billing.database, KEYS)
    assert await sign_months(billing.database, KEYS) == [], "a month is signed once"
    numbers = await billing.column("SELECT number FROM invoices ORDER BY number")
    return {number: await proven(billing, number) for number in numbers}


def resigned(file: File, keys: Keys = KEYS) -> File:
    """The file of somebody who holds the key, and signs whatever is in it."""
    signer, month, bill = signer_of(keys), file["month"], file["bill"]
    fold = Fold()
    for each in (*file["facts"], *file["charges"]):
        fold.add(leaf(each))
    of = datetime.strptime(month["month"], "%Y-%m").date()  # noqa: DTZ007  # a month
    hashed = leaf(Billed(of, bill["account"], bill["currency"]).leaf(fold.root, fold.count))
    bill |= {"place": 0, "path": []}
    month |= {"root": hashed.hex(), "bills": 1, "public_key": signer.public_key}
    month["signature"] = signer.sign(statement_of(of, hashed, 1))
    document = file["invoice"]["document"]
    number = json.loads(document)["number"]
    file["invoice"]["public_key"] = signer.public_key
    file["invoice"]["signature"] = signer.sign(f"ipucloud-invoice/1|{number}|{sha256(document.encode()).hexdigest()}")
    return file


def _field(texts: list[str], place: int, chance: random.Random) -> None:
    """Another number in one field of one text."""
    which = chance.randrange(len(texts))
    parts = texts[which].split("|")
    parts[place] = str(int(parts[place]) + chance.choice((-60, -1, 1, 60)))
    texts[which] = "|".join(parts)


def _total(file: File, chance: random.Random) -> None:
    document = json.loads(file["invoice"]["document"])
    member = chance.choice(("total", "subtotal", "tax", "cost", "taxable", "adjustment"))
    document[member]["amount"] = "123456.78"
    file["invoice"]["document"] = json.dumps(document)


def _line(file: File, chance: random.Random) -> None:
    document = json.loads(file["invoice"]["document"])
    line = chance.choice(document["lines"])
    line[chance.choice(("minutes", "machine_minutes"))] += 1
    file["invoice"]["document"] = json.dumps(document)


def _dearer(file: File, chance: random.Random) -> None:
    """A whole month at another price: charges, lines and sums, but not the price book."""
    price = chance.choice(file["charges"]).split("|")[-2]
    other = str(float(price) + 1)
    for place, each in enumerate(file["charges"]):
        parts = each.split("|")
        if parts[-2] == price:
            minutes, machines = int(parts[10]), int(parts[11])
            parts[-2:] = [other, str(minutes * machines * float(other))]
            file["charges"][place] = "|".join(parts)


FORGERIES: dict[str, Callable[[File, random.Random], object]] = {
    "a charge is left out": lambda file, chance: file["charges"].pop(chance.randrange(len(file["charges"]))),
    "a charge is there twice": lambda file, chance: file["charges"].append(chance.choice(file["charges"])),
    "a charge has other minutes": lambda file, chance: _field(file["charges"], 10, chance),
    "a charge has other machines": lambda file, chance: _field(file["charges"], 11, chance),
    "charges are dearer": _dearer,
    "the total is another": _total,
    "a line is another": _line,
}
UNSIGNED: dict[str, Callable[[File, random.Random], object]] = {
    "a charge begins at another time": lambda file, chance: _field(file["charges"], 8, chance),
    "a fact is another": lambda file, _: file["facts"].__setitem__(0, file["facts"][0] + "0"),
    "a fact is left out": lambda file, chance: file["facts"].pop(chance.randrange(len(file["facts"]))),
    "another root": lambda file, _: file["month"].update(root="00" * 32),
    "another month": lambda file, _: file["month"].update(month="2001-01"),
    "another account": lambda file, _: file["bill"].update(account="0"),
    "no signature": lambda file, _: file["month"].update(signature=""),
    "another format": lambda file, _: file.update(format="x"),
    "no invoice": lambda file, _: file.pop("invoice"),
}


def refuted(content: bytes, seed: int) -> None:
    """No change of the file passes; those of whoever holds the key pass no more than others."""
    chance = random.Random(seed)  # noqa: S311  # a test's choice
    for name, forge in (UNSIGNED | FORGERIES).items():
        file = json.loads(content)
        forge(file, chance)
        with pytest.raises(NotProven):
            raise AssertionError(f"{name}: {verify(json.dumps(file).encode())}")
        if name in FORGERIES:
            with pytest.raises(NotProven):
                raise AssertionError(f"{name}, and signed: {verify(json.dumps(resigned(file)).encode())}")
    foreign = read_keys(new_key())
    other = json.dumps(resigned(copy.deepcopy(json.loads(content)), foreign)).encode()
    assert verify(other, signer_of(foreign).public_key)
    with pytest.raises(NotProven, match="not by the key that was given"):
        verify(other, signer_of(KEYS).public_key)


async def example(billing: BillingWorld, base: datetime, timelines: list[Timeline], seed: int) -> None:
    files = await lived(billing, base, timelines)
    proofs = [verify(content) for content in files.values()]
    assert sum(each.charges for each in proofs) <= await billing.value("SELECT count(*) FROM usage_charges")
    for content in list(files.values())[:2]:
        refuted(content, seed)


@settings(ONE_DATABASE, max_examples=4)
@given(base=st.sampled_from(BASES), timelines=st.lists(TIMELINES, min_size=1, max_size=4), seed=st.integers(0, 10**6))
def test_every_bill_is_proven_by_its_file_and_no_changed_one_is(
    database: Scratch, base: datetime, timelines: list[Timeline], seed: int
) -> None:
    forgotten = "TRUNCATE invoices, invoice_counters, payments CASCADE"
    anew(database, lambda billing: example(billing, base, timelines, seed), forgotten)


@given(st.lists(st.text(max_size=3), min_size=1, max_size=70))
@settings(max_examples=40)
def test_both_sides_make_the_same_tree(texts: list[str]) -> None:
    """The service's tree and the script's, which share no code, are one: every leaf is found on its path."""
    hashes = [leaf(text) for text in texts]
    root = root_of(hashes)
    assert root == verify_bill._root([verify_bill._leaf(text) for text in texts])
    for place, hashed in enumerate(hashes):
        assert verify_bill._climb(hashed, place, len(hashes), path_to(hashes, place)) == root


def test_the_script_accepts_the_signatures_of_openssl_and_none_with_a_bit_changed() -> None:
    signer = signer_of(KEYS)
    public = b64decode(signer.public_key)
    for message in ("", "r", "ipucloud-month/1"):
        signature = b64decode(signer.sign(message))
        assert verify_bill._is_signed(public, message.encode(), signature)
        for bit in (0, 100, 300, 511):
            changed = bytearray(signature)
            changed[bit // 8] ^= 1 << bit % 8
            assert not verify_bill._is_signed(public, message.encode(), bytes(changed))


def test_the_script_needs_nothing_but_python(tmp_path: Path) -> None:
    script = tmp_path / "verify_bill.py"
    script.write_bytes(Path(verify_bill.__file__).read_bytes())
    (tmp_path / "bad.proof").write_text("{}")
    command = [sys.executable, "-I", "-S", str(script), str(tmp_path / "bad.proof")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr.split(".")[0]) == (1, "NOT PROVEN")


def test_a_worker_killed_while_it_signs_leaves_nothing_and_the_next_signs(database: Scratch) -> None:
    async def prepare(billing: BillingWorld) -> None:
        await billing.execute("SELECT open_billing_month('2026-04-01')")
        billing.now(at("2026-05-02T01:00:00"))
        await billing.execute("SELECT seal_billing_month('2026-04-01')")

    async def sign(db: Database) -> None:
        await sign_months(db, KEYS)

    async def finish(billing: BillingWorld) -> None:
        assert await billing.rows("SELECT month FROM month_proofs") == []
        signed = await asyncio.gather(*(sign_months(billing.database, KEYS) for _ in range(3)))
        assert sum(len(each) for each in signed) == 1, "once, however many workers"

    asyncio.run(in_billing_world(database, prepare))
    assert killed_at(database, "proofs.before_commit", 1, sign)
    asyncio.run(in_billing_world(database, finish))
