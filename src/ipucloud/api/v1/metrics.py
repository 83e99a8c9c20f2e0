"""How busy clusters are: as series, and for Prometheus."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.reads import reading
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import ClusterId, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.contract.metrics import MetricsOut, MetricsQuery
from ipucloud.identity.roles import Permission
from ipucloud.programs.samples.series import Newest, newest, series
from ipucloud.programs.services.requests import BOUNDS, ServiceTotals, request_totals

routes = router()

TEXT = "text/plain"
EXPOSITION = f"{TEXT}; version=0.0.4; charset=utf-8"
"""Prometheus' text format."""
_LABELS = ("cluster", "cluster_id", "region", "flavor")


@routes.get(
    "/v1/projects/{project}/clusters/{cluster:ref}/metrics",
    **operation("getClusterMetrics", "Read a cluster's metrics", Permission.CLUSTER_READ, gives=MetricsOut),
)
async def get_cluster_metrics(
    request: Request, project: ProjectRef, cluster: ClusterId, query: MetricsQuery
) -> Response:
    """Return what was observed of the cluster's load: a point for each step of the period.

    A cluster that is in use is observed at least once a minute. A step without an observation has null for every value.
    """
    trace_of(request).concerns(cluster_id=cluster)
    async with reading(request, project) as (connection, scope):
        points = await series(connection, project_id=scope.project_id, cluster_id=cluster, query=query)
    return Response(points, media_type=JSON)


@routes.get(
    "/v1/projects/{project}/metrics",
    **operation(
        "getProjectMetrics", "Read the metrics of all clusters for Prometheus", Permission.CLUSTER_READ, files=(TEXT,)
    ),
)
async def get_project_metrics(request: Request, project: ProjectRef) -> Response:
    """Return what was observed last of each cluster in use, in the text format of Prometheus.

    A cluster that was not observed within five minutes is left out, and so is what was not observed of a cluster. Of
    services that have not ended it has the requests that the API has forwarded.
    """
    async with reading(request, project) as (connection, scope):
        samples = await newest(connection, scope.project_id)
        totals = await request_totals(connection, scope.project_id)
    registry = CollectorRegistry()
    registry.register(_Clusters(samples))
    registry.register(_Requests(totals))
    return Response(generate_latest(registry), media_type=EXPOSITION)


class _Clusters(Collector):
    """The newest samples as metrics, in Prometheus' units."""

    def __init__(self, samples: Iterable[Newest]) -> None:
        self._samples = list(samples)

    def collect(self) -> Iterable[Metric]:
        """A family for each metric that any cluster has."""
        families: dict[str, GaugeMetricFamily | CounterMetricFamily] = {}
        for sample in self._samples:
            for name, help_text, value in _values(sample):
                if value is None:
                    continue
                kind = CounterMetricFamily if name.endswith("_errors") else GaugeMetricFamily
                family = families.setdefault(name, kind(f"ipucloud_cluster_{name}", help_text, labels=_LABELS))
                family.add_metric((sample.cluster, str(sample.cluster_id), sample.region, sample.flavor), value)
        return families.values()


class _Requests(Collector):
    """The requests of services, as the counter and histogram that an instrumented program would show."""

    def __init__(self, totals: Iterable[ServiceTotals]) -> None:
        self._totals = list(totals)

    def collect(self) -> Iterable[Metric]:
        """Two families, if there is any service."""
        labels = ("cluster", "cluster_id", "service")
        errors = CounterMetricFamily(
            "ipucloud_service_request_errors",
            "Requests answered with a status from 500 on, or not at all.",
            labels=labels,
        )
        times = HistogramMetricFamily(
            "ipucloud_service_request_duration_seconds", "Time until an answer began, or was given up.", labels=labels
        )
        for total in self._totals:
            of = (total.cluster, str(total.cluster_id), total.service)
            errors.add_metric(of, total.errors)
            bounds = [*map(str, BOUNDS), "+Inf"]
            times.add_metric(of, list(zip(bounds, accumulate(total.buckets), strict=True)), total.seconds)
        return (errors, times) if self._totals else ()


def _values(of: Newest) -> Iterable[tuple[str, str, float | None]]:
    """Names, descriptions and values of a cluster's metrics; None: not observed."""
    return (
        ("observed_timestamp_seconds", "When the values were observed.", of.observed_at.timestamp()),
        ("machines", "IPU machines of the cluster.", of.machines),
        ("machines_answered", "Those that showed their values.", of.machines_answered),
        ("attached_ipus", "IPUs that programs hold.", of.attached_ipus),
        ("ipu_utilisation_ratio", "How busy its IPUs are, from 0 to 1.", _ratio(of.utilisation)),
        ("ipu_power_watts", "What its IPUs draw together.", of.power),
        ("ipu_temperature_celsius", "Of the hottest IPU.", of.temperature),
        ("link_errors", "Corrected errors of its links since its machines were switched on.", of.link_errors),
        ("partitions", "Partitions of the cluster.", of.partitions),
        ("partitions_active", "Those that are active.", of.partitions_active),
        ("server_cpu_utilisation_ratio", "How busy its Poplar servers' processors are, from 0 to 1.", _ratio(of.cpu)),
        ("server_memory_used_bytes", "Memory that programs hold on its Poplar servers.", of.memory_used),
        ("server_memory_bytes", "Memory of its Poplar servers.", of.memory),
    )


def _ratio(percent: float | None) -> float | None:
    return None if percent is None else round(percent / 100.0, 4)
