"""People at the command line: members, invitations, logins, notifications, audit log, against a real HTTP server."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.support.scripted import Reply, Service, problem
from tests.unit.cli.conftest import Run

ANN = {"id": "m1", "email": "ann@example.com", "role": "viewer", "verified": False}
OPEN = {"id": "i1", "email": "bob@example.com", "role": "operator", "state": "open", "emailed": False}
LINK = "https://ipucloud.test/invitation#secret=ipi_x"


def test_a_person_is_invited_and_the_link_shown(run: Run, service: Service) -> None:
    service.on("POST", "/v1/projects/demo/invitations", Reply(201, OPEN | {"url": LINK, "secret": "ipi_x"}))
    run("members", "invite", "bob@example.com").shows(LINK)
    assert service.requests[-1].body == {"email": "bob@example.com", "role": "operator"}
    service.on("POST", "/v1/billing/accounts/research/invitations", Reply(201, OPEN | {"url": LINK, "secret": "x"}))
    assert run("members", "invite", "bob@example.com", "--account", "research", "--json").json["url"] == LINK
    assert service.requests[-1].body == {"email": "bob@example.com"}
    assert run("members", "invite", "bob@example.com", "--account", "research", "--role", "owner").status == 2


def test_where_the_link_is_sent_to_the_person_that_is_said(run: Run, service: Service) -> None:
    sent = OPEN | {"emailed": True, "url": None, "secret": None}
    service.on("POST", "/v1/projects/demo/invitations", Reply(201, sent))
    shown = run("members", "invite", "bob@example.com")
    assert "emailed to" in shown.out
    assert "lost" not in shown.err
    service.on("POST", "/v1/projects/demo/invitations", Reply(201, sent | {"emailed": False}))
    assert "was lost in transit" in run("members", "invite", "bob@example.com").err


def test_members_are_listed_changed_and_removed_by_email(run: Run, service: Service) -> None:
    service.lists("/v1/projects/demo/members", [ANN])
    service.on("PATCH", "/v1/projects/demo/members/m1", Reply(200, ANN | {"role": "owner"}))
    service.on("DELETE", "/v1/projects/demo/members/m1", Reply(204))
    assert "ann@example.com" in run("members", "list").out
    assert run("members", "set-role", "ann@example.com", "owner", "--json").json["role"] == "owner"
    assert run("members", "remove", "ann@example.com").status == 0
    run("members", "remove", "anna@example.com").fails(3, "ann@example.com")


def test_invitations_are_listed_renewed_and_revoked_by_email(run: Run, service: Service) -> None:
    path = "/v1/projects/demo/invitations"
    service.lists(path, [OPEN | {"id": "i0", "state": "revoked"}, OPEN])
    service.on("POST", f"{path}/i1:renew", Reply(200, OPEN | {"url": LINK, "secret": "ipi_x"}))
    service.on("DELETE", f"{path}/i1", Reply(204))
    assert run("invitations", "list", "--open").status == 0
    assert service.requests[-1].query["open"] == "true"
    assert LINK in run("invitations", "renew", "bob@example.com").out
    assert run("invitations", "revoke", "bob@example.com").status == 0


@pytest.mark.usefixtures("bare")
def test_people_log_in_and_out(run: Run, service: Service, monkeypatch: pytest.MonkeyPatch, config_dir: Path) -> None:
    got = {"name": "desk", "role": "operator", "token": "ipu_x", "owner": "ann@example.com", "project": "lab"}
    service.on("POST", "/v1/login", Reply(201, got))
    monkeypatch.setattr("sys.stdin", io.StringIO("quiet-harbour-42-lamp\n"))
    ended = run("login", "--url", service.url, "--email", "ann@example.com", "--json")
    assert (ended.json["project"], ended.json["role"], ended.json["email"]) == ("lab", "operator", "ann@example.com")
    sent = service.requests[-1].body
    assert (sent["email"], sent["password"]) == ("ann@example.com", "quiet-harbour-42-lamp")
    kept = (config_dir / "config.json").read_text()
    assert "quiet-harbour" not in kept
    assert json.loads(kept)["profiles"]["default"]["token"] == "ipu_x"

    service.on("DELETE", "/v1/login", problem(503, "unavailable", "Not now."))
    assert run("logout").status == 6  # the token may work still: the profile that has it stays
    assert "ipu_x" in (config_dir / "config.json").read_text()
    service.on("DELETE", "/v1/login", Reply(204))
    assert run("logout").status == 0
    assert service.requests[-1].headers["authorization"] == "Bearer ipu_x"
    assert "ipu_x" not in (config_dir / "config.json").read_text()


@pytest.mark.usefixtures("bare")
def test_a_login_waits_until_a_person_approves_it(
    run: Run, service: Service, monkeypatch: pytest.MonkeyPatch, config_dir: Path
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("ipucloud.cli.browsers.sleep", pauses.append)
    page = "https://ipucloud.test/device"
    device = {"device_code": "ipd_x", "user_code": "WDJB-MJHT", "verification_uri": page, "interval": 5}
    service.on(
        "POST", "/v1/login/devices", Reply(201, device | {"verification_uri_complete": f"{page}?code=WDJB-MJHT"})
    )
    waiting = [problem(400, code, "Not yet.") for code in ("authorization_pending", "slow_down")]
    got = {"name": "desk", "role": "viewer", "token": "ipu_x", "owner": "ann@example.com", "project": "lab"}
    service.on("POST", "/v1/login/devices:token", *waiting, Reply(201, got))
    ended = run("login", "--url", service.url, "--device", "--project", "lab", "--json")
    assert ended.json["email"] == "ann@example.com"
    assert "enter the code WDJB-MJHT." in ended.err
    assert page in ended.err
    assert pauses == [5.0, 5.0, 10.0]
    assert "ipu_x" in (config_dir / "config.json").read_text()

    service.on("POST", "/v1/login/devices:token", problem(400, "access_denied", "The login was denied."))
    run("login", "--url", service.url, "--device", "--profile", "other").fails(2, "denied")
    assert run("login", "--url", service.url, "--device", "--email", "ann@example.com").status == 2


def test_a_wrong_password_stores_nothing(
    run: Run, service: Service, monkeypatch: pytest.MonkeyPatch, config_dir: Path
) -> None:
    monkeypatch.delenv("IPUCLOUD_TOKEN")
    service.on("POST", "/v1/login", problem(401, "unauthenticated", "Wrong."))
    monkeypatch.setattr("sys.stdin", io.StringIO("wrong\n"))
    assert run("login", "--url", service.url, "--email", "ann@example.com").status == 4
    assert not (config_dir / "config.json").exists()


def test_a_password_is_changed(run: Run, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    service.on("PUT", "/v1/me/password", Reply(204))
    monkeypatch.setattr("sys.stdin", io.StringIO("old-one\nlantern-ferry-basil-09\n"))
    assert run("password").status == 0
    assert service.requests[-1].body == {"current_password": "old-one", "new_password": "lantern-ferry-basil-09"}


def test_a_person_sees_where_it_is_a_member(run: Run, service: Service) -> None:
    token = {"id": "t1", "name": "desk", "role": "viewer", "display_prefix": "ipu", "owner": "ann@example.com"}
    me: dict[str, object] = {"role": "viewer", "token": token, "scopes": [], "project": None}
    service.gives("/v1/whoami", me)
    service.gives("/v1/me", me | {"memberships": [{"id": "m1", "role": "owner", "project": "lab"}]})
    run("whoami").shows("ann@example.com", "lab (owner)")


ENTRY = {
    "id": "e1",
    "operation": "deleteCluster",
    "actor": "ann@example.com",
    "status": 409,
    "code": "delete_protected",
    "state": "completed",
    "address": "192.0.2.7",
}


def test_who_asked_for_what_is_shown_with_the_result(run: Run, service: Service) -> None:
    service.lists("/v1/projects/demo/audit-log", [ENTRY, ENTRY | {"status": None, "code": None, "state": "abandoned"}])
    run("audit-log", "--actor", "ann@example.com", "--writes").shows("409 delete_protected", "abandoned")
    assert (service.requests[-1].query["actor"], service.requests[-1].query["writes"]) == ("ann@example.com", "true")


def test_operators_see_every_project(run: Run, service: Service) -> None:
    service.lists("/v1/operator/audit-log", [ENTRY])
    assert run("audit-log", "--platform", "--of", "lab", "--json").json[0]["operation"] == "deleteCluster"
    assert service.requests[-1].query["project"] == "lab"
    assert run("audit-log", "--of", "lab").status == 2


NOTIFICATIONS = "/v1/me/notifications"
OTHER = {"project_id": "p2", "project": "lab", "event_types": ["budget.*"]}
OURS = {"project_id": "p1", "project": "demo", "event_types": ["cluster.*"]}
FOUND = {"available": True, "email": "ann@example.com", "language": "de", "subscriptions": [OURS, OTHER]}


def test_choosing_and_stopping_leave_other_projects_alone(run: Run, service: Service) -> None:
    service.on("GET", NOTIFICATIONS, Reply(200, FOUND))
    service.on("PUT", NOTIFICATIONS, Reply(200, FOUND))
    assert "budget.*" in run("notifications", "show").out
    assert run("notifications", "set", "operation.failed", "--language", "en").status == 0
    kept = {"project": "lab", "event_types": ["budget.*"]}
    added = {"project": "demo", "event_types": ["operation.failed"]}
    assert service.requests[-1].body == {"language": "en", "subscriptions": [kept, added]}
    assert run("notifications", "stop", "--json").json["email"] == "ann@example.com"
    assert service.requests[-1].body == {"language": "de", "subscriptions": [kept]}
