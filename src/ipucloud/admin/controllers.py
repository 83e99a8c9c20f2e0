"""V-IPU controllers for operators: what the site lists, and what was read of them last."""

from __future__ import annotations

from ipucloud.admin.pages import keyed_page
from ipucloud.db.documents import rfc3339
from ipucloud.site.releases import SUPPORTED

CONTROLLERS = keyed_page(
    f"""
    SELECT concat(region, ' ', name) AS key, *,
           CASE WHEN version !~ '^({SUPPORTED})$' THEN 'unsupported'
                WHEN error IS NOT NULL THEN 'silent'
                WHEN stale_at > app_now() THEN 'answering'
                ELSE 'unknown' END AS state
      FROM vipu_controllers
    """,  # noqa: S608  # our own text
    f"""
    'name', page.name, 'region', page.region, 'address', concat(page.host, ':', page.admin_port),
    'state', page.state, 'version', page.version, 'version_since', {rfc3339("page.version_at")},
    'tls', page.authority IS NOT NULL, 'users', page.secure, 'cluster_test', page.cluster_test,
    'observed_at', {rfc3339("page.finished_at")}, 'error', page.error,
    'failed_since', {rfc3339("page.failed_since")}
    """,
)
"""A page of the controllers, by region and name."""
