"""`ipucloud webhooks`: the event types, a misspelt one, and what deletion answers."""

from __future__ import annotations

from tests.support.scripted import Reply, Service
from tests.unit.cli.conftest import Run

TYPE = {"type": "cluster.active", "meaning": "The cluster is ready for use.", "subject_types": ["cluster"]}
REPAIRED = {"type": "audit.repaired", "meaning": "An audit repaired it.", "subject_types": [], "added": "later"}


def test_the_types_are_listed_with_what_they_mean(run: Run, service: Service) -> None:
    service.lists("/v1/event-types", [REPAIRED, TYPE | {"data_schema": {"type": "object"}}])
    run("webhooks", "event-types").shows("The cluster is ready for use.", "any")
    [repaired, active] = run("webhooks", "event-types", "--json").json
    assert (repaired["data_schema"], active["data_schema"]) == (None, {"type": "object"})


def test_a_misspelt_type_is_told_with_the_nearest_ones(run: Run, service: Service) -> None:
    detail = "`cluster.actve` matches no event type; did you mean `cluster.active`? GET /v1/event-types lists all."
    fault = {"pointer": "/event_types/0", "code": "unknown_event_type", "detail": detail}
    refusal = {"code": "validation_failed", "detail": "Correct the fields.", "errors": [fault]}
    service.on("POST", "/v1/projects/demo/webhooks", Reply(422, refusal))
    run("webhooks", "create", "https://hooks.example.com/", "--event-type", "cluster.actve").fails(
        2, "did you mean `cluster.active`?"
    )


def test_a_deleted_webhook_is_one_document(run: Run, service: Service) -> None:
    service.lists("/v1/projects/demo/webhooks", [{"id": "w1", "url": "https://hook.example"}])
    service.on("DELETE", "/v1/projects/demo/webhooks/w1", Reply(204))
    assert run("webhooks", "delete", "https://hook.example", "--json").json == {"deleted": "w1"}


def test_a_webhook_is_shown_and_changed(run: Run, service: Service) -> None:
    path, webhook = "/v1/projects/demo/webhooks", {"id": "w-1", "url": "https://a.example/", "description": "alerts"}
    service.lists(path, [webhook])
    service.gives(f"{path}/w-1", webhook)
    service.on("PATCH", f"{path}/w-1", Reply(body=webhook))
    assert "alerts" in run("webhooks", "show", "alerts").out
    assert run("webhooks", "update", "alerts", "--event-type", "cluster.*", "--description", "builds").status == 0
    assert service.requests[-1].body == {"event_types": ["cluster.*"], "description": "builds"}
    assert run("webhooks", "update", "alerts").status == 2


def test_webhooks_of_a_billing_account(run: Run, service: Service) -> None:
    path, webhook = "/v1/billing/accounts/research/webhooks", {"id": "w-1", "url": "https://a.example/"}
    service.lists(path, [webhook])
    service.gives(f"{path}/w-1", webhook)
    service.on("POST", path, Reply(201, webhook | {"secret": "whsec_1"}))
    service.on("PATCH", f"{path}/w-1", Reply(body=webhook))
    service.on("DELETE", f"{path}/w-1", Reply(204))
    service.lists(f"{path}/w-1/deliveries", [])
    delivery = {"id": "d-1", "message_id": "msg_1", "state": "pending"}
    for end in (":ping", "/deliveries/d-1:redeliver"):
        service.on("POST", f"{path}/w-1{end}", Reply(202, delivery))
    service.on("POST", f"{path}/w-1:rotate-secret", Reply(body=webhook | {"secret": "whsec_2"}))
    url, of = "https://a.example/", ("--account", "research")
    assert "whsec_1" in run("webhooks", "create", url, "--event-type", "invoice.*", *of).out
    assert url in run("webhooks", "list", *of).out
    assert url in run("webhooks", "show", url, *of).out
    for change in (("update", url, "--description", "books"), ("enable", url), ("disable", url)):
        assert run("webhooks", *change, *of).status == 0
        assert service.requests[-1].path == f"{path}/w-1"
    assert "msg_1" in run("webhooks", "ping", url, *of).out
    assert "whsec_2" in run("webhooks", "rotate-secret", url, *of).out
    assert run("webhooks", "deliveries", url, *of).status == 0
    assert "msg_1" in run("webhooks", "redeliver", url, "d-1", *of).out
    assert run("webhooks", "delete", url, *of, "--json").json == {"deleted": "w-1"}
