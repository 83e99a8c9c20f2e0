"""Builds the control panel while the Python package is being built. IPUCLOUD_PANEL chooses what happens:

auto     (default) build it; where that fails, install without it, and the service says why
require  build it; where that fails, so does the installation (releases, the image, CI)
skip     do not build it
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent))
import build as panel  # this file is loaded by its path

SERVED = "ipucloud/panel/static"


class PanelBuildHook(BuildHookInterface[Any]):
    """What hatchling asks: what is needed to build the panel, and then to build it."""

    PLUGIN_NAME = "custom"
    _scratch: tempfile.TemporaryDirectory[str] | None = None

    def dependencies(self) -> list[str]:
        """Node from PyPI, only where it will be used and there is a wheel of it."""
        unneeded = _mode() == "skip" or panel.is_current() or panel.node_on_path() is not None
        return [] if unneeded or not _has_node_wheel() else [panel.NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build it before the package's files are collected."""
        if _mode() == "skip" or panel.is_current():
            build_data["artifacts"].append(f"/src/{SERVED}/**")
            return
        self._scratch = tempfile.TemporaryDirectory(prefix="ipucloud-panel-")
        out = Path(self._scratch.name, "out")
        try:
            self.app.display_info("Building the control panel")
            panel.build(Path(self._scratch.name, "work"), out)
        except panel.NotBuilt as error:
            if _mode() == "require":
                raise SystemExit(f"The control panel could not be built: {error}") from None
            self.app.display_warning(f"Installing without the control panel: {error}")
            panel.leave_reason(out, str(error))
        if version == "editable" or self.target_name == "sdist":  # served from, or packed out of, the sources
            panel.replace_static(out)
            build_data["artifacts"].append(f"/src/{SERVED}/**")
        else:  # the sources may be read-only
            build_data["force_include"][str(out)] = SERVED

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what the build left behind."""
        if self._scratch is not None:
            self._scratch.cleanup()


def _mode() -> str:
    mode = os.environ.get("IPUCLOUD_PANEL", "auto")
    if mode not in {"auto", "require", "skip"}:
        raise SystemExit(f"IPUCLOUD_PANEL is auto, require or skip, not {mode!r}.")
    return mode


def _has_node_wheel() -> bool:
    """Elsewhere an installer would fetch Node's sources and compile them."""
    if platform.machine().lower() not in {"x86_64", "amd64", "aarch64", "arm64"}:
        return False
    if sys.platform == "linux":
        libc, version = platform.libc_ver()
        return libc != "glibc" or tuple(map(int, version.split(".")[:2])) >= (2, 28)
    if sys.platform == "darwin":
        return tuple(map(int, platform.mac_ver()[0].split(".")[:2])) >= (13, 5)
    return sys.platform == "win32"
