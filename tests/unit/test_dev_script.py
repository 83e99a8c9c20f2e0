"""The task script: what needs no installation."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

DEV = Path(__file__).parents[2] / "dev"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([DEV, *arguments], capture_output=True, text=True, check=False, cwd="/")


def test_help_lists_every_task_and_no_other() -> None:
    listed = re.findall(r"^  (\w+) ", run("help").stdout, re.MULTILINE)
    branches = re.search(r"\ncase \$task in\n(.*)\nesac", DEV.read_text(), re.DOTALL)
    assert branches is not None
    handled = re.findall(r"^([a-z |]+)\)", branches[1], re.MULTILINE)
    assert sorted(listed) == sorted(task for group in handled for task in group.split(" | ") if task != "help")


def test_the_pages_name_only_tasks_that_exist() -> None:
    listed = re.findall(r"^  (\w+) ", run("help").stdout, re.MULTILINE)
    pages = [*DEV.parent.glob("*.md"), *(DEV.parent / "docs").rglob("*.md")]
    named = {task for page in pages for task in re.findall(r"\./dev (\w+)", page.read_text())}
    assert named - {*listed, "help"} == set()


def test_a_program_of_the_environment_runs_where_its_caller_is(tmp_path: Path) -> None:
    checkout, elsewhere = tmp_path / "a checkout", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (checkout / ".ipucloud" / "client").mkdir(parents=True)
    shutil.copy(DEV, checkout / "dev")
    pretend_installed(checkout)
    program = checkout / ".venv" / "bin" / "show"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$PWD" "$IPUCLOUD_CONFIG_DIR" "$IPUCLOUD_DATA_DIR" "$@"; exit 7\n')
    program.chmod(0o755)
    done = subprocess.run(
        [checkout / "dev", "run", "show", "two words"],
        capture_output=True, text=True, check=False, cwd=elsewhere, env={"PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    data = checkout / ".ipucloud"
    assert done.stdout.splitlines() == [str(elsewhere), str(data / "client"), str(data), "two words"], done.stderr
    assert done.returncode == 7
    assert "name a program" in run("run").stderr


def pretend_installed(checkout: Path) -> None:
    """Leave the stamps of an installation, so that the script has nothing to install."""
    (checkout / ".venv" / "bin").mkdir(parents=True)
    (checkout / ".venv" / "bin" / "python").touch(mode=0o755)
    (checkout / ".venv" / "home.stamp").write_text(f"{checkout}\n")
    (checkout / "requirements").mkdir()
    for name in ("pyproject.toml", "requirements/runtime.txt", "requirements/build.txt"):
        (checkout / name).touch()
    stamp = subprocess.run(["cksum"], input=b"", capture_output=True, check=True).stdout
    (checkout / ".venv" / "runtime.stamp").write_bytes(stamp)


@pytest.mark.parametrize(
    ("arguments", "selected"),
    [
        ((), True),
        (("--all",), True),
        (("-q", "-x"), True),
        (("tests",), True),
        (("tests/unit/test_turns.py", "tests/panel/test_built.py::test_x"), True),
        (("tests/unit/test_turns.py",), False),
        (("--all", "tests/unit/cli", "-q"), False),
        (("-x", "tests/unit/test_turns.py::test_x"), False),
    ],
)
def test_the_panel_is_built_only_for_its_own_tests(arguments: tuple[str, ...], selected: bool) -> None:
    function = re.search(r"^selects_panel\(\) \{.*?^\}", DEV.read_text(), re.MULTILINE | re.DOTALL)
    assert function is not None
    script = ["sh", "-c", f'{function[0]}\nselects_panel "$@"', "sh", *arguments]
    assert (subprocess.run(script, check=False, cwd=DEV.parent).returncode == 0) == selected


def test_an_unknown_task_is_refused_in_a_sentence() -> None:
    done = run("destroy")
    assert done.returncode != 0
    assert "there is no task 'destroy'" in done.stderr


def test_the_validator_asks_for_files(tmp_path: Path) -> None:
    shutil.copy(DEV, tmp_path / "dev")
    pins, python = tmp_path / "requirements" / "focus.txt", tmp_path / ".tools" / "focus" / "bin" / "python"
    for file in (pins, python):
        file.parent.mkdir(parents=True)
        file.touch(mode=0o755)
    installed = subprocess.run(["cksum"], input=b"", capture_output=True, check=True).stdout
    (tmp_path / ".tools" / "focus" / "stamp").write_bytes(installed)
    done = subprocess.run([tmp_path / "dev", "focus"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert "Give it files of FOCUS 1.2: ./dev focus FILE" in done.stderr
