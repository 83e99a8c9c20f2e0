"""V-IPU controllers for operators: what the site lists, and what was read of them last."""

from __future__ import annotations

from ipucloud.admin.pages import keyed_page
from ipucloud.db.documents import rfc3339
from ipucloud.site.releases import SUPPORTED

CONTROLLERS = keyed_page(
    f"""
    SELECT site.region AS key, site.*, o.finished_at, o.error, o.failed_since,
           CASE WHEN site.vipu_version !~ '^({SUPPORTED})$' THEN 'unsupported'
                WHEN o.error IS NOT NULL THEN 'silent'
                WHEN o.stale_at > app_now() THEN 'answering'
                ELSE 'unknown' END AS state
      FROM site_regions AS site
      LEFT JOIN observations AS o ON o.region = site.region AND o.source = 'v-ipu'
     WHERE site.vipu_host IS NOT NULL
    """,  # noqa: S608  # our own text
    f"""
    'name', page.region, 'region', page.region, 'address', concat(page.vipu_host, ':', page.vipu_admin_port),
    'state', page.state, 'version', page.vipu_version, 'version_since', {rfc3339("page.vipu_version_at")},
    'tls', page.vipu_authority IS NOT NULL, 'users', page.vipu_secure, 'cluster_test', page.vipu_cluster_test,
    'observed_at', {rfc3339("page.finished_at")}, 'error', page.error,
    'failed_since', {rfc3339("page.failed_since")}
    """,
)
"""A page of the controllers, by name."""
