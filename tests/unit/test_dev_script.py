"""The task script: what needs no installation."""

import re
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
