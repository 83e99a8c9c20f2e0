"""What the site tells Prometheus: each controller as a whole, and each machine by itself.

| path | answer |
|---|---|
| `/metrics` | every controller: agents, allocations, partitions by state, calls |
| `/machines/{machine}/metrics` | one machine: its links, IPUs, power, temperatures, errors and partitions |
| `/machines` | all machines as targets of Prometheus's HTTP service discovery |

A real controller tells of itself on port 2113, a machine on its own port 2112. Here one port serves both, so that a
site of many machines is read in small pieces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ipucloud.laboratory.simulator.hardware import IPUS_PER_MACHINE, Machine
from ipucloud.laboratory.simulator.http.calls import problem
from ipucloud.laboratory.simulator.refusal import Refusal, not_found
from ipucloud.laboratory.simulator.sensors import correctable_errors, sensors_of
from ipucloud.laboratory.simulator.site import Site
from ipucloud.laboratory.simulator.vipu.attributes import machine_health
from ipucloud.laboratory.simulator.vipu.controller import Controller
from ipucloud.laboratory.simulator.vipu.links import link_name
from ipucloud.laboratory.simulator.vipu.model import Operation, Ready
from ipucloud.process.logs import LostLines
from ipucloud.wire.site import LinkKind, LinkState

STATES = [(ready, operation) for ready in Ready for operation in Operation]


class ControllerMetrics(Collector):
    """Every controller of the site."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def collect(self) -> Iterator[Metric]:
        agents = GaugeMetricFamily("vipu_agents", "Agents by whether they answer.", labels=["region", "reachable"])
        clusters = GaugeMetricFamily("vipu_clusters", "Clusters.", labels=["region"])
        allocations = GaugeMetricFamily("vipu_allocations", "Allocations.", labels=["region"])
        partitions = GaugeMetricFamily(
            "vipu_partitions", "Partitions by their two states.", labels=["region", "ready_state", "operation_state"]
        )
        calls = CounterMetricFamily("vipu_calls", "Calls by method and status.", labels=["region", "call", "status"])
        for slug, controller in self._site.controllers.items():
            controller.settle()
            reachable = Counter(controller.reachable(agent.name) for agent in controller.agents())
            for answer in (True, False):
                agents.add_metric([slug, str(answer).lower()], reachable[answer])
            clusters.add_metric([slug], len(controller.clusters.all()))
            allocations.add_metric([slug], len(controller.allocations.all()))
            states = Counter((found.ready, found.operation) for found in controller.partitions.all())
            for state in STATES:
                partitions.add_metric([slug, *state], states[state])
            for (call, status), number in sorted(controller.calls.items()):
                calls.add_metric([slug, call, status], number)
        return iter([agents, clusters, allocations, partitions, calls])


class MachineMetrics(Collector):
    """One machine under V-IPU."""

    def __init__(self, site: Site, machine: Machine) -> None:
        self._site = site
        self._machine = machine
        self._controller: Controller = site.controllers[machine.region.slug]

    def collect(self) -> Iterator[Metric]:
        self._controller.settle()
        yield self._up()
        yield self._links()
        yield from self._sensors()
        yield self._partitions()

    def _up(self) -> Metric:
        up = GaugeMetricFamily("ipum_up", "Whether the machine is on and its agent answers.", labels=["machine"])
        up.add_metric([self._machine.name], self._controller.reachable(self._machine.name))
        return up

    def _links(self) -> Metric:
        links = GaugeMetricFamily(
            "ipum_link_state", "1 for the state that a link is in.", labels=["machine", "link", "to", "state"]
        )
        for kind in LinkKind:
            try:
                _, other = self._site.cables.ends(self._machine, kind)
            except Refusal:
                continue
            is_in = self._site.cables.broken.get(link_name(self._machine.name, kind), LinkState.UP)
            for state in LinkState:
                links.add_metric([self._machine.name, kind, other.name, state], state is is_in)
        return links

    def _sensors(self) -> list[Metric]:
        name, labels = self._machine.name, ["machine", "ipu"]
        board = GaugeMetricFamily("ipum_board_temperature_celsius", "Temperature beside an IPU.", labels=labels)
        die = GaugeMetricFamily("ipum_ipu_temperature_celsius", "Temperature of an IPU's die.", labels=labels)
        power = GaugeMetricFamily("ipum_ipu_power_watts", "What an IPU draws.", labels=labels)
        errors = CounterMetricFamily("ipum_link_correctable_errors", "Link errors that were mended.", labels=labels)
        reachable = self._controller.reachable(name)
        health = machine_health(self._machine, reachable, self._site.cables.broken)
        busy = self._controller.busy_ipus(name)
        for ipu in range(IPUS_PER_MACHINE) if reachable else ():
            sensors = sensors_of(name, ipu, busy=ipu in busy)
            board.add_metric([name, str(ipu)], sensors.board_celsius)
            die.add_metric([name, str(ipu)], sensors.die_celsius)
            power.add_metric([name, str(ipu)], sensors.watts)
            errors.add_metric([name, str(ipu)], correctable_errors(name, ipu, health.links))
        return [board, die, power, errors]

    def _partitions(self) -> Metric:
        labels = ["machine", "partition", "allocation", "ready_state", "operation_state"]
        partitions = GaugeMetricFamily("ipum_partition_state", "1 for every partition on the machine.", labels=labels)
        for found in self._controller.partitions.on(self._machine.name):
            partitions.add_metric([self._machine.name, found.id, found.allocation_id, found.ready, found.operation], 1)
        return partitions


def build_exporter(site: Site) -> Starlette:
    """The application that Prometheus reads. It wants no token, as exporters do."""
    whole = CollectorRegistry()
    whole.register(ControllerMetrics(site))
    whole.register(LostLines())

    async def controllers(request: Request) -> Response:  # noqa: ARG001 - every route has the same signature
        return _exposition(whole)

    async def targets(request: Request) -> Response:
        return JSONResponse(
            [
                {
                    "targets": [request.url.netloc],
                    "labels": {"__metrics_path__": f"/machines/{name}/metrics", "machine": name, "region": slug},
                }
                for slug, controller in site.controllers.items()
                for name in (agent.name for agent in controller.agents())
            ]
        )

    async def machine(request: Request) -> Response:
        try:
            found = site.machines.get(request.path_params["machine"])
            if found.region.slug not in site.controllers:
                raise not_found(f"machine {found.name!r} is not under V-IPU")
        except Refusal as refusal:
            return problem(refusal.reason.http_status, refusal.sentence)
        registry = CollectorRegistry()
        registry.register(MachineMetrics(site, found))
        return _exposition(registry)

    return Starlette(
        routes=[
            Route("/metrics", controllers),
            Route("/machines", targets),
            Route("/machines/{machine}/metrics", machine),
        ]
    )


def _exposition(registry: CollectorRegistry) -> Response:
    return Response(generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})
