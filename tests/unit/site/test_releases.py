"""Which V-IPU releases are worked with."""

from __future__ import annotations

import pytest

from ipucloud.site.vipu_ports import unsupported


@pytest.mark.parametrize("version", ["1.14", "1.14.0", "v1.18.0", "1.99.3-rc1", "1.100.0", "1.18.0+build7", None])
def test_used(version: str | None) -> None:
    assert unsupported(version) is None


@pytest.mark.parametrize("version", ["1.13.9", "1.9.0", "2.0.0", "0.18", "11.18", "1", "1.18x", "latest", ""])
def test_not_used(version: str) -> None:
    assert f"V-IPU {version}, which this release of ipucloud does not support" in str(unsupported(version))
