"""Where the embedded server lives and as whom: deep paths, closed directories, root and not root."""

import json
import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ipucloud.laboratory.postgres import EmbeddedPostgres
from ipucloud.laboratory.postgres.account import Account
from ipucloud.laboratory.postgres.binaries import find_binaries
from ipucloud.laboratory.postgres.errors import EmbeddedPostgresError
from tests.support.embedded import STARTER, execute, kept_rows, socket_directory
from tests.support.machine import Need, lack, needs

SOURCES = Path(__file__).parents[4] / "src"

NAMELESS = 54_321
"""A user that no system has."""
root_only = needs(Need.ROOT)  # only root has to change the account


@pytest.mark.parametrize("name", ["with space", "with,comma", 'with"quote', "with?mark&percent%41", "größer"])
def test_a_root_may_have_any_name(root: Path, name: str) -> None:
    odd = root.rename(root.with_name(name))
    with EmbeddedPostgres(odd) as server:
        assert kept_rows(server) == 1


def test_a_root_too_deep_for_a_socket_gets_a_short_private_directory(directory: Path) -> None:
    root = directory / ("deep" * 30) / "db"
    server = EmbeddedPostgres(root)
    with server:
        sockets = socket_directory(server)
        assert sockets.stat().st_mode & 0o777 == 0o700
        execute(server, "CREATE TABLE reachable (value int)")
    assert not sockets.exists()


@root_only
def test_root_works_below_a_directory_that_is_closed_to_others(directory: Path) -> None:
    (directory / "home").mkdir(mode=0o700)
    for _ in range(2):
        with EmbeddedPostgres(directory / "home" / "db") as server:
            execute(server, "CREATE TABLE IF NOT EXISTS reachable (value int)")
    assert (directory / "home").stat().st_mode & 0o777 == 0o700
    assert (directory / "home" / "db" / "data").stat().st_uid != 0


@root_only
def test_root_copies_programs_that_are_closed_to_others(directory: Path, root: Path) -> None:
    prefix = find_binaries(None, data_major=None).directory.parent
    package, libraries = prefix.parent, prefix.parent.with_name(f"{prefix.parent.name}.libs")
    home = directory / "home"
    home.mkdir(mode=0o700)
    shutil.copytree(prefix, home / package.name / prefix.name, symlinks=True, ignore=shutil.ignore_patterns("include"))
    shutil.copytree(libraries, home / libraries.name)
    closed = home / package.name / prefix.name / "bin"
    with EmbeddedPostgres(root, bindir=closed) as server:
        assert kept_rows(server) == 1
    assert home.stat().st_mode & 0o777 == 0o700


@root_only
def test_an_ordinary_user_runs_it_under_its_own_account(directory: Path) -> None:
    python = public_python()
    nobody = pwd.getpwnam("nobody")
    (directory / "mine").mkdir()
    os.chown(directory / "mine", nobody.pw_uid, nobody.pw_gid)
    root = directory / "mine" / "db"
    for _ in range(2):
        done = run_as_nobody(python, STARTER, str(root))
        assert (done.returncode, done.stdout) == (0, "ready\n"), done.stderr
    assert {path.stat().st_uid for path in root.iterdir()} == {nobody.pw_uid}


@root_only
def test_a_user_without_a_name_is_told_what_to_do_before_anything_starts(directory: Path) -> None:
    python, data = public_python(), directory / "data"
    data.mkdir()
    os.chown(data, NAMELESS, NAMELESS)
    command = "import sys; from ipucloud.cli.main import main; sys.argv[0] = 'ipucloud'; sys.exit(main())"
    done = run_as(NAMELESS, python, command, "up", "--data-dir", str(data))
    assert done.returncode == 1
    assert f"User {NAMELESS} has no name on this system" in done.stderr
    assert "/etc/passwd" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(data.iterdir()) == []


@root_only
@pytest.mark.parametrize("closed", ["", "lock", "site.json"])
def test_a_site_whose_files_are_another_users_says_so(directory: Path, closed: str) -> None:
    data = directory / "site"
    data.mkdir()
    if closed:
        os.chown(data, pwd.getpwnam("nobody").pw_uid, -1)
        (data / closed).touch(mode=0o600)
    command = "from ipucloud.laboratory.simulator.main import main; main()"
    done = run_as_nobody(public_python(), command, "--data", str(data), "--token", "secret")
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert json.loads(line)["event"].startswith(f"ipucloud-sim: {data}")


def public_python() -> str:
    """One that every user may run with these packages; without one the test is skipped."""
    candidates = (sys.executable, "/usr/bin/python3")
    python = next((each for each in candidates if run_as_nobody(each, "import psycopg").returncode == 0), None)
    if python is None:
        lack(Need.PUBLIC_PYTHON)
    return python


def run_as_nobody(python: str, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_as(pwd.getpwnam("nobody").pw_uid, python, program, *arguments)


def run_as(user: int, python: str, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [python, "-c", program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            env={"HOME": "/", "PYTHONPATH": os.pathsep.join([str(SOURCES), *sys.path])},
            user=user,
            group=pwd.getpwnam("nobody").pw_gid,
            extra_groups=[],
        )
    except PermissionError as error:
        return subprocess.CompletedProcess([], 126, "", str(error))


def test_a_probe_that_is_killed_is_asked_again_and_proves_nothing(directory: Path) -> None:
    program = directory / "postgres"
    program.write_text('#!/bin/sh\n[ -e "$0.asked" ] && exit 0\n: > "$0.asked"\nkill -KILL $$\n')
    program.chmod(0o755)
    assert Account().can_run(program)
    program.write_text("#!/bin/sh\nkill -KILL $$\n")
    with pytest.raises(EmbeddedPostgresError, match="could not be found out"):
        Account().can_run(program)
