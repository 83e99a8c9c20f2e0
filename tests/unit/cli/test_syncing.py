"""What is sent and fetched over SSH, with stand-ins for its programs that behave as reported."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ipucloud.cli import ssh as openssh
from ipucloud.cli import syncing
from ipucloud.cli.ignoring import listed
from ipucloud.cli.syncing import Agree, Remote, Sent, fetch
from ipucloud.client.errors import UsageError
from ipucloud.client.models import PoplarServer, Ssh
from tests.support.machine import Need, need, needs, program

Programs = Callable[..., None]
HERE = """\
while :; do case $1 in -o|-p|-l) shift 2;; -*) shift;; *) break;; esac; done
shift; cd {home}; exec sh -c "$*\"
"""
"""Stands in for ssh: runs the command on this machine."""
RECORD = 'for each; do printf "%s\\n" "$each"; done >> "$(dirname "$0")/../calls"\n'


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Puts programs of these names and texts into the path, each of which first writes down its arguments."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def put(**texts: str) -> None:
        for name, text in texts.items():
            (folder / name).write_text(f"#!/bin/sh\n{RECORD}{text}\n")
            (folder / name).chmod(0o755)

    return put


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    for name in ("a.py", "b.py"):
        (folder / name).write_text(name)
    return folder


def remote(tmp_path: Path, host: str = "192.0.2.1") -> Remote:
    known = {"host_key": "ssh-ed25519 A", "host_key_fingerprint": "SHA256:a"}
    ssh = Ssh.model_validate({"host": host, "port": 22, "user": "ubuntu", "command": "ssh …"} | known)
    server = PoplarServer.model_construct(id="server-1", name="bert-p0", state="running", ssh=ssh)
    return Remote(server, ssh, tmp_path / "known_hosts", None)


def upload(folder: Path, target: str, there: Remote, agree: Agree | None = None, *, rsync: bool = True) -> Sent:
    return syncing.upload(listed(folder), target, there, agree, rsync=rsync)


def calls(tmp_path: Path) -> list[str]:
    return (tmp_path / "calls").read_text().splitlines()


def test_files_that_vanish_are_no_failure_of_rsync(programs: Programs, folder: Path, tmp_path: Path) -> None:
    programs(ssh="exit 0", rsync="echo 4 a.py; exit 24")
    assert upload(folder, "model", remote(tmp_path)) == Sent(1, 2, 4, "rsync")
    assert "-s" not in calls(tmp_path)
    programs(rsync="echo 'rsync error: no space' >&2; exit 11")
    with pytest.raises(UsageError, match="no space"):
        upload(folder, "model", remote(tmp_path))
    programs(rsync="echo 'cannot open a.py' >&2; echo 'rsync error: see previous errors' >&2; exit 23")
    with pytest.raises(UsageError, match=r"cannot open a\.py"):
        upload(folder, "model", remote(tmp_path))


def test_nor_of_sftp_which_stops_at_the_first(programs: Programs, folder: Path, tmp_path: Path) -> None:
    gone = folder / "a.py"
    programs(ssh="exit 0", sftp=f"cat >> {tmp_path}/batch; test -e {gone} || exit 0; rm {gone}; exit 1")
    assert upload(folder, "model", remote(tmp_path), rsync=False) == Sent(1, 2, 4, "sftp")
    assert (tmp_path / "batch").read_text().count("put") == 3  # both, then the one that is left
    programs(sftp="echo 'no space' >&2; exit 1")
    with pytest.raises(UsageError, match="no space"):
        upload(folder, "model", remote(tmp_path), rsync=False)


def test_what_rsync_leaves_out_is_no_pattern_to_it(programs: Programs, folder: Path, tmp_path: Path) -> None:
    for name in ("a[1].txt", "back\\slash", "all\\*"):
        (folder / name).touch()
    (folder / ".venv").mkdir()
    (folder / ".gitignore").write_text("*\n!*.py\n")
    programs(ssh="exit 0", rsync=f"cat > {tmp_path}/excluded")
    assert upload(folder, "model", remote(tmp_path)).of == 2
    excluded = (tmp_path / "excluded").read_text().split("\0")
    assert excluded == ["/.venv/", "/.gitignore", "/a[1].txt".replace("[", "\\["), "/all\\\\\\*", "/back\\slash", ""]
    assert {"--from0", "--exclude-from=-"} <= {*calls(tmp_path)}


@needs(Need.RSYNC)
@pytest.mark.parametrize("target", ["model", "my $model; 'x'"])
def test_rsync_itself_sends_what_is_named_and_says_how_much(
    programs: Programs, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    (home := tmp_path / "home").mkdir()
    programs(ssh=HERE.format(home=home))
    names = ("a[1].txt", "all\\*", "back\\slash", "#x", "data/keep/y.bin", "data/x.bin", ".venv/bin/python")
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("12345")
    (folder / ".gitignore").write_text("a[[]1].txt\nall*\nback*\n.venv\ndata/*\n!data/keep\n")
    (folder / "link").symlink_to("a.py")
    listing = listed(folder)
    assert upload(folder, target, remote(tmp_path)) == Sent(5, 5, listing.size, "rsync")
    there = home / target
    sent = {each.relative_to(there).as_posix() for each in there.rglob("*") if not each.is_dir()}
    assert sent == {*listing.files} == {".gitignore", "#x", "a.py", "b.py", "data/keep/y.bin"}
    (folder / "a.py").write_text("other")
    monkeypatch.setattr(syncing, "LARGE", 0)
    asked: list[int] = []
    assert upload(folder, target, remote(tmp_path), asked.append) == Sent(1, 5, 5, "rsync")
    assert asked == [5]
    assert (there / "a.py").read_text() == "other"


@pytest.mark.parametrize("rsync", [True, False])
def test_more_than_is_sent_without_a_question_is_asked_about(
    programs: Programs, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, rsync: bool
) -> None:
    monkeypatch.setattr(syncing, "LARGE", 7)  # both files have 8 bytes together
    programs(ssh="exit 0", rsync="echo 4 a.py; echo 4 b.py", sftp="cat > /dev/null")
    asked: list[int] = []
    assert upload(folder, "model", remote(tmp_path), asked.append, rsync=rsync).size == 8
    assert asked == [8]

    def refuse(size: int) -> None:
        raise UsageError(f"{size} are too many")

    (tmp_path / "calls").write_text("")
    with pytest.raises(UsageError, match="8 are too many"):
        upload(folder, "model", remote(tmp_path), refuse, rsync=rsync)
    assert ("--dry-run" in calls(tmp_path)) is rsync
    assert "-b" not in calls(tmp_path)
    monkeypatch.setattr(syncing, "LARGE", 8)
    upload(folder, "model", remote(tmp_path), refuse, rsync=rsync)


def test_ipv6_addresses_have_brackets_and_names_are_read_by_no_shell(
    programs: Programs, folder: Path, tmp_path: Path
) -> None:
    programs(ssh="exit 0", rsync="exit 0", sftp="cat > /dev/null", scp="exit 0")
    there = remote(tmp_path, "2001:db8::1")
    upload(folder, "my $model", there)
    assert calls(tmp_path)[-1] == "ubuntu@[2001:db8::1]:my $model/"
    assert "-s" in calls(tmp_path)
    upload(folder, "model", there, rsync=False)
    assert calls(tmp_path)[-1] == "ubuntu@[2001:db8::1]"
    fetch("results", tmp_path, there)
    assert calls(tmp_path)[-2] == "ubuntu@[2001:db8::1]:results"


def test_the_configuration_of_the_customer_keeps_no_command_from_running(tmp_path: Path) -> None:
    need(Need.OPENSSH)
    config = tmp_path / "config"
    config.write_text("Host *\n  ControlMaster auto\n  ControlPath /tmp/%C\n  RemoteCommand tmux\n")
    there = remote(tmp_path / "50%d off")
    options = openssh.options(there.server, there.known_hosts, tmp_path / "50%d off" / "key")
    shown = subprocess.run(
        [program("ssh"), "-G", "-F", str(config), *options, "host", "true"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert "controlmaster false" in shown
    assert not [line for line in shown if line.startswith(("remotecommand tmux", "controlpath /tmp"))]
    assert {"serveraliveinterval 15", "connecttimeout 20"} <= {*shown}
    assert any(line.startswith("identityfile") and "50%%d off" in line for line in shown)
