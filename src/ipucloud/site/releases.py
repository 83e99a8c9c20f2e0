"""The releases of V-IPU that the control plane works with."""

from __future__ import annotations

import re

SUPPORTED = r"v?1\.(1[4-9]|[2-9][0-9]|[1-9][0-9]{2,3})([.+-].*)?"
"""Versions from 1.14 on, as a regular expression of Python and PostgreSQL: before, the client was `vipu-cli`."""

_SUPPORTED = re.compile(SUPPORTED, re.ASCII)


def unsupported(version: str | None) -> str | None:
    """Why a controller of this version is not used; None if it is, or if its version is not known yet."""
    if version is None or _SUPPORTED.fullmatch(version):
        return None
    return (
        f"it runs V-IPU {version}, which this release of ipucloud does not support: install V-IPU 1.14 or a later 1.x"
    )
