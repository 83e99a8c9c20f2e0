"""A customer's workflow, from the first token to the bill, with a check at each step."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import secrets
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ipucloud.cli import ssh as openssh
from ipucloud.cli.service.failures import CommandError
from ipucloud.client.models import Cluster
from ipucloud.laboratory.demo.customer import Customer
from ipucloud.laboratory.demo.logins import Login, login, make_key
from ipucloud.laboratory.keeper.finishing import Refused

REGION = "luxembourg-2"
FLAVOR = "m2000-pod16"
IPUS = 16
NAME = "demo"
RECIPE = "digits"
POLL_SECONDS = 0.2

_DIGEST = "import hashlib; print(hashlib.sha256(open('data.bin', 'rb').read()).hexdigest())"
_EPOCHS = "4000"
"""For so long that it is seen while it runs."""
_LOSS = re.compile(r"^epoch \d+: loss ([0-9.]+)", re.MULTILINE)
_IPU = re.compile(r"IPU-M host: \[([^\]]+)\], IPU#: \[(\d+)\]")


@dataclass(frozen=True)
class Check:
    """A condition, whether it was met, and the observation."""

    what: str
    ok: bool
    seen: str


class CheckFailed(CommandError):
    """The remaining checks are meaningless."""


@dataclass
class Report:
    """The checks in order."""

    checks: list[Check] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return bool(self.checks) and all(check.ok for check in self.checks)

    def check(self, what: str, ok: bool, seen: object) -> None:
        """Record an observation. Raises CheckFailed if the condition was not met."""
        self.checks.append(Check(what, ok, str(seen)))
        if not ok:
            raise CheckFailed(what)

    def rows(self) -> Iterator[Sequence[object]]:
        return (("ok" if check.ok else "FAILED", check.what, check.seen) for check in self.checks)

    def sentence(self) -> str:
        failed = [check.what for check in self.checks if not check.ok]
        if failed:
            return f"Failed: {'; '.join(failed)}."
        return f"All {len(self.checks)} checks passed in {self.seconds:g} seconds."

    def document(self) -> dict[str, object]:
        return {"ok": self.ok, "seconds": self.seconds, "checks": [vars(check) for check in self.checks]}


async def journey(customer: Customer) -> Report:
    """Run all checks; a failed check or a refused command is the last one of the report."""
    report = Report()
    try:
        await _introduce(customer, report)
        before = await _capacity(customer)
        cluster = await _create(customer, report, before)
        await _work(customer, report, cluster)
        await _pay(customer, report)
        await _delete(customer, report, cluster, before)
    except CheckFailed:
        pass
    except CommandError as error:
        report.checks.append(Check("every command is accepted", False, str(error)))
    return report


async def _introduce(customer: Customer, report: Report) -> None:
    """Create a token and an SSH key."""
    token = await customer.asks("tokens", "create", "demo", "--role", "operator")
    customer.token = token["token"]
    me = await customer.asks("whoami")
    report.check("a new token has its role", me["role"] == "operator", f"{token['display_prefix']}…, {me['role']}")
    public = make_key(customer.folder / "key")
    key = await customer.asks("ssh-keys", "create", "laptop", str(public))
    listed = await customer.asks("ssh-keys", "list")
    report.check("an SSH key is registered", [each["name"] for each in listed] == ["laptop"], key["fingerprint"])


async def _capacity(customer: Customer) -> Any:
    return await customer.asks("regions", "capacity", REGION)


async def _create(customer: Customer, report: Report, before: Any) -> Cluster:
    estimate = await customer.asks("clusters", "estimate", "--flavor", FLAVOR, "--region", REGION)
    price = estimate["price_per_minute"]
    report.check("quota and capacity suffice for a POD16", estimate["quota"]["allowed"], f"{_money(price)} per minute")
    response = await customer.asks("clusters", "create", NAME, "--flavor", FLAVOR, "--region", REGION)
    cluster = Cluster.model_validate(response["cluster"])
    if cluster.ready_at is None:
        report.check("the cluster becomes active", False, cluster.state)
        raise AssertionError("the check above raises")
    seconds = (cluster.ready_at - cluster.created_at).total_seconds()
    report.check("the cluster becomes active", cluster.state == "active", f"{cluster.name}, after {seconds:.1f} s")
    during = await _capacity(customer)
    report.check("its machines are taken", during != before, f"room for {_room(during)} more, of {_room(before)}")
    return cluster


async def _work(customer: Customer, report: Report, cluster: Cluster) -> None:
    """Log in, count the IPUs, carry a file there and back."""
    key = customer.folder / "key"
    server = _login(customer, cluster, "key")
    listing = await _gc_info(customer, server)
    ipus = len(set(_IPU.findall(listing)))
    report.check(f"gc-info on the Poplar server shows {IPUS} IPUs", ipus == IPUS, f"{ipus} IPUs")
    sent, back = key.with_name("sent"), key.with_name("back")
    sent.write_bytes(secrets.token_bytes(100_000))
    await server.put(sent, "data.bin")
    await server.get("data.bin", back)
    report.check(
        "a file copied there and back is unchanged", back.read_bytes() == sent.read_bytes(), "100,000 bytes by SFTP"
    )
    digest = hashlib.sha256(sent.read_bytes()).hexdigest()
    remote_digest = (await server.run(f"python3 -c {shlex.quote(_DIGEST)}")).strip()
    report.check("a Python program on the server reads it", remote_digest == digest, remote_digest)
    await _train(customer, report, server)
    make_key(customer.folder / "stranger")
    refusal = await _refusal(_login(customer, cluster, "stranger"))
    report.check(
        "a key that was not registered is refused", "permission denied" in refusal.casefold(), refusal or "accepted"
    )


async def _train(customer: Customer, report: Report, server: Login) -> None:
    """Run a recipe of the model garden, and see its IPUs in use meanwhile."""
    key, model = str(customer.folder / "key"), customer.folder / "results" / "model.json"
    fetched = ("--get", f"results:{customer.folder}") if openssh.installed() else ()
    training = asyncio.create_task(
        customer.types("recipes", "run", RECIPE, "--cluster", NAME, "-i", key, "--env", f"EPOCHS={_EPOCHS}", *fetched)
    )
    used = False
    while not used and not training.done():
        used = bool(json.loads(await server.run("gc-monitor --json"))["processes"])
        await asyncio.wait([training], timeout=POLL_SECONDS)
    losses = [float(loss) for loss in _LOSS.findall(await training)]
    report.check(f"gc-monitor shows the IPUs in use while the recipe {RECIPE} runs", used, "in use" if used else "idle")
    if not fetched:
        model.parent.mkdir()
        recipe = await customer.asks("recipes", "show", RECIPE)
        await server.get(f"{recipe['working_directory'] or '.'}/results/model.json", model)
    accuracy = json.loads(model.read_text())["accuracy"]
    falls = len(losses) > 1 and losses[-1] < losses[0] / 2
    report.check("its loss falls", falls, " to ".join(f"{loss:g}" for loss in losses[:: len(losses) - 1 or 1]))
    report.check("its results are fetched", accuracy > 0.5, f"accuracy {accuracy:.3f}")


async def _pay(customer: Customer, report: Report) -> None:
    usage = await customer.asks("usage", NAME)
    cluster = await customer.asks("clusters", "show", NAME)
    price = Decimal(cluster["price_per_minute"]["amount"])
    cost = Decimal(usage["cost"]["amount"])
    right = usage["minutes"] >= 1 and cost == usage["minutes"] * price
    report.check(
        "the minutes since it became ready are billed", right, f"{usage['minutes']} min, {_money(usage['cost'])}"
    )


async def _delete(customer: Customer, report: Report, cluster: Cluster, before: Any) -> None:
    gone = await customer.asks("clusters", "delete", NAME, "--yes")
    report.check("the cluster is deleted", gone["cluster"]["state"] == "deleted", gone["cluster"]["state"])
    billing = gone["cluster"]["billing"]
    report.check(
        "billing has ended", billing["status"] == "ended", f"{billing['minutes']} min, {_money(billing['cost'])}"
    )
    refusal = await _refusal(_login(customer, cluster, "key"))
    report.check("its server is gone", bool(refusal), refusal or "accepted")
    after = await _capacity(customer)
    report.check("the capacity is as before", after == before, f"room for {_room(after)}, of {_room(before)}")


def _login(customer: Customer, cluster: Cluster, key: str) -> Login:
    server, address = openssh.reachable(cluster, 0)
    return login(server, address, customer.folder / key, customer.folder)


async def _gc_info(customer: Customer, server: Login) -> str:
    if openssh.installed():
        key = str(customer.folder / "key")
        return await customer.types("clusters", "ssh", NAME, "--identity", key, "--", "gc-info", "-l")
    return await server.run("gc-info -l")


async def _refusal(server: Login) -> str:
    """How the server refuses a login; empty when it does not."""
    try:
        await server.run("true")
    except Refused as error:
        return error.reason
    return ""


def _room(capacity: Any) -> int:
    return next(int(each["available"]) for each in capacity if each["flavor"] == FLAVOR)


def _money(money: Any) -> str:
    return f"{money['amount']} {money['currency']}"
