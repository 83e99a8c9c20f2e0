"""Every call to a site meets every fault of the wire and of the site: what the caller concludes is never too much.

The real clients speak through a fault proxy to the simulated site, and the site says what it saw and what it did.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, get_type_hints

import httpx
import pytest

from ipucloud.site.connect import SiteClients
from ipucloud.site.ports import Site, SiteBusy, SiteRefused, SiteUnknown
from ipucloud.wire.faults import FaultAction, FaultRule
from tests.proof.site_calls import CASES, CallCase
from tests.proof.site_faults import FAULTS, Conclusion, SiteFault
from tests.proof.site_resources import Resource, Supply
from tests.support.faultproxy import CALM, Proxy, proxy
from tests.support.plain import NOBODY
from tests.support.selection import Figures
from tests.support.site import RunningSite, address_of, endpoint_of
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.anyio

SHORT_SECONDS = 3.0
"""Of a call that gets no answer: long enough for its request to arrive on a busy machine."""
SSH_SECONDS = 0.4
"""Whatever becomes of a connection in this time or later, the outcome is the same."""
CALL_SECONDS = 30.0
MACHINES = 2048
SITE = {"machines": MACHINES, "options": ["--machines-on"]}
HTTP2_EXTRA_BYTES = 30
"""A gRPC server may send a ping and a window update behind an answer."""


class Lane:
    """One call, tried fault after fault, by a line of its own."""

    def __init__(self, site: RunningSite, case: CallCase, line: Proxy, supply: Supply) -> None:
        self._running = site
        self.case = case
        self.line = line
        self._supply = supply
        self._vipu = endpoint_of(supply.region)
        self._rules = httpx.AsyncClient(
            base_url=site.url, headers={"Authorization": f"Bearer {site.token}"}, timeout=PATIENCE, verify=NOBODY
        )
        self._direct = site.clients(call_timeout=PATIENCE)
        self.direct = self._direct.at(address_of(supply.region), lambda: PATIENCE)

    async def close(self) -> None:
        await self._direct.close()
        await self._rules.aclose()

    @asynccontextmanager
    async def clients(self, seconds: float) -> AsyncIterator[tuple[SiteClients, Site]]:
        """Fresh clients that reach the call's service by the line, and everything else directly."""
        by_line, transport = ("127.0.0.1", self.line.port), self.case.transport
        url = f"http://{by_line[0]}:{by_line[1]}" if transport == "http" else self._running.url
        sites = self._running.clients(url=url, call_timeout=seconds)
        address = address_of(self._supply.region)
        if transport == "vipu":
            address = address._replace(admin_port=self.line.port)
        try:
            yield sites, sites.at(address, lambda: seconds)
        finally:
            await sites.close()

    async def resource(self) -> Resource:
        """Hardware as the case wants it, other hardware where a call that prepares it was not answered."""
        while True:
            resource = self._supply.resource()
            with suppress(SiteUnknown):
                await self.case.prepare(self.direct, resource)
                return resource

    async def rule(self, resource: Resource, action: FaultAction, **values: Any) -> str:
        rule = FaultRule(call=self.case.call, target=self.case.target(resource), action=action, **values)
        answer = await self._rules.post("/v1/faults", json=rule.model_dump(mode="json"))
        rule_id: str = answer.raise_for_status().json()["id"]
        return rule_id

    async def lift(self, *rules: str) -> None:
        for rule in rules:
            await self._rules.delete("/v1/faults", params={"id": rule})

    async def hits(self, rule: str) -> int:
        """How often a call met the rule."""
        faults = (await self._rules.get("/v1/faults")).raise_for_status().json()["faults"]
        return next(int(each["hits"]) for each in faults if each["id"] == rule)

    async def warm(self, site: Site) -> None:
        """Use the line once, so that a connection stands."""
        match self.case.transport:
            case "http":
                await site.machines.get(self._supply.region.pods[0].machines[0].name)
            case "vipu":
                await site.vipu.allocation("nobody")

    async def answer_bytes(self) -> int:
        """The bytes of the call's answer on a connection in use; the least of a few."""
        sizes = []
        for _ in range(2):
            async with self.clients(CALL_SECONDS) as (sites, site):
                await self.warm(site)
                resource, before = await self.resource(), self.line.down_bytes
                await self.case.make(sites, site, resource)
                sizes.append(self.line.down_bytes - before)
        return min(sizes) - (0 if self.case.transport == "http" else HTTP2_EXTRA_BYTES)


@contextmanager
def lane(running: RunningSite, case: CallCase, supply: Supply) -> Iterator[Lane]:
    vipu = endpoint_of(supply.region)
    port = {"http": httpx.URL(running.url).port, "vipu": vipu.admin_port}[case.transport]
    assert port is not None
    with proxy((vipu.host if case.transport != "http" else "127.0.0.1", port)) as line:
        yield Lane(running, case, line, supply)


async def outcome(answer: Any) -> str:
    """The class of what a call ends in. `no end`: its own time-out did not end it."""
    try:
        async with asyncio.timeout(PATIENCE):
            result = await answer
    except SiteBusy:
        return "busy"
    except SiteUnknown:
        return "unknown"
    except SiteRefused:
        return "refused"
    except TimeoutError:
        return "no end"
    if result is None:
        return "None"
    return "empty" if result == [] else "ok"


def expected(case: CallCase, conclusion: Conclusion) -> set[str]:
    match conclusion:
        case "answer":
            return {"ok", "None", "empty"}
        case "missing":
            return {"ok", "None"} if case.missing == "ok" else {case.missing}
        case "not done":
            return {"busy", "unknown"}
        case "made":
            making = case.transport != "http" and case.makes is True
            return {"ok", "None"} if making else {"unknown"}
        case _:
            return {conclusion}


async def meet(lane: Lane, fault: SiteFault, answer_bytes: int) -> list[str]:
    """One call meets one fault; what was not as it should be."""
    case, resource = lane.case, await lane.resource()
    rules = [await lane.rule(resource, FaultAction.LATENCY)]  # of no seconds: it counts
    if fault.rule is not None:
        rule = fault.rule
        rules.append(await lane.rule(resource, rule.action, status=rule.status, grpc_status=rule.grpc_status))
    async with lane.clients(SHORT_SECONDS if fault.short else CALL_SECONDS) as (sites, site):
        if fault.newcomer is None:
            async with asyncio.timeout(PATIENCE):
                while await outcome(lane.warm(site)) in {"unknown", "busy"}:  # a slow machine, and a short time-out
                    pass
        fault.apply(lane.line, answer_bytes)
        actual = await outcome(case.make(sites, site, resource))
        lane.line.repair()
        if fault.newcomer == "refused":
            lane.line.listen()
    allowed = expected(case, fault.http if case.transport == "http" else fault.grpc)
    if fault.all_but is not None and case.transport != "http":
        allowed |= expected(case, "answer")  # frames of the connection's own may have moved the answer's last byte
    wrong = [] if actual in allowed else [f"ended as {actual}, not {sorted(allowed)}"]
    hits = await lane.hits(rules[0])
    if hits == 0 and actual == "unknown" and case.transport != "http" and fault.down is not CALM:
        # A frame of the connection's own (a settings or ping acknowledgement) met the fault before the request left.
        await lane.lift(*rules)
        return wrong
    if hits != fault.arrives:
        wrong.append(f"the site saw {hits} requests, not {fault.arrives}")
    await lane.lift(*rules)
    if case.observe is not None and case.makes is not None:
        there = await case.observe(lane.direct, resource)
        if there is not (case.makes is fault.effect):
            wrong.append(f"the object is {'' if there else 'not '}there")
    return [f"{case.name} × {fault.name}: {what}" for what in wrong]


def met(place: int, *, full: bool) -> list[SiteFault]:
    """The faults that a call meets: all of them in the full proof, else every third, each call others than the next."""
    return [fault for number, fault in enumerate(FAULTS) if full or number == 0 or (number + place) % 3 == 0]


async def test_every_call_meets_every_fault(site: RunningSite, full: bool, figures: Figures) -> None:
    supply = Supply(site.inventory())
    counted: Counter[str] = Counter()

    async def try_all(case: CallCase, turns: asyncio.Semaphore) -> list[str]:
        wrong = []
        async with turns:
            with lane(site, case, supply) as tried:
                answer_bytes = await tried.answer_bytes()
                for fault in met(CASES.index(case), full=full):
                    wrong += await meet(tried, fault, answer_bytes)
                    counted["cases"] += 1
                await tried.close()
        return wrong

    turns = asyncio.Semaphore(8)
    results = await asyncio.gather(*(try_all(case, turns) for case in CASES))
    figures(calls=len(CASES), faults=len(FAULTS), **counted)
    assert "\n".join(line for lines in results for line in lines) == ""


def test_no_call_was_forgotten() -> None:
    """A method added to a port without a case here is found. `machines.list` is several requests, one for each page."""
    methods = {
        f"{name}.{method}"
        for name, port in get_type_hints(Site).items()
        for method in vars(port)
        if not method.startswith("_") and callable(getattr(port, method))
    }
    assert methods == {case.name for case in CASES} - {"inventory"} | {"hosts.ssh_host_key", "machines.list"}


@pytest.mark.parametrize("case", [case for case in CASES if case.makes is not None], ids=lambda case: case.name)
async def test_a_request_delivered_twice_has_one_effect(site: RunningSite, case: CallCase) -> None:
    """The line repeats the bytes of HTTP. What is sent over TLS nobody can repeat: the controller itself acts twice."""
    supply = Supply(site.inventory())
    with lane(site, case, supply) as tried:
        resource = Resource(f"twice-{case.name.replace('.', '-').replace('_', '-')}", *_own(supply, CASES.index(case)))
        await case.prepare(tried.direct, resource)
        action = FaultAction.LATENCY if case.transport == "http" else FaultAction.DUPLICATE
        rule = await tried.rule(resource, action)
        async with tried.clients(CALL_SECONDS) as (sites, client):
            assert await outcome(case.make(sites, client, resource)) in {"ok", "None"}
            if action is FaultAction.LATENCY:
                await asyncio.to_thread(tried.line.repeat)
                async with asyncio.timeout(PATIENCE):
                    while await tried.hits(rule) < 2:
                        await asyncio.sleep(0.01)
        await tried.lift(rule)
        assert case.observe is not None
        assert await case.observe(tried.direct, resource) is case.makes
        if case.name == "vipu.create_partition":
            assert await tried.direct.vipu.list_partitions(resource.name) == [resource.name]
        await tried.close()


def _own(supply: Supply, index: int) -> tuple[str, str, str]:
    """Hardware from the far end, where the matrix does not come."""
    region = supply.region
    machines = [(machine.name, pod.cluster_id or "") for pod in region.pods for machine in pod.machines]
    return (*machines[-1 - index], region.hosts[-1 - index].name)


async def test_ssh_is_asked_within_its_time(site: RunningSite) -> None:
    """The one call that is no request: whatever is wrong with the line, it is 'nothing answers', in bounded time."""
    supply = Supply(site.inventory())
    with proxy(("127.0.0.1", 9)) as line:  # nobody listens behind it
        sites = site.clients(call_timeout=SSH_SECONDS)
        address = address_of(supply.region)._replace(admin_port=1)
        hosts = sites.at(address, lambda: SSH_SECONDS).hosts
        assert await outcome(hosts.ssh_host_key("127.0.0.1", line.port)) == "None"
        line.upstream = ("127.0.0.1", int(httpx.URL(site.url).port or 0))  # something that is no SSH server
        assert await outcome(hosts.ssh_host_key("127.0.0.1", line.port)) == "None"
        for fault in FAULTS:
            if fault.rule is None and fault.name != "calm":
                fault.apply(line, 1)
                assert await outcome(hosts.ssh_host_key("127.0.0.1", line.port)) == "None", fault.name
                line.repair()
                if fault.newcomer == "refused":
                    line.listen()
        await sites.close()
