"""`list` commands have the API filter and order."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.scripted import Service
from tests.unit.cli.conftest import Run
from tests.unit.cli.test_commands import CLUSTER


@pytest.mark.parametrize(
    ("words", "path", "query"),
    [
        ("ssh-keys list --query desk --order name", "ssh-keys", {"q": "desk", "order": "name"}),
        ("ssh-keys list --name laptop", "ssh-keys", {"name": "laptop", "order": "-created_at"}),
        ("s3-connections list -q lake", "s3-connections", {"q": "lake", "order": "created_at"}),
        ("budgets list --name nlp --order=-name", "budgets", {"name": "nlp", "order": "-name"}),
        ("members list --role owner --email ann", "members", {"role": "owner", "email": "ann", "order": "-created_at"}),
        ("webhooks list --disabled", "webhooks", {"enabled": "false"}),
        (
            "billing invoices --kind credit_note --month 2026-05",
            "billing/invoices",
            {"kind": "credit_note", "month": "2026-05"},
        ),
        (
            "exports list --state failed --dataset invoice-detail",
            "billing/exports",
            {"state": "failed", "dataset": "invoice-detail"},
        ),
        ("exports schedules list --every day", "billing/export-schedules", {"every": "day"}),
        ("quotas list --region lab-1 --machine-type m2000", "quotas", {"region": "lab-1", "machine_type": "m2000"}),
        ("quotas list --order=-used", "quotas", {"order": "-used"}),
    ],
)
def test_filters_are_the_apis(run: Run, service: Service, words: str, path: str, query: dict[str, str]) -> None:
    service.lists(f"/v1/projects/demo/{path}", [])
    assert run(*words.split(), "--json").status == 0
    assert service.requests[0].query == query


def test_projects_and_payments_are_filtered_too(run: Run, service: Service) -> None:
    service.lists("/v1/projects", [])
    assert run("projects", "list", "--query", "nlp", "--json").status == 0
    assert service.requests[-1].query == {"q": "nlp", "order": "-created_at"}
    service.lists("/v1/billing/accounts/research/payments", [])
    assert run("payments", "list", "research", "--direction", "in", "--state", "pending", "--json").status == 0
    assert service.requests[-1].query == {"direction": "in", "state": "pending"}


def test_the_columns_of_a_list_and_its_order_are_chosen(run: Run, service: Service) -> None:
    costs = {"pod-10": "9.5", "pod-9": "10.25", "new": None}
    billing: dict[str, Any] = {"since": None, "minutes": 0, "unit": "minute"}
    service.lists(
        "/v1/projects/demo/clusters",
        [
            CLUSTER
            | {"id": name, "name": name}
            | {"billing": billing | {"cost": amount and {"amount": amount, "currency": "EUR"}}}
            for name, amount in costs.items()
        ],
    )
    chosen = run("clusters", "list", "-o", "columns=state,name", "--sort", "name")
    assert [line.split() for line in chosen.out.splitlines()] == [
        ["STATE", "NAME"],
        *(["active", name] for name in ("new", "pod-9", "pod-10")),
    ]
    names = ("clusters", "list", "-o", "columns=name")
    assert run(*names, "--sort", "-cost").out.split() == ["NAME", "pod-9", "pod-10", "new"]
    assert run(*names, "--sort", "cost").out.split() == ["NAME", "pod-10", "pod-9", "new"]
    assert [each["name"] for each in run("clusters", "list", "--sort", "cost", "--json").json] == [
        *("pod-10", "pod-9", "new")
    ]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("-o columns=number,total,colour", "There is no column colour. Columns: number, month, issued, due, total,"),
        ("-o columns=", "There is no column ."),
        ("-o number", "Write number as columns=A,B, with some of: number,"),
        ("--sort=-credits_invoices", "There is no column credits_invoices."),
        ("-o columns=number --json", "Leave out -o or --json."),
    ],
)
def test_a_layout_that_cannot_be_is_refused(run: Run, service: Service, words: str, sentence: str) -> None:
    service.lists("/v1/projects/demo/billing/invoices", [])
    run("billing", "invoices", *words.split()).fails(2, sentence)


def test_events_begin_with_the_newest_as_operations_do(run: Run, service: Service) -> None:
    event = {"type": "cluster.active", "subject_type": "cluster", "at": "2026-01-01T00:00:00Z", "data": {}}
    service.lists("/v1/projects/demo/events", [event | {"id": each, "subject_id": each} for each in ("2", "1")])
    assert run("events", "-o", "columns=subject").out.splitlines() == ["SUBJECT", "cluster 2", "cluster 1"]
    run("events", "--follow", "--sort", "time").fails(2, "Leave them out, or --follow.")
