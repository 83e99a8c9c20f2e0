"""The built-in shell of Poplar servers, for machines that cannot confine a customer's programs: it runs none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.machine import Need, needs
from tests.support.openssh import OpenSsh, make_key
from tests.support.site import BUILT_IN, running_site
from tests.support.tenant import Tenant

pytestmark = needs(Need.OPENSSH)


@pytest.fixture(scope="module")
def tenant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tenant]:
    with running_site(tmp_path_factory.mktemp("site"), options=["--machines-on", *BUILT_IN]) as site:
        yield Tenant(site)


@pytest.fixture(scope="module")
def login(tenant: Tenant, tmp_path_factory: pytest.TempPathFactory) -> OpenSsh:
    folder = tmp_path_factory.mktemp("key")
    key = make_key(folder)
    tenant.build([key.public_line])
    return OpenSsh(tenant.ssh(), key, folder / "known_hosts")


def output(login: OpenSsh, command: str) -> str:
    done = login.ssh(command)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_a_login_says_that_there_are_no_programs_and_why(login: OpenSsh) -> None:
    said = login.ssh(flags=["-tt"], stdin=b"exit\n").stdout.decode()
    assert "with a built-in shell instead of programs" in said
    assert "the site was started with --shell built-in" in said


@pytest.mark.parametrize("path", ["/etc/passwd", "../../../../../../etc/passwd", "//etc/passwd", "~/../../etc/passwd"])
def test_no_path_leads_to_this_machine(login: OpenSsh, tmp_path: Path, path: str) -> None:
    assert login.ssh(f"cat {path}").returncode != 0
    assert login.sftp(f"get {path} {tmp_path / 'stolen'}\n").returncode != 0
    assert login.scp(f":{path}", str(tmp_path / "stolen"), legacy=True).returncode != 0
    assert not (tmp_path / "stolen").exists()


def test_no_link_leads_to_this_machine(login: OpenSsh) -> None:
    for batch in ("ln -s /etc/passwd link\n", "ln -s ../../../../../../../etc/passwd link\n", "ln /etc/passwd link\n"):
        assert login.sftp(batch).returncode != 0
    assert "link" not in output(login, "ls -a")


def test_uploaded_files_carry_no_set_id_bits(tenant: Tenant, login: OpenSsh, tmp_path: Path) -> None:
    source = tmp_path / "tool"
    source.write_bytes(b"#!/bin/sh\n")
    assert login.sftp(f"put {source} tool\nchmod 6755 tool\n").returncode == 0
    stored = tenant.site.data / "hosts" / tenant.host / "disk" / "home" / "ubuntu" / "tool"
    assert stored.stat().st_mode & 0o7777 == 0o755


def test_no_program_of_this_machine_runs(login: OpenSsh) -> None:
    for command in ("python3 -c 1", "/bin/bash -c 'id'", "$(id)", "`id`", "env id; /usr/bin/id"):
        done = login.ssh(command)
        assert b"uid=" not in done.stdout + done.stderr


def test_nothing_is_forwarded(login: OpenSsh, tenant: Tenant) -> None:
    port = tenant.site.url.rsplit(":", 1)[1]
    done = login.ssh(flags=["-W", f"127.0.0.1:{port}"], stdin=b"GET / HTTP/1.0\r\n\r\n")
    assert done.returncode != 0
    assert b"HTTP" not in done.stdout


def test_links_that_another_shell_left_are_not_followed(tenant: Tenant, login: OpenSsh, tmp_path: Path) -> None:
    """The disk of a server may be older than the way this site is started."""
    (tmp_path / "secret").write_text("secret")
    home = tenant.site.data / "hosts" / tenant.host / "disk" / "home" / "ubuntu"
    (home / "link").symlink_to(tmp_path / "secret")
    (home / "folder").symlink_to(tmp_path)
    for path in ("link", "folder/secret"):
        assert login.ssh(f"cat {path}").returncode != 0
        assert login.sftp(f"get {path} {tmp_path / 'stolen'}\n").returncode != 0
        assert login.ssh(f"echo planted > {path}").returncode != 0
    assert not (tmp_path / "stolen").exists()
    assert (tmp_path / "secret").read_text() == "secret"
