"""What of a directory is sent: as git would read the same patterns; what cannot be read is named."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ipucloud.cli import ignoring
from ipucloud.cli.ignoring import listed
from ipucloud.client.errors import UsageError
from tests.support.machine import program

NAMES = (
    ".env", "a.pyc", "b.py", "data/x.bin", "data/keep/y.bin", "node_modules/left/index.js", "src/a.pyc",
    "src/build/out.o", "build/out.o", "docs/a b.txt", "docs/a[1].txt", "docs/ab.txt", "docs/#x", "docs/!y", "docs/z ",
    "deep/1/2/3/leaf", "deep/leaf", "foo", "foobar", "x/foo/bar", "x/y/foo/bar", "ünï/cödé.txt", "docs/a-b", "docs/]",
    ".venv/lib/site.py", "docs/back\\slash", "A.PY", "docs/c^d",
)  # fmt: skip
PATTERNS = (
    ".env\n.venv/\nnode_modules\n*.pyc\n", "/build\n", "build/\n", "src/build\n", "*\n!*.py\n",
    "data/*\n!data/keep/\n",
    "data\n!data/keep/y.bin\n", "**/foo\n",
    "deep/**/leaf\n", "deep/**\n!deep/leaf\n", "**\n", "foo**\n", "x/**/foo/*\n",
    "# comment\n\\#x\n\\!y\n", "z\\ \n", "b.py   \n", "docs/a[[]1].txt\n", "docs/a[!b]*\n", "docs/a[ -c]b\n",
    "docs/[]]\n", "docs/a[\\-]b\n", "docs/[z-a]*\n", "docs/[a\n", "docs/[]\n", "docs/[!]\n",
    "docs/a?b.txt\n", "docs/back\\\\slash\n", "foo\\\n",
    "/\n//\n!\n\n", "b.py\r\n", "\ufefffoo\n", "cödé.txt\nünï\n", "*.py\n!b.py", "docs/c[\\^]d\n", "*/foo\n", "/*/\n",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in NAMES:
        (path := tmp_path / "model" / name).parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path / "model"


def of_git(folder: Path, *files: str) -> set[str]:
    git = [program("git"), "-C", str(folder)]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run([*git, "init", "-q"], env=environment, check=True)
    asked = [f"--exclude-per-directory={file}" for file in files]
    done = subprocess.run([*git, "ls-files", "-z", "-o", *asked], env=environment, check=True, capture_output=True)
    return {*os.fsdecode(done.stdout).split("\0")} - {""}


def test_patterns_mean_what_they_mean_to_git(folder: Path) -> None:
    for patterns in PATTERNS:
        (folder / ".gitignore").write_text(patterns)
        assert {*listed(folder).files} == of_git(folder, ".gitignore"), patterns


def test_patterns_of_a_folder_are_for_what_is_in_it(folder: Path) -> None:
    (folder / ".gitignore").write_text("*.bin\nleaf\n")
    (folder / "deep" / ".gitignore").write_text("/leaf\n!/1/2/3/leaf\n")
    (folder / ".venv" / ".gitignore").write_text("*\n")
    assert {*listed(folder).files} == of_git(folder, ".gitignore")
    assert "deep/1/2/3/leaf" in listed(folder).files


def test_the_own_ignore_file_is_read_last_and_what_is_ignored_is_named(folder: Path) -> None:
    (folder / ".gitignore").write_text("data/\n.env\n.venv\nnode_modules/\n")
    (folder / ".ipucloudignore").write_text("!data/\nsrc/\n")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "a").touch()
    (folder / "link").symlink_to("foo")
    listing = listed(folder)
    assert {"data/x.bin", ".gitignore", ".ipucloudignore"} <= {*listing.files}
    assert not [
        name for name in listing.files if name.startswith(("src/", ".venv", "node_modules", "__", "link", ".env"))
    ]
    assert listing.ignored == [".venv/", "node_modules/", "src/", ".env"]
    assert listing.size == sum((folder / name).stat().st_size for name in listing.files)


def test_what_cannot_be_read_is_named_unless_it_is_ignored(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.lstat

    def denied(path: Path) -> os.stat_result:
        if path.name == "y.bin":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(Path, "lstat", denied)  # root may read everything
    with pytest.raises(UsageError, match=r"data/keep/y\.bin cannot be read: permission denied\. Make it"):
        listed(folder)
    (folder / ".ipucloudignore").write_text("keep\n")
    assert "data/x.bin" in listed(folder).files
    with pytest.raises(UsageError, match=r"b\.py cannot be read: not a directory"):
        listed(folder / "b.py")
    (folder / "two\nlines").touch()
    with pytest.raises(UsageError, match="line break"):
        listed(folder)


def test_what_vanishes_meanwhile_is_left_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = ignoring._facts

    def vanishing(path: Path) -> os.stat_result | None:
        if path.name in {"b.py", "x.bin"}:
            path.unlink()
        return real(path)

    monkeypatch.setattr(ignoring, "_facts", vanishing)
    assert not {"b.py", "data/x.bin"} & {*listed(folder).files}
