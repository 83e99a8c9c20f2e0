"""Calls for signing in to the control panel."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call
from ipucloud.client.models import SignInLink


def sign_in_link() -> Call[SignInLink]:
    """A link that signs one browser in with the caller's token: once, within ten minutes."""
    return request.post("session/links", SignInLink, {}, scoped=False)
