"""Metrics of the HTTP server below the application; one process, all its listeners."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

CONNECTIONS = Gauge("http_server_connections", "Open connections of clients.", ("listener",))
CERTIFICATE = Gauge(
    "http_server_certificate_valid_until_seconds",
    "When the public listener's TLS certificate ends; 0 without TLS.",
    registry=None,  # workers have no public listener
)
UNREAD = Gauge("http_server_unread_bytes", "Bytes of long answers that clients have not read whole.", registry=None)
REFUSED = Counter(
    "http_server_refused", "Clients refused or closed, by reason (docs/operations/network.md).", ("listener", "reason")
)
