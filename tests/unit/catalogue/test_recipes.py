"""Recipes as jobs: their command is run by a real bash, with a repository and with files of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from ipucloud.catalogue.load import load
from ipucloud.catalogue.recipes import job_command, smallest_flavors, working_directory
from ipucloud.contract.jobs import JobCreate
from ipucloud.contract.recipes import Recipe, RecipeProgram
from tests.support.cases import all_cases
from tests.support.machine import program

CATALOGUE = load()
RUNNABLE = [recipe for recipe in CATALOGUE.recipes if recipe.program is not None]
SOURCE = CATALOGUE.sources[0]


def made_of(**changes: object) -> RecipeProgram:
    values = {"framework": "python", "command": ["true"], "dataset": "generated", "ipus": 4} | changes
    return RecipeProgram.model_validate(values)


def recipe(of: RecipeProgram | None) -> Recipe:
    return Recipe(id="example", name="Example", task="other", program=of, source=SOURCE)


def bash(command: list[str], home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(command, cwd=home, env=known | environment, capture_output=True, text=True, check=False)


def test_every_program_of_the_catalogue_is_a_job_and_has_a_flavor() -> None:
    shell = program("bash")
    with all_cases() as case:
        for runnable in RUNNABLE:
            command = job_command(runnable)
            with case(runnable.id):
                assert command is not None
                assert runnable.program is not None
                JobCreate(command=command)
                assert subprocess.run([shell, "-n", "-c", command[2]], check=False).returncode == 0
                assert smallest_flavors(CATALOGUE, runnable.program, "luxembourg-2")


def test_files_of_a_recipe_are_written_set_up_and_run_with_more_arguments(tmp_path: Path) -> None:
    text = """import sys; print(open("it's").read(), sys.argv[1:])"""
    files = [{"path": "src/main.py", "text": text}]
    setup = [["sh", "-c", """echo -n done > "it's" """]]
    command = ["python3", "src/main.py", "$WORD/a b", "$", "c$WORD"]
    of = recipe(made_of(files=files, setup=setup, command=command))
    assert working_directory(of) == "example"
    ran = bash([*(job_command(of) or ()), "--epochs", "3 4"], tmp_path, WORD="x y")
    assert ran.stdout == "done ['x y/a b', '$', 'c$WORD', '--epochs', '3 4']\n", ran.stderr
    assert (tmp_path / "example" / "src" / "main.py").read_text() == text


def test_a_commit_is_fetched_once_and_a_dataset_is_asked_for(tmp_path: Path) -> None:
    git, origin, home = program("git"), tmp_path / "models", tmp_path / "home"
    home.mkdir()
    (origin / "vision").mkdir(parents=True)
    (origin / "vision" / "train.py").write_text("import sys; print('trained with', sys.argv[1])\n")
    commit = ["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "one"]
    for words in (["init", "-q"], ["add", "."], commit):
        assert bash([git, *words], origin).returncode == 0
    head = bash([git, "rev-parse", "HEAD"], origin).stdout.strip()
    of = recipe(
        made_of(
            repository="https://example.com/models.git", commit=head, directory="vision",
            command=["python3", "train.py", "$DATA/a"], dataset="Photographs", dataset_variable="DATA",
        )
    )  # fmt: skip
    assert working_directory(of) == "models/vision"
    command = job_command(of) or []
    command[2] = command[2].replace("https://example.com/models.git", str(origin))
    missing = bash(command, home)
    assert "DATA: must name the directory of Photographs" in missing.stderr
    assert bash(command, home, DATA="d").stdout == "trained with d/a\n"
    origin.rename(tmp_path / "gone")
    assert bash(command, home, DATA="e").stdout == "trained with e/a\n"


def test_the_shipped_example_learns(tmp_path: Path) -> None:
    digits = CATALOGUE.find_recipe("digits")
    assert digits is not None
    (tmp_path / "bin").mkdir()
    for name, script in {"ipu-run": 'shift; exec "$@"', "python3": f'exec {sys.executable} "$@"'}.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    ran = bash(job_command(digits) or [], tmp_path, PATH=f"{tmp_path}/bin:{os.environ['PATH']}", EPOCHS="3")
    assert ran.returncode == 0, ran.stderr
    first, *_, last = map(float, re.findall(r"loss ([0-9.]+)", ran.stdout))
    assert last < first
    assert json.loads((tmp_path / "digits" / "results" / "model.json").read_text())["accuracy"] > 0.5


def test_the_shipped_example_says_that_it_needs_numpy(tmp_path: Path) -> None:
    digits = CATALOGUE.find_recipe("digits")
    assert digits is not None
    assert digits.program is not None
    [train] = [file.text for file in digits.program.files if file.path == "train.py"]
    without = [sys.executable, "-c", f"import sys; sys.modules['numpy'] = None\n{train}"]
    ran = subprocess.run(without, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stderr == "The python3 of this server has no NumPy: install the package python3-numpy.\n"
    assert ran.returncode == 1


def test_a_recipe_without_a_program_is_no_job() -> None:
    assert job_command(recipe(None)) is None
    assert working_directory(recipe(None)) is None


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "comes from a repository, or from files"),
        ({"repository": "https://a.example/b"}, "needs a commit"),
        ({"commit": "0" * 40, "files": [{"path": "a", "text": ""}]}, "a commit a repository"),
        ({"repository": "https://a.example/b", "commit": "0" * 40, "directory": "a/../../b"}, "stay within"),
        ({"files": [{"path": "a/../../b", "text": ""}]}, "stay within"),
        ({"files": [{"path": "/etc/passwd", "text": ""}]}, "should match pattern"),
        ({"repository": "ssh://a.example/b", "commit": "0" * 40}, "should match pattern"),
        ({"files": [{"path": "a", "text": ""}], "command": []}, "at least 1 item"),
    ],
)
def test_a_program_that_cannot_be_run_is_refused(changes: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        made_of(**changes)
