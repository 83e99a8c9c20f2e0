"""Metrics of the API. Labels are route templates and statuses, never customer data."""

from __future__ import annotations

from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from ipucloud import __version__
from ipucloud.db.clock_skew import ClockSkew
from ipucloud.http.metrics import CERTIFICATE, CONNECTIONS, REFUSED, UNREAD
from ipucloud.process.logs import LostLines

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
"""Bucket bounds recommended by OpenTelemetry's semantic conventions for HTTP."""


class Metrics:
    """Metrics in a registry of their own, so that one process can have several applications."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._duration = Histogram(
            "http_server_request_duration_seconds",
            "Time from the first byte of a request to the last byte of its response.",
            ("http_request_method", "http_route", "http_response_status_code"),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.in_flight = Gauge("http_server_active_requests", "Requests in progress.", registry=self.registry)
        self.replays = Counter(
            "idempotency_replays", "Responses replayed for an Idempotency-Key.", registry=self.registry
        )
        self.rate_limited = Counter("rate_limited", "Requests refused with 429.", registry=self.registry)
        self.transactions_waiting = Gauge(
            "transactions_waiting", "Transactions that wait for a connection.", registry=self.registry
        )
        self.streams = Gauge("event_streams", "Open streams of events.", registry=self.registry)
        self.terminals = Gauge("terminals", "Open terminals.", registry=self.registry)
        self.streamed = Counter("event_stream_events", "Events sent to streams.", registry=self.registry)
        self.stream_lag = Gauge(
            "event_stream_lag_seconds",
            "Time since the event log was last read to its end for streams; 0 without streams.",
            registry=self.registry,
        )
        skew = "How far the database's clock was ahead of this process's at the last readiness check."
        self.clock_skew = ClockSkew(Gauge("clock_skew_seconds", skew, registry=self.registry))
        version = Gauge("version_info", "The running version.", ("version",), registry=self.registry)
        version.labels(__version__).set(1)
        for collector in (LostLines(), CONNECTIONS, REFUSED, CERTIFICATE, UNREAD):
            self.registry.register(collector)
        self._series = cache(self._duration.labels)

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answered request; `route` is a template, or `` for an unknown path."""
        self._series(method if method in _METHODS else "_OTHER", route, str(status)).observe(seconds)
