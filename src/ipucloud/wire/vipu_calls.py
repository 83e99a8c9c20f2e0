"""Calls to a V-IPU controller: their metadata, and why a connection over TLS failed."""

from __future__ import annotations

import re

USER = "vipu-user"
ACCESS_KEY = "vipu-access-key"
ALLOCATION = "vipu-allocation"
"""The allocation that a call of the user service at the administration endpoint is about."""
OF_THE_SERVICE = re.compile(r"[0-9a-hjkmnp-tv-z]{26}-[0-9]+|val-[0-9a-hjkmnp-tv-z]{26}")
"""The ids that the control plane gives to allocations: of a customer's cluster, or of a validation of machines."""
SECRET_PREFIX = "vipu_"
"""What every access key begins with, so that a leaked one is recognised."""


_CAUSES = tuple(
    (re.compile(pattern), cause)
    for pattern, cause in (
        ("certificate has expired", "its certificate has expired"),
        ("certificate is not yet valid", "its certificate is not valid yet, or a clock is wrong"),
        ("Hostname Verification", "its certificate is for another name or address"),
        ("WRONG_VERSION_NUMBER", "it does not speak TLS on this port"),
        ("CERTIFICATE_VERIFY_FAILED", "its certificate is not of the authority that it is verified with"),
        ("security handshaker", "the certificates that the connection is secured with are not valid PEM"),
        ("[Hh]andshake failed|SSL_ERROR", "the TLS handshake failed"),
    )
)
_CLOSED = re.compile(r"failed to connect to all addresses.*(Socket closed|reset by peer|Broken pipe)", re.DOTALL)


def tls_failure(details: str) -> str | None:
    """The cause, about the other end as `it`; None when it is not known to be TLS."""
    return next((cause for pattern, cause in _CAUSES if pattern.search(details)), None)


def was_closed(details: str) -> bool:
    """Whether the other end closed the connection while it was set up: so it refuses client certificates, or plaintext.

    One that ends at that moment looks alike.
    """
    return _CLOSED.search(details) is not None
