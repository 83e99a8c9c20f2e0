"""What the HTTP server measures before the application hears of a request; one process, all its listeners."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

CONNECTIONS = Gauge("http_server_connections", "Open connections of clients.", ("listener",))
REFUSED = Counter("http_server_refused", "Clients refused or closed by the HTTP server.", ("listener", "reason"))
