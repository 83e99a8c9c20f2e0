"""`ipucloud notebook --install` on a server whose distribution manages Python's packages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.scripted import Service, problem
from tests.unit.cli.conftest import Run
from tests.unit.cli.test_commands import CLUSTER_ID, serve_cluster

SERVICES = f"/v1/projects/demo/clusters/{CLUSTER_ID}/services"
SSH = """#!/bin/sh
for command; do :; done
HOME=%s exec sh -c "$command"
"""
PYTHON = """#!/bin/sh
case "$*" in
"-m pip install -q --user jupyterlab")
  printf 'WARNING: slow\\nerror: externally-managed-environment\\n\\n× This is managed\\nhint: See PEP 668.\\n' >&2
  exit 1 ;;
"-m venv --system-site-packages $HOME/.local/share/ipucloud/jupyterlab")
  [ -e "$HOME/whole" ] || { printf 'There is no ensurepip.\\nInstall python3-venv.\\n\\na\\nb\\n'; exit 1; }
  mkdir -p "$4/bin" && cp "$0" "$4/bin/python" ;;
"-m pip install -q jupyterlab")
  [ ! -e "$HOME/offline" ] || { printf 'WARNING: a\\nERROR: Not found\\nERROR: None matches\\n' >&2; exit 1; }
  printf '#!/bin/sh\\necho 4.0.0\\n' > "${0%/*}/jupyter" && chmod +x "${0%/*}/jupyter" ;;
*) exit 9 ;;
esac
"""


@pytest.fixture
def home(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of the server's user."""
    (home := tmp_path / "home").mkdir()
    (programs := tmp_path / "bin").mkdir()
    for name, text in (("ssh", SSH % home), ("python3", PYTHON)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o700)
    (home / ".profile").write_text(f"PATH={programs}:/usr/bin:/bin\nunset VIRTUAL_ENV\n")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    serve_cluster(service)
    service.on("GET", f"{SERVICES}/notebook", problem(404, "not_found", "There is none."))
    service.on("POST", SERVICES, problem(409, "state_conflict", "Later."))
    return home


def test_jupyterlab_gets_an_environment_of_its_own_where_pip_refuses(run: Run, service: Service, home: Path) -> None:
    (home / "whole").touch()
    run("notebook", "bert", "--install").fails(5, "Later.")
    installed = (home / ".local" / "bin" / "jupyter").resolve()
    assert installed == home / ".local" / "share" / "ipucloud" / "jupyterlab" / "bin" / "jupyter"


def test_an_installation_that_fails_says_why(run: Run, service: Service, home: Path) -> None:
    run("notebook", "bert", "--install").fails(
        2, "cannot be installed on bert-p0: There is no ensurepip. Install python3-venv."
    )
    for name in ("whole", "offline"):
        (home / name).touch()
    assert "cannot be installed on bert-p0: ERROR: Not found ERROR: None matches\n" in (
        run("notebook", "bert", "--install").err
    )
    assert f"POST {SERVICES}" not in service.calls()
