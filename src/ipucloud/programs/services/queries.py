"""Services as the API shows them."""

from __future__ import annotations

from ipucloud.db.documents import rfc3339
from ipucloud.programs.queries import Documents

MEANT = """
(name = :ref OR id::text = lower(:ref))
ORDER BY ended_at IS NULL DESC, id DESC LIMIT 1
"""
"""The service that `:ref` means: of this id, or of this name, before others the one that has not ended."""

STALE_SECONDS = 120
"""So long after its site last showed a program, nobody knows whether it works."""

SERVICE_DOCUMENTS = Documents(
    "services",
    "service_logs",
    "service_id",
    chosen=MEANT,
    members=f"""
    'name', page.name, 'port', page.port, 'max_restarts', page.max_restarts, 'failures', page.failures,
    'successor', page.successor -> 'id', 'next_start_at', {rfc3339("page.next_start_at")},
    'health', page.health_check || jsonb_build_object(
        'state', CASE WHEN page.state <> 'running' OR page.checked_at IS NULL
                        OR page.observed_at < app_now() - interval '{STALE_SECONDS} seconds' THEN 'unknown'
                      WHEN page.checks_failed = 0 THEN 'healthy' ELSE 'failing' END,
        'failed', page.checks_failed, 'detail', page.check_detail, 'checked_at', {rfc3339("page.checked_at")})
    """,
)
