"""`list` commands have the API filter and order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.scripted import Service

Run = Callable[..., Any]


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
    assert service.requests[-1].query == query


def test_projects_and_payments_are_filtered_too(run: Run, service: Service) -> None:
    service.lists("/v1/projects", [])
    assert run("projects", "list", "--query", "nlp", "--json").status == 0
    assert service.requests[-1].query == {"q": "nlp", "order": "-created_at"}
    service.lists("/v1/billing/accounts/research/payments", [])
    assert run("payments", "list", "research", "--direction", "in", "--state", "pending", "--json").status == 0
    assert service.requests[-1].query == {"direction": "in", "state": "pending"}
