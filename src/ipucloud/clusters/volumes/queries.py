"""Volumes as the API shows them."""

from __future__ import annotations

from ipucloud.clusters.resources.queries import SERVER, STATE, documents
from ipucloud.contract.volumes import MOUNT_FOLDER

DOCUMENTS = documents(
    "volumes",
    f"""
    'size_gib', page.size_gib, 'resizing_to_gib', page.wanted_gib, {STATE}, {SERVER},
    'mount_path', CASE WHEN page.cluster_id IS NOT NULL THEN '{MOUNT_FOLDER}/' || page.name END,
    'snapshot', origin.snapshot_id
    """,
    "LEFT JOIN volume_origins AS origin ON (origin.project_id, origin.volume_id) = (page.project_id, page.id)",
)
