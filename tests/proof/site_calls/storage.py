"""Calls for volumes and snapshots."""

from __future__ import annotations

from ipucloud.site.calls import Call
from ipucloud.wire.storage import VolumeAttachment
from tests.proof import site_resources as resources
from tests.proof.site_calls.case import CallCase

CASES = (
    CallCase(
        "volumes.get", Call.GET_VOLUME, "http", lambda _, s, t: s.volumes.get(t.name), resources.volume, missing="None"
    ),
    CallCase(
        "volumes.put",
        Call.PUT_VOLUME,
        "http",
        lambda _, s, t: s.volumes.put(t.name, t.volume),
        observe=resources.volume_is_there,
        makes=True,
    ),
    CallCase(
        "volumes.attach",
        Call.ATTACH_VOLUME,
        "http",
        lambda _, s, t: s.volumes.attach(t.name, VolumeAttachment(revision=1)),
        resources.volume,
        observe=resources.volume_has_a_revision,
        makes=True,
        missing="None",
    ),
    CallCase(
        "volumes.delete",
        Call.DELETE_VOLUME,
        "http",
        lambda _, s, t: s.volumes.delete(t.name),
        resources.volume,
        observe=resources.volume_is_there,
        makes=False,
        missing="None",
    ),
    CallCase(
        "snapshots.get",
        Call.GET_SNAPSHOT,
        "http",
        lambda _, s, t: s.snapshots.get(t.name),
        resources.snapshot,
        missing="None",
    ),
    CallCase(
        "snapshots.put",
        Call.PUT_SNAPSHOT,
        "http",
        lambda _, s, t: s.snapshots.put(t.name, t.snapshot),
        resources.volume,
        observe=resources.snapshot_is_there,
        makes=True,
    ),
    CallCase(
        "snapshots.delete",
        Call.DELETE_SNAPSHOT,
        "http",
        lambda _, s, t: s.snapshots.delete(t.name),
        resources.snapshot,
        observe=resources.snapshot_is_there,
        makes=False,
        missing="None",
    ),
)
