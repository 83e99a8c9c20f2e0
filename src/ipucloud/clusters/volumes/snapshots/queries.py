"""Snapshots as the API shows them."""

from __future__ import annotations

from ipucloud.clusters.resources.queries import SERVER, STATE, documents

DOCUMENTS = documents(
    "snapshots",
    f"""
    'volume', page.volume_id, 'volume_name', volume.name, {SERVER}, 'image', page.image, 'size_gib', page.size_gib,
    {STATE}
    """,
    "LEFT JOIN volumes AS volume ON (volume.project_id, volume.id) = (page.project_id, page.volume_id)",
)
