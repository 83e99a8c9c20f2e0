"""The task script: what needs no installation."""

import re
import shutil
import subprocess
from pathlib import Path

DEV = Path(__file__).parents[2] / "dev"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([DEV, *arguments], capture_output=True, text=True, check=False, cwd="/")


def test_help_lists_every_task_and_no_other() -> None:
    listed = re.findall(r"^  (\w+) ", run("help").stdout, re.MULTILINE)
    branches = re.search(r"\ncase \$task in\n(.*)\nesac", DEV.read_text(), re.DOTALL)
    assert branches is not None
    handled = re.findall(r"^([a-z |]+)\)", branches[1], re.MULTILINE)
    assert sorted(listed) == sorted(task for group in handled for task in group.split(" | ") if task != "help")


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
