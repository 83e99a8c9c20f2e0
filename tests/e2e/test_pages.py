"""Pages for customers, followed literally: every command runs against a running system."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.machine import Need, needs
from tests.support.pages import DOCS, commands, script, typed, user
from tests.support.processes import Up


def follow(page: str, system: Up, folder: Path, **variables: str) -> str:
    """What the page's commands print, run in a shell as its reader would; all of them succeed."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("IPUCLOUD_")}
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = {"PATH": programs, "HOME": str(folder), "IPUCLOUD_CONFIG_DIR": str(folder / "config"), "no_proxy": "*"}
    ended = subprocess.run(
        ["sh", "-xc", script(DOCS / page)],
        cwd=folder,
        env={**inherited, **own, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    return ended.stdout


@needs(Need.OPENSSH, Need.SANDBOX)  # it runs a Python program on the server
def test_the_tutorial_leads_to_a_bill(system: Up, tmp_path: Path) -> None:
    shown = follow("tutorial.md", system, tmp_path, **system.environment)
    for result in ("m2000-pod16", "[16]", "accrued", "forecast"):
        assert result in shown


@needs(Need.CURL, Need.OPENSSH)
def test_the_journey_by_curl_succeeds(system: Up, tmp_path: Path) -> None:
    project = system.ipucloud.json("whoami", **system.environment)["project"]["slug"]
    shown = follow("rest.md", system, tmp_path, URL=system.facts["url"], TOKEN=system.facts["token"], PROJECT=project)
    for result in ('"kind": "cluster.delete"', "m2000-pod5", '"accrued"'):
        assert result in shown


@needs(Need.BASH, Need.OPENSSH)
def test_each_command_about_storage_leaves_what_the_next_one_needs(system: Up, tmp_path: Path) -> None:
    profiles = f". {system.facts['env']}"
    volumes, snapshots, addresses = (
        commands(DOCS / "storage.md", title) for title in ("Volumes", "Snapshots", "Public addresses")
    )
    with user(tmp_path) as environment:
        for line in (
            "ipucloud ssh-keys create storage ~/.ssh/id_ed25519.pub",
            "ipucloud clusters create bert --flavor m2000-pod4 --ssh-key storage",
            *volumes,
            *addresses,
            volumes[0],
            *(each.replace("pod16", "pod4 --ssh-key storage") for each in snapshots if each),
        ):
            typed(f"{profiles}\n{line}", tmp_path, environment)
