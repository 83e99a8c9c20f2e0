"""Calls for public addresses."""

from __future__ import annotations

from ipucloud.site.calls import Call
from ipucloud.wire.storage import AddressAttachment
from tests.proof import site_resources as resources
from tests.proof.site_calls.case import CallCase

CASES = (
    CallCase(
        "addresses.get",
        Call.GET_ADDRESS,
        "http",
        lambda _, s, t: s.addresses.get(t.name),
        resources.address,
        missing="None",
    ),
    CallCase(
        "addresses.put",
        Call.PUT_ADDRESS,
        "http",
        lambda _, s, t: s.addresses.put(t.name, t.address),
        observe=resources.address_is_there,
        makes=True,
    ),
    CallCase(
        "addresses.attach",
        Call.ATTACH_ADDRESS,
        "http",
        lambda _, s, t: s.addresses.attach(t.name, AddressAttachment(revision=1)),
        resources.address,
        observe=resources.address_has_a_revision,
        makes=True,
        missing="None",
    ),
    CallCase(
        "addresses.delete",
        Call.DELETE_ADDRESS,
        "http",
        lambda _, s, t: s.addresses.delete(t.name),
        resources.address,
        observe=resources.address_is_there,
        makes=False,
        missing="None",
    ),
)
