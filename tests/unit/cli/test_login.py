"""Stored profiles: who a command acts as, and at which service."""

from __future__ import annotations

import io
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from ipucloud.cli.commands.login import ask
from ipucloud.client import Client, UsageError, tokens
from tests.support.scripted import Reply, Service, problem
from tests.unit.cli.conftest import Run

OWNER = {"role": "owner", "project": {"id": "p", "number": 1, "slug": "demo"}}
ADMIN = {"role": "admin", "project": None}


@pytest.fixture
def login(run: Run, service: Service, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`ipucloud login` of someone whose token comes from a pipe."""

    def login(token: str, me: object, *options: str) -> Any:
        service.gives("/v1/whoami", me)
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{token}\n"))
        return run("login", "--url", service.url, *options)

    return login


def bearer(service: Service) -> str:
    return service.requests[-1].headers["authorization"].removeprefix("Bearer ")


@pytest.mark.usefixtures("bare")
def test_login_stores_a_token_for_this_user_alone(run: Run, login: Run, service: Service, config_dir: Path) -> None:
    assert "ipucloud login" in run("whoami").err
    assert login("piped-token", OWNER).status == 0
    assert stat.S_IMODE((config_dir / "config.json").stat().st_mode) == 0o600
    ended = run("whoami", "--json")
    assert ended.json["role"] == "owner"
    assert bearer(service) == "piped-token"


@pytest.mark.usefixtures("bare")
def test_each_profile_has_its_token(run: Run, login: Run, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    service.gives("/v1/projects/demo", OWNER["project"])
    login("owners", OWNER)
    assert login("admins", ADMIN, "--profile", "admin", "--project", "demo").status == 0
    run("whoami")
    assert bearer(service) == "owners"
    run("whoami", "--profile", "admin")
    assert bearer(service) == "admins"
    monkeypatch.setenv("IPUCLOUD_PROFILE", "admin")
    run("whoami")
    assert bearer(service) == "admins"
    monkeypatch.setenv("IPUCLOUD_TOKEN", "from-the-environment")
    run("whoami")
    assert bearer(service) == "from-the-environment"
    run("whoami", "--profile", "admin")
    assert bearer(service) == "admins"
    listed = run("profiles", "--json").json
    assert [(each["name"], each["project"], each["role"], each["used"]) for each in listed] == [
        ("default", None, "owner", False),
        ("admin", "demo", "admin", True),
    ]
    assert "owners" not in run("profiles").out


@pytest.mark.usefixtures("bare")
def test_programs_use_the_profile_too_and_its_token_at_its_url_only(login: Run, service: Service) -> None:
    with pytest.raises(UsageError, match="ipucloud login"):
        Client()
    login("owners", OWNER)
    with Client() as client:
        client.run(tokens.whoami())
    assert bearer(service) == "owners"
    with pytest.raises(UsageError, match="the token of the service"):
        Client("https://ipucloud.example")


@pytest.mark.usefixtures("bare")
def test_a_profile_that_is_deleted_is_no_longer_known(run: Run, login: Run) -> None:
    login("owners", OWNER)
    login("admins", ADMIN, "--profile", "admin")
    assert run("logout", "--profile", "admin").status == 0
    ended = run("whoami", "--profile", "admin")
    assert (ended.status, ended.out) == (3, "")
    assert "There is no profile admin. There are: default." in ended.err
    assert run("logout", "--profile", "admin").status == 3


def test_login_stores_nothing_that_the_service_refuses(run: Run, service: Service, config_dir: Path) -> None:
    service.on("GET", "/v1/whoami", problem(401, "unauthenticated", "Send a valid token."))
    assert run("login").status == 4
    service.gives("/v1/whoami", OWNER)
    service.on("GET", "/v1/projects/demo", problem(404, "not_found", "There is no such project."))
    assert run("login").status == 3
    assert run("login", "--profile", "../x").status == 2
    assert not config_dir.exists()


@pytest.mark.parametrize("content", ["{", "[]", '{"profiles": []}', '{"profiles": {"default": 1}}'])
def test_a_broken_file_of_profiles_is_said_to_be_one(run: Run, config_dir: Path, content: str) -> None:
    config_dir.mkdir()
    (config_dir / "config.json").write_text(content)
    run("whoami").fails(2, "config.json is not a file of profiles")


@pytest.mark.usefixtures("bare")
def test_a_refusal_names_the_profile_that_may(run: Run, login: Run, service: Service) -> None:
    login("owners", OWNER)
    refused = problem(403, "permission_denied", "This needs platform:write.", roles=["admin"])
    service.on("POST", "/v1/projects", refused)
    stderr = run("projects", "create", "nlp").err
    assert "`ipucloud login --profile NAME`" in stderr
    assert "A platform administrator can run `ipucloud projects create`" in stderr
    login("admins", ADMIN, "--profile", "admin")
    run("projects", "create", "nlp").fails(4, "Profile admin has the role admin: add --profile admin.")


KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGsLsPG0tEBYgAJSQm/bNPNAkrF3HXFGDWmMvVWOWcU1 me@laptop"
FINGERPRINT = "SHA256:zLk2lEMq0m0oS17fu7Qwv5qOILjZ8q+k3bdFR5T3/Pw"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without keys, whose machine has an SSH client."""
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "ssh").touch(mode=0o755)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return tmp_path / "home"


def serve_everything(service: Service) -> None:
    service.gives("/livez", {"status": "alive", "version": "0.1.0"})
    service.gives("/v1/whoami", OWNER)
    service.gives("/v1/projects/demo", OWNER["project"])
    service.lists("/v1/projects/demo/ssh-keys", [])
    service.lists("/v1/projects/demo/clusters", [])


def results(document: Any) -> dict[str, str]:
    return {each["check"]: each["result"] for each in document["checks"]}


def test_the_doctor_leads_to_a_first_cluster(run: Run, service: Service, home: Path) -> None:
    serve_everything(service)
    first = run("doctor", "--json")
    assert (first.status, first.json["ok"], first.json["next"]) == (0, True, "ssh-keygen -t ed25519")
    (home / ".ssh" / "id_ed25519.pub").write_text(KEY)
    second = run("doctor", "--json").json
    assert second["next"] == "ipucloud ssh-keys create laptop ~/.ssh/id_ed25519.pub"
    key = {"id": "k", "name": "laptop", "fingerprint": FINGERPRINT, "public_key": KEY}
    service.lists("/v1/projects/demo/ssh-keys", [key])
    third = run("doctor", "--json").json
    assert set(results(third).values()) == {"ok"}
    assert third["next"].startswith("ipucloud clusters create")
    lines = run("doctor").out.splitlines()
    assert [line.split()[0] for line in lines[:-2]] == ["ok"] * len(third["checks"])
    assert lines[-1] == f"Next: {third['next']}"


@pytest.mark.parametrize(
    ("path", "reply", "expected"),
    [
        ("/livez", Reply(404, raw=b"nothing here"), ("service", "failed")),
        ("/livez", Reply(body={"status": "alive", "version": "9.9.9"}), ("version", "warning")),
        (
            "/livez",
            Reply(body={"status": "alive", "version": "0.1.0"}, headers={"Date": "Thu, 01 Jan 2026 00:00:00 GMT"}),
            ("clock", "warning"),
        ),
        (
            "/livez",
            Reply(body={"version": "0.1.0"}, headers={"Date": "Fri, 31 Dec 99999999999999999999 23:59:59 GMT"}),
            ("clock", "warning"),
        ),
        ("/v1/whoami", problem(401, "unauthenticated", "Send a valid token."), ("token", "failed")),
        ("/v1/projects/demo", problem(404, "not_found", "There is no such project."), ("project", "failed")),
    ],
)
@pytest.mark.usefixtures("home")
def test_the_doctor_finds_what_is_wrong(
    run: Run, service: Service, path: str, reply: Reply, expected: tuple[str, str]
) -> None:
    check, result = expected
    serve_everything(service)
    service.on("GET", path, reply)
    ended = run("doctor", "--json")
    assert ended.status == (1 if result == "failed" else 0)
    assert results(ended.json)[check] == result
    [entry] = [each for each in ended.json["checks"] if each["check"] == check]
    assert entry["remedy"]


@pytest.mark.usefixtures("bare", "home")
def test_the_doctor_begins_with_what_is_not_configured(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    ended = run("doctor", "--json")
    assert ended.status == 1
    assert results(ended.json) == {"profile": "failed", "ssh": "failed", "ssh key": "warning"}
    assert ended.json["next"] == "ipucloud login"


@pytest.mark.usefixtures("home")
def test_the_doctor_says_that_a_service_cannot_be_reached(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPUCLOUD_URL", "http://127.0.0.1:1")
    ended = run("doctor", "--json")
    assert ended.status == 1
    assert results(json.loads(ended.out))["service"] == "failed"


def test_a_password_keeps_the_spaces_at_its_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(" a quiet harbour \r\n"))
    assert ask("Password", hidden=True) == " a quiet harbour "
    monkeypatch.setattr("sys.stdin", io.StringIO(" https://api.example.com \n"))
    assert ask("URL of the service") == "https://api.example.com"
