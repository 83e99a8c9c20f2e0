"""`ipucloud tokens` against a real HTTP server."""

from __future__ import annotations

from tests.support.scripted import Reply, Service, problem
from tests.unit.cli.conftest import Run


def test_tokens_that_work_are_listed_apart(run: Run, service: Service) -> None:
    service.lists("/v1/projects/demo/tokens", [{"id": "t1", "name": "ci", "role": "viewer"}])
    for options, active in (((), None), (("--active",), "true"), (("--ended",), "false")):
        assert "ci" in run("tokens", "list", *options).out
        assert service.requests[-1].query.get("active") == active


def test_a_new_token_is_shown_and_an_ambiguous_one_is_not_revoked(run: Run, service: Service) -> None:
    path = "/v1/projects/demo/tokens"
    row = {"id": "t1", "name": "ci", "role": "viewer"}
    service.on("POST", path, Reply(201, row | {"token": "shown-once"}))
    service.lists(path, [row, row | {"id": "t2"}])
    service.on("DELETE", f"{path}/t2", Reply(204))
    created = run("tokens", "create", "ci", "--role", "viewer", "--expires-at", "1d", "--json")
    assert created.json["token"] == "shown-once"
    assert run("tokens", "delete", "ci").status == 2
    assert run("tokens", "delete", "t2").status == 0


def test_a_token_is_replaced(run: Run, service: Service) -> None:
    path = "/v1/projects/demo/tokens"
    row = {"id": "t1", "name": "ci", "role": "viewer"}
    ended = row | {"id": "t0", "expires_at": "2020-01-01T00:00:00Z"}
    service.lists(path, [row, ended])
    service.on("POST", f"{path}/t1:rotate", Reply(201, row | {"id": "t2", "token": "shown-once"}))
    assert run("tokens", "rotate", "ci", "--keep", "60", "--json").json["token"] == "shown-once"
    assert service.requests[-1].body == {"keep_previous_seconds": 60}


def test_tokens_of_the_platform(run: Run, service: Service) -> None:
    row = {"id": "t1", "name": "desk", "role": "support"}
    service.lists("/v1/tokens", [row])
    service.on("POST", "/v1/tokens", Reply(201, row | {"token": "shown-once"}))
    service.on("POST", "/v1/tokens/t1:rotate", Reply(201, row | {"id": "t2", "token": "shown-once"}))
    service.on("DELETE", "/v1/tokens/t1", Reply(204))
    assert run("tokens", "create", "desk", "--platform", "--json").json["token"] == "shown-once"
    assert service.requests[-1].body == {"name": "desk", "role": "support"}
    assert "desk" in run("tokens", "list", "--platform").out
    assert run("tokens", "rotate", "desk", "--platform", "--json").json["id"] == "t2"
    assert run("tokens", "delete", "desk", "--platform").status == 0


def test_a_payers_token_is_made_for_an_account_and_spends_show_it(run: Run, service: Service) -> None:
    of = {"id": "account-1", "name": "Research", "currency": "EUR", "payment_days": 30}
    service.gives("/v1/billing/accounts/research", of)
    row = {"id": "t1", "name": "finance", "role": "payer", "account_id": "account-1"}
    service.on("POST", "/v1/tokens", Reply(201, row | {"token": "shown-once"}))
    assert run("tokens", "create", "finance", "--account", "research", "--json").json["token"] == "shown-once"
    assert service.requests[-1].body == {"name": "finance", "role": "payer", "account_id": "account-1"}
    assert run("tokens", "create", "x", "--account", "research", "--role", "owner").status == 2


def test_a_token_is_narrowed_to_scopes_that_every_view_of_it_shows(run: Run, service: Service) -> None:
    path, scopes = "/v1/projects/demo/tokens", ["billing:read", "cluster:read"]
    narrow = {"id": "t1", "name": "ci", "role": "owner", "scopes": scopes, "narrowed": True}
    wide = {"id": "t2", "name": "all", "role": "viewer", "scopes": ["usage:read"], "narrowed": False}
    for token, on in ((narrow, path), (narrow | {"role": "payer"}, "/v1/tokens")):
        service.on("POST", on, Reply(201, token | {"token": "shown-once"}))
    service.lists(path, [narrow, wide])
    options = [word for scope in scopes for word in ("--scope", scope)]
    assert "billing:read" in run("tokens", "create", "ci", "--role", "owner", *options).out
    assert service.requests[-1].body == {"name": "ci", "role": "owner", "scopes": scopes}
    listed = run("tokens", "list").out
    assert ("billing:read, cluster:read" in listed, "usage:read" in listed) == (True, False)
    service.gives("/v1/billing/accounts/research", {"id": "account-1", "name": "Research", "currency": "EUR"})
    run("tokens", "create", "finance", "--account", "research", "--scope", "account:read")
    assert service.requests[-1].body["scopes"] == ["account:read"]
    service.gives("/v1/whoami", {"role": "owner", "token": narrow, "scopes": scopes, "project": None})
    shown = run("whoami").out
    assert ("cluster:read" in shown, "its role has more scopes" in shown) == (True, True)


def test_a_refusal_for_a_scope_asks_for_no_other_role(run: Run, service: Service) -> None:
    detail = "This needs the scope token:read. The role owner has it, but this token was narrowed to cluster:read."
    refused = problem(403, "permission_denied", detail, roles=["owner"], scope="token:read")
    service.on("GET", "/v1/projects/demo/tokens", refused)
    shown = run("tokens", "list")
    assert (detail in shown.err, "--profile" in shown.err) == (True, False)


def test_a_token_of_one_cluster(run: Run, service: Service) -> None:
    path = "/v1/projects/demo/tokens"
    clusters = [{"id": "c1", "name": "bert", "deleted": False}, {"id": "c2", "name": "gpt", "deleted": True}]
    row = {"id": "t1", "name": "nightly", "role": "operator", "clusters": clusters}
    service.on("POST", path, Reply(201, row | {"token": "shown-once"}))
    service.lists(path, [row])
    shown = run("tokens", "create", "nightly", "--cluster", "bert", "--cluster", "gpt")
    assert service.requests[-1].body == {"name": "nightly", "role": "operator", "clusters": ["bert", "gpt"]}
    assert "bert, gpt (deleted)" in shown.out
    assert "bert, gpt (deleted)" in run("tokens", "list").out
    assert run("tokens", "create", "x", "--platform", "--cluster", "bert").status == 2
