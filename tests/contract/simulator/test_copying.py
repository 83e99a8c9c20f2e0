"""Copies of folders: whatever a customer has left there, and does meanwhile, nothing outside is read or written."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from ipucloud.laboratory.simulator.copying import Copier, Stopped, TooLarge, open_folder
from ipucloud.laboratory.simulator.wiping import wipe

MIB = 1024 * 1024


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    return folder


def copy(source: Path, *, limit: int = MIB, needed: Callable[[], bool] = lambda: True) -> Path:
    target = source.with_name("target")
    asyncio.run(Copier(limit).copy(open_folder(source), target, needed))
    assert {place.name for place in source.parent.iterdir()} <= {"source", "target", "outside"}
    return target


def test_files_are_kept_with_their_times_and_permissions(source: Path) -> None:
    (source / "folder").mkdir(mode=0o750)
    (source / "folder" / "program").write_text("#!/bin/sh")
    (source / "folder" / "program").chmod(0o755)
    for place in (source / "folder" / "program", source / "folder", source):
        os.utime(place, ns=(1_000_000_007, 2_000_000_011))
    target = copy(source)
    assert (target / "folder" / "program").read_text() == "#!/bin/sh"
    for name in ("", "folder", "folder/program"):
        before, after = (source / name).stat(), (target / name).stat()
        assert (before.st_mode, before.st_mtime_ns) == (after.st_mode, after.st_mtime_ns), name


def test_links_are_copied_and_never_followed(source: Path) -> None:
    outside = source.with_name("outside")
    outside.mkdir()
    (outside / "secret").write_text("secret")
    links = {"file": str(outside / "secret"), "folder": str(outside), "up": "..", "nowhere": "/no/such"}
    for name, place in links.items():
        (source / name).symlink_to(place)
    os.utime(source / "file", ns=(1, 2), follow_symlinks=False)
    target = copy(source)
    assert {place.name: str(place.readlink()) for place in target.iterdir()} == links
    assert (target / "file").lstat().st_mtime_ns == 2
    assert {place.name for place in outside.iterdir()} == {"secret"}


def test_sockets_and_pipes_are_left_out(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(source / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(source)
        listener.bind("socket")
        (source / "file").touch()
        target = copy(source)
    assert [place.name for place in target.iterdir()] == ["file"]


def test_files_with_several_names_and_with_holes_take_no_more_room(source: Path) -> None:
    (source / "one").write_bytes(b"x" * 1000)
    (source / "folder").mkdir()
    for name in ("two", "folder/three"):
        os.link(source / "one", source / name)
    with (source / "sparse").open("wb") as file:
        file.truncate(1024 * MIB)
        file.seek(512 * MIB)
        file.write(b"middle")
    target = copy(source)
    assert (target / "one").stat().st_nlink == 3
    assert (target / "folder" / "three").read_bytes() == b"x" * 1000
    assert (target / "sparse").stat().st_size == 1024 * MIB
    assert (target / "sparse").stat().st_blocks * 512 < MIB
    with (target / "sparse").open("rb") as file:
        file.seek(512 * MIB)
        assert file.read(7) == b"middle\0"


def test_what_is_closed_to_its_owner_is_copied_and_stays_closed(source: Path) -> None:
    (source / "folder" / "below").mkdir(parents=True)
    (source / "folder" / "below" / "file").write_text("x")
    (source / "file").write_text("x")
    for place in (
        source / "folder" / "below" / "file",
        source / "folder" / "below",
        source / "folder",
        source / "file",
    ):
        place.chmod(0)
    target = copy(source)
    for folder in (source, target):
        assert [stat.S_IMODE((folder / name).stat().st_mode) for name in ("file", "folder")] == [0, 0]
        (folder / "folder").chmod(0o700)
        assert stat.S_IMODE((folder / "folder" / "below").stat().st_mode) == 0
        (folder / "folder" / "below").chmod(0o700)
        (folder / "folder" / "below" / "file").chmod(0o600)
        assert (folder / "folder" / "below" / "file").read_text() == "x"


def test_any_number_of_folders_within_each_other_is_copied(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    depth = 1500
    monkeypatch.chdir(source)
    try:
        for _ in range(depth):
            Path("d").mkdir()
            os.chdir("d")
        Path("bottom").write_text("x")
        os.chdir(source)
        target = copy(source)
        os.chdir(target)
        for _ in range(depth):
            os.chdir("d")
        assert Path("bottom").read_text() == "x"
    finally:
        os.chdir(source.parent)
        wipe(source)
        wipe(source.with_name("target"))


def test_folders_that_are_moved_away_meanwhile_lead_nowhere(source: Path) -> None:
    """The customer moves the folder that is copied to another place: what lies there is not taken for its parent's."""
    outside = source.with_name("outside")
    (outside / "beside").mkdir(parents=True)
    (outside / "beside" / "secret").write_text("secret")
    (source / "a" / "b" / "c").mkdir(parents=True)
    (source / "a" / "b" / "c" / "file").write_text("x")
    (source / "a" / "b" / "beside").mkdir()
    (source / "beside").mkdir()
    (source / "beside" / "file").write_text("y")

    def move() -> bool:
        target = source.with_name("target")
        if (target / "a" / "b" / "c").exists() and not (outside / "b").exists():
            (source / "a" / "b").rename(outside / "b")
        return True

    target = copy(source, needed=move)
    assert (outside / "b").exists(), "it was moved"
    assert (target / "a" / "b" / "c" / "file").read_text() == "x"
    assert (target / "beside" / "file").read_text() == "y"
    assert not list(target.rglob("secret"))


def test_files_that_vanish_or_shrink_meanwhile_are_no_error(source: Path) -> None:
    for number in range(5):
        (source / str(number)).write_text("x" * 1000)
    calls = []

    def vanish() -> bool:
        calls.append(1)
        if len(calls) == 4:
            for place in source.iterdir():
                place.unlink()
        return True

    target = copy(source, needed=vanish)
    assert 1 <= len(list(target.iterdir())) < 5


def test_a_copy_has_its_limit_and_ends_when_it_is_not_wanted(source: Path) -> None:
    (source / "file").write_bytes(b"x" * 2000)
    with pytest.raises(TooLarge):
        copy(source, limit=1000)
    wipe(source.with_name("target"))
    with pytest.raises(Stopped):
        copy(source, needed=lambda: False)


def test_a_link_in_the_place_of_the_folder_is_not_followed(source: Path) -> None:
    (source / "link").symlink_to(source.parent)
    (source / "within").mkdir()
    assert open_folder(source / "link") is None
    assert open_folder(source, "link", "source") is None
    folder = open_folder(source, "within")
    assert folder is not None
    folder.leave()
