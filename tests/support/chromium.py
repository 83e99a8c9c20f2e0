"""The browser of the tests: that of the npm package `@sparticuz/chromium`, which carries the libraries it needs.

`./dev test` brings it with the panel's other tools. Without an npm registry it is the Chromium of the system.
"""

from __future__ import annotations

import os
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from playwright._impl._driver import compute_driver_executable

from tests.support.machine import PACKED_BROWSER, TOOLS, find_program

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--no-zygote",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
]
_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{}</dir><dir>/usr/share/fonts</dir><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>
"""
_UNPACK = """
const fs = require("fs"), zlib = require("zlib"), stream = require("stream");
stream.pipeline(fs.createReadStream(process.argv[1]), zlib.createBrotliDecompress(),
  fs.createWriteStream(process.argv[2]), (error) => process.exit(error ? 1 : 0));
"""


@dataclass(frozen=True, slots=True)
class Chromium:
    """A browser that can be started. `environment`: what it needs beside the test's own."""

    program: Path
    environment: dict[str, str] = field(default_factory=dict)


def find_chromium() -> Chromium | None:
    """None: there is none, and none could be had."""
    if not PACKED_BROWSER.is_dir():
        installed = find_program("chromium")
        return None if installed is None else Chromium(Path(installed))
    folder = TOOLS / "chromium"
    if not folder.is_dir():
        _unpack(folder)
    libraries = ":".join([str(folder / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]).rstrip(":")
    return Chromium(folder / "chromium", {"LD_LIBRARY_PATH": libraries, "FONTCONFIG_PATH": str(folder)})


def _unpack(folder: Path) -> None:
    """Several processes may do this at once: who is first wins."""
    node, _ = compute_driver_executable()
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        unpacked = Path(scratch, "made")
        unpacked.mkdir()
        for packed in sorted(PACKED_BROWSER.glob("*.br")):
            plain = unpacked / packed.stem
            subprocess.run([node, "-e", _UNPACK, str(packed), str(plain)], check=True, timeout=120)
            if plain.suffix == ".tar":
                with tarfile.open(plain) as archive:
                    _extract(archive, unpacked)
                plain.unlink()
        (unpacked / "chromium").chmod(0o755)
        (unpacked / "fonts.conf").write_text(_FONTS.format(folder / "fonts"))
        try:
            unpacked.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise


def _extract(archive: tarfile.TarFile, folder: Path) -> None:
    """The filter is not in every 3.11, which the checkout of a user may have; the lock file has the package's hash."""
    if hasattr(tarfile, "data_filter"):
        archive.extractall(folder, filter="data")
    else:
        archive.extractall(folder)  # noqa: S202
