"""SSH certificates of `ipucloud clusters ssh`: asked for, kept, used, and done without."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.machine import Need, needs
from tests.support.scripted import Reply, Service, problem
from tests.unit.cli.conftest import Run
from tests.unit.cli.test_commands import CLUSTER_ID, serve_cluster

pytestmark = needs(Need.OPENSSH)

SIGN = f"/v1/projects/demo/clusters/{CLUSTER_ID}:sign-ssh-key"
PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGsLsPG0tEBYgAJSQm/bNPNAkrF3HXFGDWmMvVWOWcU1"


def issued(seconds: float, *, ahead: float = 0) -> Reply:
    """`ahead`: of this machine's clock, the service's."""
    start, until = (
        datetime.fromtimestamp(time.time() + ahead + each, UTC).replace(microsecond=0).isoformat()
        for each in (-60, seconds)
    )
    return Reply(
        body={
            "certificate": "ssh-ed25519-cert-v01@openssh.com AAAA ada@example.com#17",
            "key_id": "ada@example.com#17",
            "serial": 17,
            "fingerprint": "SHA256:a",
            "authority": "SHA256:b",
            "valid_from": start,
            "valid_until": until,
        }
    )


def serve(service: Service, *answers: Reply) -> None:
    serve_cluster(service)
    service.on("POST", SIGN, *answers)


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with what a program in the place of OpenSSH was called with; it fails while there is `refuse`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    refusing = f'[ -e {folder}/refuse ] && echo "Permission denied (publickey)." > "$2" && exit 255'
    (folder / "ssh").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {folder}/arguments\n{refusing}\nexit 0\n')
    (folder / "ssh").chmod(0o700)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    return folder / "arguments"


def times_asked(service: Service) -> int:
    return service.calls().count(f"POST {SIGN}")


def test_a_certificate_is_asked_for_once_and_used_beside_the_usual_keys(
    run: Run, service: Service, config_dir: Path, ssh: Path, tmp_path: Path
) -> None:
    serve(service, issued(3600))
    usual = tmp_path / ".ssh" / "id_ed25519"
    usual.parent.mkdir()
    usual.touch()
    assert [run("clusters", "ssh", "bert", "--", "true").status for _ in range(2)] == [0, 0]
    assert times_asked(service) == 1
    options = [each for each in ssh.read_text().splitlines() if each.startswith(("IdentityFile=", "CertificateFile="))]
    [certificate] = config_dir.glob("ssh-certificates/*/*/until-*")
    assert options == [
        f'IdentityFile="{certificate}/key"',
        f'CertificateFile="{certificate}/key-cert.pub"',
        f'IdentityFile="{usual}"',
    ]
    assert (certificate / "key-cert.pub").read_text().endswith("ada@example.com#17\n")
    assert {each.stat().st_mode & 0o077 for each in (certificate, certificate / "key", certificate.parent)} == {0}


def test_one_that_ends_soon_is_replaced_and_one_that_has_ended_removed(
    run: Run, service: Service, config_dir: Path, ssh: Path
) -> None:
    serve(service, issued(-10), issued(60), issued(3600))
    for _ in range(4):
        assert run("clusters", "ssh", "bert", "--", "true").status == 0
    assert times_asked(service) == 3
    assert len([*config_dir.glob("ssh-certificates/*/*/until-*")]) == 2


def test_one_that_a_server_refuses_is_forgotten(run: Run, service: Service, config_dir: Path, ssh: Path) -> None:
    serve(service, issued(3600), issued(3600))
    (ssh.parent / "refuse").touch()
    assert run("clusters", "ssh", "bert", "--", "true").status == 255
    assert [*config_dir.glob("ssh-certificates/*/*/*")] == []
    (ssh.parent / "refuse").unlink()
    assert run("clusters", "ssh", "bert", "--", "true").status == 0
    assert times_asked(service) == 2


@pytest.mark.parametrize("status", [403, 404, 409, 501])
def test_without_one_usual_keys_are_used(run: Run, service: Service, config_dir: Path, ssh: Path, status: int) -> None:
    serve(service, problem(status, "refused", "There is none for you."))
    ended = run("clusters", "ssh", "bert", "--", "true")
    assert (ended.status, "none for you" in ended.err) == (0, False)
    assert "CertificateFile" not in ssh.read_text()
    (ssh.parent / "refuse").touch()
    run("clusters", "ssh", "bert", "--", "true").fails(255, "You have no SSH certificate: There is none for you.")
    assert [*config_dir.glob("ssh-certificates/*/*/*")] == []


def test_who_chooses_a_key_gets_no_certificate(run: Run, service: Service, ssh: Path, tmp_path: Path) -> None:
    serve(service)
    (tmp_path / "mine").touch()
    assert run("clusters", "ssh", "bert", "-i", str(tmp_path / "mine"), "--", "true").status == 0
    assert times_asked(service) == 0


def test_a_key_of_ones_own_gets_its_certificate_beside_it(run: Run, service: Service, tmp_path: Path) -> None:
    serve(service, issued(7200))
    (tmp_path / "id_ed25519.pub").write_text(f"{PUBLIC_KEY} laptop\n")
    run("ssh-keys", "sign", "bert", str(tmp_path / "id_ed25519.pub"), "--hours", "2").shows("ada@example.com#17")
    assert (tmp_path / "id_ed25519-cert.pub").read_text().startswith("ssh-ed25519-cert-v01@openssh.com")
    [request] = [each for each in service.requests if each.path == SIGN]
    assert request.body == {"public_key": f"{PUBLIC_KEY} laptop", "valid_seconds": 7200}
    (tmp_path / "id_ed25519").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    assert run("ssh-keys", "sign", "bert", str(tmp_path / "id_ed25519")).status == 2


def test_the_authority_is_shown_and_rotated(run: Run, service: Service) -> None:
    authority = {"fingerprint": "SHA256:b", "pending_clusters": ["bert"]}
    service.gives("/v1/projects/demo/ssh-authority", authority)
    service.on("POST", "/v1/projects/demo/ssh-authority:rotate", Reply(body=authority | {"fingerprint": "SHA256:c"}))
    assert "SHA256:b" in run("ssh-keys", "authority").out
    rotated = run("ssh-keys", "rotate-authority").out
    assert ("SHA256:c" in rotated, "bert" in rotated) == (True, True)


def test_a_clock_that_is_hours_behind_keeps_no_certificate_that_has_ended(
    run: Run, service: Service, config_dir: Path, ssh: Path
) -> None:
    serve(service, issued(600, ahead=4 * 3600), issued(600, ahead=4 * 3600))
    assert run("clusters", "ssh", "bert", "--", "true").status == 0
    assert ssh.exists()
    [certificate] = config_dir.glob("ssh-certificates/*/*/until-*")
    until = int(certificate.name.split("-")[1])
    assert until <= time.time() + 600
    certificate.rename(certificate.with_name(certificate.name.replace(str(until), str(int(time.time()) + 60))))
    assert run("clusters", "ssh", "bert", "--", "true").status == 0
    assert times_asked(service) == 2
