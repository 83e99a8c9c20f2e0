"""Proves that an invoice follows from what was used and what it cost, and that neither was changed since.

It needs the file of an invoice's proof and Python, nothing else: no service, no network, no package. Copy it and run
`python verify_bill.py INV-2026-000001.proof`. It shares no code with the service that makes the file.

What it proves: the month's signature is of the named key; the facts and charges in the file are those that were signed
when the month was sealed, all of them and no others; every charge is what its usage interval and its price come to,
minute by minute; and the invoice's lines, tax and total are what the charges come to. Who owns the key, the reader must
know from elsewhere: `--key`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from collections import defaultdict
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from pathlib import Path
from typing import Any, NamedTuple

FORMAT = "ipucloud-invoice-proof/1"
_DIGITS = 100
_NO_PLACES = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
_THREE_PLACES = "BHD IQD JOD KWD LYD OMR TND"


class NotProven(Exception):
    """What does not hold, as a sentence."""


class Proven(NamedTuple):
    """What a file proves."""

    number: str
    month: str
    total: str
    charges: int
    keys: list[str]


class _Interval(NamedTuple):
    """`quantity` machines of a cluster were in use in [start, end), `credited` of them for nothing."""

    cluster: str
    project: str
    sku: str
    region: str
    quantity: int
    credited: int
    anchor: int
    start: int
    end: int


class _Price(NamedTuple):
    contract: bool
    sku: str
    region: str
    unit_price: Decimal
    start: int
    end: int | None


class _Charge(NamedTuple):
    hour: int
    cluster: str
    first_minute: int
    rev: int
    project: str
    interval: str
    price: str
    start: int
    end: int
    minutes: int
    quantity: int
    credited: int
    sku: str
    region: str
    unit_price: Decimal
    cost: Decimal


def verify(content: bytes, key: str | None = None) -> Proven:
    """Check the file of a proof. `key`: the public key that must have signed it. Raises NotProven."""
    try:
        file = json.loads(content)
        if file["format"] != FORMAT:
            raise NotProven(f"The file has another format than {FORMAT}.")
        with localcontext() as context:
            context.prec = _DIGITS
            return _verified(file, key)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, InvalidOperation) as error:
        raise NotProven(f"The file is not a proof of an invoice, or a part of it is missing: {error!r}.") from None


def _verified(file: dict[str, Any], key: str | None) -> Proven:
    month, bill = file["month"], file["bill"]
    leaves = [*file["facts"], *file["charges"]]
    root = _root([_leaf(each) for each in leaves])
    statement = "|".join(["bill", month["month"], bill["account"], bill["currency"], root.hex(), str(len(leaves))])
    whole = _climb(_leaf(statement), int(bill["place"]), int(month["bills"]), [bytes.fromhex(e) for e in bill["path"]])
    _require(whole.hex() == month["root"], "The facts or charges are not those that were signed for the month.")
    signed = f"ipucloud-month-proof/1|{month['month']}|{month['root']}|{month['bills']}"
    _require_signature(month, signed, "the month")
    invoice = json.loads(file["invoice"]["document"])
    digest = hashlib.sha256(file["invoice"]["document"].encode()).hexdigest()
    _require_signature(file["invoice"], f"ipucloud-invoice/1|{invoice['number']}|{digest}", "the invoice")
    _require(invoice["customer"]["account_id"] == bill["account"], "The invoice is of another account.")
    _require(invoice["currency"] == bill["currency"], "The invoice is in another currency.")
    _require(invoice["period"]["since"][:7] == month["month"], "The invoice is of another month.")
    keys = sorted({month["public_key"], file["invoice"]["public_key"]})
    _require(key is None or keys == [key], f"It is signed by {' and '.join(keys)}, not by the key that was given.")
    intervals, prices = _facts(file["facts"])
    charges = [_charge(each) for each in file["charges"]]
    _check_charges(charges, intervals, prices, month["month"])
    _check_invoice(invoice, charges)
    shown = invoice["total"]
    return Proven(invoice["number"], month["month"], f"{shown['amount']} {shown['currency']}", len(charges), keys)


def _facts(texts: list[str]) -> tuple[dict[str, _Interval], dict[str, _Price]]:
    intervals, prices = {}, {}
    for text in texts:
        kind, fact, *rest = text.split("|")
        if kind == "interval":
            project, cluster, _flavor, sku, region, quantity, credited, *times = rest
            anchor, start, end = map(int, times)
            interval = _Interval(cluster, project, sku, region, int(quantity), int(credited), anchor, start, end)
            _require(fact not in intervals, f"The usage interval {fact} is there twice.")
            intervals[fact] = interval
        elif kind == "price":
            of, sku, region, unit_price, since, until = rest
            _require(fact not in prices, f"The price {fact} is there twice.")
            prices[fact] = _Price(
                of == "contract", sku, region, Decimal(unit_price), int(since), None if until == "-" else int(until)
            )
        else:
            raise NotProven(f"A fact is neither a usage interval nor a price: {kind}.")
    return intervals, prices


def _charge(text: str) -> _Charge:
    kind, hour, cluster, first, rev, project, interval, price, start, end, minutes, quantity, credited, *rest = (
        text.split("|")
    )
    sku, region, unit_price, cost = rest
    _require(kind == "charge", f"A charge is called {kind}.")
    return _Charge(
        *(int(hour), cluster, int(first), int(rev), project, interval, price, int(start), int(end), int(minutes)),
        *(int(quantity), int(credited), sku, region, Decimal(unit_price), Decimal(cost)),
    )


def _check_charges(
    charges: list[_Charge], intervals: dict[str, _Interval], prices: dict[str, _Price], month: str
) -> None:
    """Every charge is of its interval; of the month itself, each hour's minutes are at the prices in force."""
    identities = set()
    charged: dict[tuple[str, int], dict[Decimal, int]] = defaultdict(lambda: defaultdict(int))
    for charge in charges:
        name = f"{_time(charge.hour)} of cluster {charge.cluster}, minute {charge.first_minute}, revision {charge.rev}"
        identity = charge.hour, charge.cluster, charge.first_minute, charge.rev
        _require(identity not in identities, f"The charge {name} is there twice.")
        identities.add(identity)
        used = intervals.get(charge.interval)
        if used is None:
            raise NotProven(f"The charge {name} has no usage interval.")
        stated = (charge.cluster, charge.project, charge.sku, charge.region, charge.quantity, charge.credited)
        recorded = (used.cluster, used.project, used.sku, used.region, used.quantity - used.credited, used.credited)
        _require(stated == recorded, f"The charge {name} is not of its usage interval.")
        exact = charge.minutes * charge.quantity * charge.unit_price
        _require(charge.cost == exact, f"The charge {name} costs {charge.cost}; its minutes come to {exact}.")
        _require(
            charge.hour <= charge.start < charge.end <= charge.hour + 3600, f"The charge {name} is not within its hour."
        )
        _require(
            charge.rev > 0 or used.start <= charge.start < charge.end <= used.end,
            f"The charge {name} is not within its usage interval.",
        )
        _require(
            charge.rev > 0 or charge.minutes == _minutes(used.anchor, charge.start, charge.end),
            f"The charge {name} has {charge.minutes} minutes, which is not how many begin in its time.",
        )
        charged[charge.interval, charge.hour][charge.unit_price] += charge.minutes
    for (interval, hour), minutes in charged.items():
        if _time(hour)[:7] == month:
            counts = {price: count for price, count in minutes.items() if count}
            expected = _counted(intervals[interval], hour, prices)
            # An hour that was taken back as a whole is charged to another account.
            _require(
                counts in (expected, {}),
                f"{_time(hour)}, usage interval {interval}: {_shown(counts)} are charged;"
                f" used were {_shown(expected)}.",
            )


def _counted(used: _Interval, hour: int, prices: dict[str, _Price]) -> dict[Decimal, int]:
    """The minutes that begin in the hour, one after the other, by the price in force when each begins."""
    counts: dict[Decimal, int] = defaultdict(int)
    since, until = max(used.start, hour), min(used.end, hour + 3600)
    minute = used.anchor + -(-(since - used.anchor) // 60) * 60
    versions = [each for each in prices.values() if (each.sku, each.region) == (used.sku, used.region)]
    while minute < until:
        valid = [each for each in versions if each.start <= minute and (each.end is None or minute < each.end)]
        of_contract = [each for each in valid if each.contract]
        in_force = of_contract or valid
        _require(len(in_force) <= 1, f"Several prices are in force at {_time(minute)}.")
        if in_force:
            counts[in_force[0].unit_price] += 1
        minute += 60
    return dict(counts)


def _check_invoice(invoice: dict[str, Any], charges: list[_Charge]) -> None:
    """The invoice is the sum of the charges: line by line, then rounding, credit, tax and total."""
    sign = -1 if invoice["kind"] == "credit_note" else 1
    places = _places(invoice["currency"])
    subtotals: dict[Decimal, Decimal] = defaultdict(Decimal)
    for line, of in zip(invoice["lines"], _by_line(invoice["lines"], charges), strict=True):
        name, cost = f"Line {line['line']}", sum((each.cost for each in of), Decimal(0))
        sums = (
            sum(each.minutes for each in of),
            sum(each.minutes * each.quantity for each in of),
            sum(each.minutes * each.credited for each in of),
        )
        stated = (line["minutes"], line["machine_minutes"], line.get("credited_machine_minutes", 0))
        _require(
            tuple(sign * each for each in stated) == sums,
            f"{name} has {stated[1]} machine-minutes; its charges have {sign * sums[1]}.",
        )
        _require(_amount(line["cost"]) * sign == cost, f"{name} costs {line['cost']['amount']}; its charges {cost}.")
        _require(_amount(line["amount"]) * sign == _rounded(cost, places), f"{name} is not rounded as it must be.")
        subtotals[Decimal(line["tax_rate"])] += _amount(line["amount"])
    _check_totals(invoice, subtotals, places)


def _by_line(lines: list[dict[str, Any]], charges: list[_Charge]) -> list[list[_Charge]]:
    """The charges of each line; every charge is on exactly one."""
    by_key: dict[object, list[int]] = defaultdict(list)
    for place, each in enumerate(lines):
        article = each["project_id"], each["sku"], each["region"], each["price_id"]
        by_key[article, _amount(each["unit_price"]), each["usage_month"]].append(place)
    charges_by_line: list[list[_Charge]] = [[] for _ in lines]
    for charge in charges:
        day, article = _time(charge.hour)[:10], (charge.project, charge.sku, charge.region, charge.price)
        of = [each for each in by_key.get((article, charge.unit_price, day[:7]), ()) if _holds(lines[each], day)]
        _require(len(of) == 1, f"A charge of {_time(charge.hour)}, cluster {charge.cluster}, is on {len(of)} lines.")
        charges_by_line[of[0]].append(charge)
    return charges_by_line


def _check_totals(invoice: dict[str, Any], subtotals: dict[Decimal, Decimal], places: int) -> None:
    """`subtotals`: the sums of the lines' amounts by tax rate."""
    subtotal = sum(subtotals.values(), Decimal(0))
    cost = sum((_amount(each["cost"]) for each in invoice["lines"]), Decimal(0))
    promo, taxable = _amount(invoice["promo_applied"]), _amount(invoice["taxable"])
    _require(_amount(invoice["cost"]) == cost, "The invoice's cost is not that of its lines.")
    _require(_amount(invoice["subtotal"]) == subtotal, "The invoice's subtotal is not that of its lines.")
    _require(_amount(invoice["adjustment"]) == subtotal - cost, "The rounding is not that of the lines.")
    _require(taxable == subtotal - promo, "What is taxed is not the subtotal less the credit.")
    parts = [(Decimal(each["rate"]), _amount(each["taxable"]), _amount(each["tax"])) for each in invoice["taxes"]]
    _require(sum((part for _, part, _ in parts), Decimal(0)) == taxable, "What is taxed is not the sum of its rates.")
    for rate, part, tax in parts:
        _require(promo != 0 or part == subtotals.get(rate), f"What is taxed at {rate} is not what its lines come to.")
        _require(tax == _rounded(part * rate, places), f"The tax at {rate} is not that of {part}.")
    tax = sum((tax for _, _, tax in parts), Decimal(0))
    _require(_amount(invoice["tax"]) == tax, "The tax is not the sum of its rates.")
    _require(_amount(invoice["total"]) == taxable + tax, "The total is not what is taxed and the tax.")


def _holds(line: dict[str, Any], day: str) -> bool:
    since, until = line.get("since"), line.get("until")
    return since is None or until is None or since <= day < until


def _amount(money: dict[str, str]) -> Decimal:
    return Decimal(money["amount"])


def _rounded(amount: Decimal, places: int) -> Decimal:
    return amount.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def _places(currency: str) -> int:
    """Decimal places of a currency by ISO 4217."""
    if currency in _NO_PLACES.split():
        return 0
    return 3 if currency in _THREE_PLACES.split() else 2


def _minutes(anchor: int, since: int, until: int) -> int:
    """How many of the minutes that begin at anchor + n x 60 s begin in [since, until)."""
    return max(0, -(-(until - anchor) // 60)) - max(0, -(-(since - anchor) // 60))


def _time(instant: int) -> str:
    return f"{datetime.fromtimestamp(instant, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _shown(minutes: dict[Decimal, int]) -> str:
    return ", ".join(f"{count} min at {price}" for price, count in sorted(minutes.items())) or "0 min"


def _require(holds: bool, sentence: str) -> None:
    if not holds:
        raise NotProven(sentence)


# The tree is that of RFC 6962: a leaf and a node never have the same hash.


def _leaf(text: str) -> bytes:
    return hashlib.sha256(b"\0" + text.encode()).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


def _root(leaves: list[bytes]) -> bytes:
    if not leaves:
        return hashlib.sha256().digest()
    level = leaves
    while len(level) > 1:  # a node without a sibling rises as it is
        level = [_node(*level[at : at + 2]) if at + 1 < len(level) else level[at] for at in range(0, len(level), 2)]
    return level[0]


def _climb(leaf: bytes, place: int, count: int, path: list[bytes]) -> bytes:
    """The root over `count` leaves of which this is the one at `place`, with the siblings on its way."""
    _require(0 <= place < count, "The bill's place in the month is none.")
    siblings, node = iter(path), leaf
    while count > 1:
        if place % 2:
            node = _node(next(siblings, b""), node)
        elif place + 1 < count:
            node = _node(node, next(siblings, b""))
        place, count = place // 2, (count + 1) // 2
    _require(next(siblings, None) is None, "The bill's way to the root of the month is too long.")
    return node


# Ed25519 as in RFC 8032; only checking, so nothing here is secret.

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_Point = tuple[int, int, int, int]


def _require_signature(signed: dict[str, str], statement: str, of: str) -> None:
    public, signature = (base64.b64decode(signed[name], validate=True) for name in ("public_key", "signature"))
    _require(_is_signed(public, statement.encode(), signature), f"The signature of {of} is not of its key.")


def _is_signed(public: bytes, message: bytes, signature: bytes) -> bool:
    if len(public) != 32 or len(signature) != 64:
        return False
    key, point = _point(public), _point(signature[:32])
    factor = int.from_bytes(signature[32:], "little")
    if key is None or point is None or factor >= _L:
        return False
    digest = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % _L
    left, right = _times(factor, _BASE), _sum(point, _times(digest, key))
    return (left[0] * right[2] - right[0] * left[2]) % _P == 0 and (left[1] * right[2] - right[1] * left[2]) % _P == 0


def _sum(a: _Point, b: _Point) -> _Point:
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % _P, (a[1] + a[0]) * (b[1] + b[0]) % _P
    g, h = 2 * a[3] * b[3] * _D % _P, 2 * a[2] * b[2] % _P
    return (f - e) * (h - g) % _P, (h + g) * (f + e) % _P, (h - g) * (h + g) % _P, (f - e) * (f + e) % _P


def _times(factor: int, point: _Point) -> _Point:
    product: _Point = (0, 1, 1, 0)
    while factor:
        if factor & 1:
            product = _sum(product, point)
        point, factor = _sum(point, point), factor >> 1
    return product


def _point(data: bytes) -> _Point | None:
    y = int.from_bytes(data, "little")
    odd, y = y >> 255, y & (1 << 255) - 1
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * pow(2, (_P - 1) // 4, _P) % _P
    if (x * x - square) % _P or (x == 0 and odd):
        return None
    x = _P - x if x & 1 != odd else x
    return x, y, 1, x * y % _P


_GENERATOR = _point((4 * pow(5, _P - 2, _P) % _P).to_bytes(32, "little"))
_BASE: _Point = _GENERATOR if _GENERATOR is not None else (0, 1, 1, 0)


def main(arguments: list[str]) -> int:
    """`verify_bill.py FILE [--key PUBLIC-KEY]`: 0 if it is proven, 1 if not, 2 if it is called wrongly."""
    if len(arguments) not in (1, 3) or (len(arguments) == 3 and arguments[1] != "--key"):
        sys.stderr.write("usage: verify_bill.py FILE [--key PUBLIC-KEY]\n")
        return 2
    try:
        proven = verify(Path(arguments[0]).read_bytes(), arguments[2] if len(arguments) == 3 else None)
    except OSError as error:
        sys.stderr.write(f"{arguments[0]}: {error.strerror}\n")
        return 2
    except NotProven as error:
        sys.stderr.write(f"NOT PROVEN. {error}\n")
        return 1
    sys.stdout.write(f"{proven.number} of {proven.month}, {proven.total}, follows from its {proven.charges} charges.\n")
    sys.stdout.write(f"Signed by {' and '.join(proven.keys)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
