"""What a customer and an operator see of `ipucloud billing`, against a real HTTP server."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.scripted import Reply, Service, page, problem
from tests.unit.cli.conftest import Run

EUROS = {"amount": "0.0625", "currency": "EUR"}
PRICE = {
    "id": "price-1",
    "account_id": None,
    "sku": "ipu-m2000",
    "region": "luxembourg-2",
    "unit_price": EUROS,
    "valid_from": "2026-01-01T00:00:00Z",
    "valid_to": None,
    "source": "price list",
}
ACCOUNT = {"id": "account-1", "name": "Research", "currency": "EUR", "payment_days": 30}
CHARGE = {
    "cost": {"amount": "15.00", "currency": "EUR"},
    "formula": "60 min × 4 × 0.0625 EUR = 15.00",
    "price": {"unit_price": EUROS},
}


def test_an_account_shows_its_balances(run: Run, service: Service) -> None:
    amounts = dict.fromkeys(("outstanding", "wallet", "credit"), EUROS)
    balances = [{"currency": "EUR", "unbilled": {"amount": "7.50", "currency": "EUR"}} | amounts]
    service.gives("/v1/projects/demo/billing/account", ACCOUNT | {"balances": balances})
    run("billing", "account").shows("7.50 EUR")


def test_a_charge_is_explained_by_its_formula(run: Run, service: Service) -> None:
    service.lists("/v1/projects/demo/clusters", [{"id": "cluster-1", "name": "bert"}])
    service.gives("/v1/projects/demo/clusters/cluster-1", {"id": "cluster-1", "name": "bert"})
    service.lists("/v1/projects/demo/clusters/cluster-1/charges", [CHARGE])
    run("billing", "explain", "bert").shows("60 min × 4 × 0.0625 EUR = 15.00")


def test_a_deleted_cluster_is_explained_by_its_name_unless_several_had_it(run: Run, service: Service) -> None:
    gone = [{"id": f"cluster-{n}", "name": "bert", "deleted_at": "2026-05-05T00:00:00Z"} for n in (2, 1)]
    for each in gone:
        service.gives(f"/v1/projects/demo/clusters/{each['id']}", each)
        service.lists(f"/v1/projects/demo/clusters/{each['id']}/charges", [CHARGE])
    nothing: Reply = page([])
    one, both = (page(list(some)) for some in (gone[1:], gone))
    service.on("GET", "/v1/projects/demo/clusters", nothing, one, nothing, both)
    assert "0.0625 EUR" in run("billing", "explain", "bert").out
    assert service.requests[1].query == {"name": "bert", "state": "deleted"}
    run("usage", "bert").fails(2, "2 deleted clusters are named bert. Use an id: cluster-2, cluster-1.")


def test_a_price_book_goes_to_a_file_and_back(run: Run, service: Service, tmp_path: Path) -> None:
    file = tmp_path / "book.json"
    service.lists("/v1/billing/prices", [PRICE])
    assert run("prices", "export", str(file)).status == 0
    items = json.loads(file.read_text())["items"]
    assert items == [{name: value for name, value in PRICE.items() if name != "id"}]
    service.on("POST", "/v1/billing/prices", Reply(body={"added": 0, "restored": 0}))
    ended = run("prices", "import", str(file), "--json")
    assert ended.json == {"added": 0, "restored": 0}
    assert service.bodies("POST")[0] == {"items": items}


def test_all_pages_of_a_price_book_go_to_a_file(run: Run, service: Service, tmp_path: Path) -> None:
    file, later = tmp_path / "book.json", PRICE | {"id": "price-2", "source": "list of July"}
    first, rest = ({"items": [PRICE], "next_cursor": "more"}, {"items": [later], "next_cursor": None})
    service.on("GET", "/v1/billing/prices", Reply(body=first), Reply(body=rest))
    assert run("prices", "export", str(file)).status == 0
    assert [each["source"] for each in json.loads(file.read_text())["items"]] == [PRICE["source"], "list of July"]
    assert [each.query for each in service.requests] == [{"limit": "1000"}, {"limit": "1000", "cursor": "more"}]


def test_a_region_without_prices_is_told_from_one_that_does_not_exist(run: Run, service: Service) -> None:
    refused = {"code": "validation_failed", "status": 422, "title": "t", "detail": "d", "type": "/", "errors": []}
    service.on("GET", "/v1/billing/prices", Reply(422, body=refused))
    service.lists("/v1/regions", [{"slug": "lab-1", "number": 5}])
    ended = run("prices", "list", "--region", "lab-9")
    assert ended.status != 0
    assert "There is no region lab-9. Regions, nearest first: lab-1." in ended.err


def test_a_file_that_is_not_a_price_book_is_refused(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "book.json"
    file.write_text("[]")
    run("prices", "import", str(file)).fails(2, "is not a price book")


def test_a_report_is_shown_and_saved(run: Run, service: Service, tmp_path: Path) -> None:
    figures = {"minutes": 60, "machine_minutes": 240, "credited_machine_minutes": 7, "cost": EUROS, "list_cost": EUROS}
    body = {
        "since": "2026-05-01T00:00:00Z",
        "until": "2026-06-01T00:00:00Z",
        "posted_until": "2026-05-02T00:00:00Z",
        "columns": ["cluster", "cluster_name"],
        "rows": [{"group": {"cluster": "cluster-1", "cluster_name": "bert"}, **figures}],
        "totals": [figures],
    }
    service.gives("/v1/projects/demo/billing/report", body)
    run("billing", "report", "--since", "2026-05-01").shows("bert")
    assert service.requests[-1].query == {"since": "2026-05-01T00:00:00Z", "group_by": "cluster"}
    assert run("billing", "report", "--json").json["totals"] == [figures]
    service.on("GET", "/v1/projects/demo/billing/report", Reply(raw=b"day,cost\r\n"))
    file = tmp_path / "report.csv"
    assert run("billing", "report", "--by", "day", "--by", "tag:team", "--csv", str(file)).status == 0
    assert service.requests[-1].query == {"group_by": "tag:team", "format": "csv"}
    assert run("billing", "report", "--csv", str(file), "--bom").status == 0
    assert service.requests[-1].query == {"group_by": "cluster", "format": "csv", "bom": "true"}
    assert file.read_bytes() == b"day,cost\r\n"


SPENT = {
    "cluster_id": "cluster-1",
    "project_id": "project-1",
    "name": "bert",
    "flavor": "m2000-pod16",
    "region": "luxembourg-2",
    "state": "active",
    "minutes": 62,
    "accrued": {"amount": "15.50", "currency": "EUR"},
    "per_hour": {"amount": "15.00", "currency": "EUR"},
    "forecast": {"amount": "7200.50", "currency": "EUR"},
    "previous": {"amount": "3.25", "currency": "EUR"},
}


def test_a_summary_answers_what_was_spent_on_what_and_what_it_will_be(run: Run, service: Service) -> None:
    parts = {name: SPENT[name] for name in ("accrued", "per_hour", "forecast")}
    parts |= {"posted": {"amount": "15.00", "currency": "EUR"}, "unposted": {"amount": "0.50", "currency": "EUR"}}
    parts |= {"projected": {"amount": "7185.00", "currency": "EUR"}, "credit": {"amount": "10.00", "currency": "EUR"}}
    times = {"since": "2026-05-01T00:00:00Z", "until": "2026-06-01T00:00:00Z", "observed_at": "2026-05-05T11:02:00Z"}
    rest = {"month": "2026-05", "posted_until": "2026-05-05T11:00:00Z", "unpriced_minutes": 3, "cluster_count": 2}
    tax = {"treatment": "standard", "name": "VAT", "rate": "0.17", "on_accrued": EUROS, "on_forecast": EUROS}
    before = {"month": "2026-04", "until": "2026-04-05T11:02:00Z", "accrued": EUROS, "total": SPENT["previous"]}
    share = {name: SPENT[name] for name in ("accrued", "forecast", "previous")}
    budget = {"id": "b", "name": "nlp-budget", "scope": "project", "thresholds": [], "refuses_creates": False}
    budget |= {"amount": {"amount": "31", "currency": "EUR"}, "actual": SPENT["accrued"], "forecast": EUROS}
    rest |= {
        "previous": before,
        "flavors": [{"flavor": "m2000-pod64"} | share],
        "skus": [{"sku": "ipu-m2000"} | share],
        "tags": [{"key": "team", "value": "nlp"} | share],
        "budgets": [budget | {"created_at": "2026-01-01T00:00:00Z", "version": 1}],
        "balances": [dict.fromkeys(("unbilled", "outstanding", "wallet", "credit"), EUROS) | {"currency": "EUR"}],
        "unusual_days": [{"day": "2026-05-04", "cost": EUROS, "usual": SPENT["previous"], "difference": EUROS}],
    }
    summary = parts | times | rest | {"tax": tax, "clusters": [SPENT]}
    service.gives("/v1/projects/demo/billing/summary", summary)
    ended = run("spend")
    assert ended.status == 0, ended.err
    for shown in ("2026-05", "15.50 EUR", "0.50 EUR", "7200.50 EUR", "bert", "m2000-pod16", "62", "3.25 EUR", "50 %"):
        assert shown in ended.out
    for shown in ("m2000-pod64", "ipu-m2000", "TAG team", "nlp-budget", "outstanding"):
        assert shown in ended.out
    headings = [line.split("  ")[0] for line in ended.out.splitlines() if "MONTH BEFORE" in line]
    assert headings == ["CLUSTER", "FLAVOR", "SKU", "TAG team"], "what overlaps is not in one table"
    for shown in ("because they cost less: 1.", "not included: 3.", "VAT of 17 %", "10.00 EUR"):
        assert shown in " ".join(ended.err.split())
    assert "2026-05-04 cost 0.06 EUR; a Monday usually costs 3.25 EUR." in ended.err
    assert run("spend", "--month", "2026-05", "--json").json["clusters"] == [SPENT]
    assert service.requests[-1].query == {"month": "2026-05"}
    assert run("billing", "summary", "--json").json["clusters"] == [SPENT], "its former name"
    of_payer = {"id": "t1", "name": "finance", "role": "payer", "account_id": "account-1"}
    service.gives("/v1/whoami", {"project": None, "scopes": [], "token": of_payer})
    service.on("GET", "/v1/projects/demo/billing/summary", problem(404, "not_found", "There is no such object."))
    service.gives("/v1/billing/accounts/account-1/summary", summary)
    assert run("spend", "--json").json["clusters"] == [SPENT], "a payer is of no project, whatever the profile has"
    assert run("spend", "--project", "demo").status != 0


def test_what_the_project_pays_is_listed_and_a_price_withdrawn(run: Run, service: Service) -> None:
    paid = PRICE | {"list_unit_price": EUROS, "contract": True, "account_id": "account-1"}
    service.lists("/v1/projects/demo/prices", [paid])
    shown = run("billing", "prices").out
    assert "contract" in shown
    assert "0.0625 EUR" in shown, "a unit price is not rounded"
    service.on("DELETE", "/v1/billing/prices/price-1", Reply(204))
    assert run("prices", "withdraw", "price-1").status == 0


def test_a_past_price_is_shown_what_it_changes_and_corrected(run: Run, service: Service) -> None:
    correction: dict[str, object] = {
        name: PRICE[name] for name in ("sku", "region", "unit_price", "valid_from", "valid_to")
    }
    correction |= {"account_id": None, "effects": [], "difference": EUROS}
    path = "/v1/billing/price-corrections"
    words = ["ipu-m2000", "luxembourg-2", "0.05", "--currency", "EUR", "--from", "2026-05-05T10:30:00"]
    words += ["--reason", "late"]
    service.on("POST", f"{path}:preview", Reply(body=correction | {"replaces": [], "preview": "0" * 32}))
    assert run("prices", "correct", *words, "--dry-run", "--json").json["preview"] == "0" * 32
    assert run("prices", "correct", *words).status == 2
    created = correction | {"id": "c-1", "reason": "late", "created_at": "2026-06-01T00:00:00Z", "finished_at": None}
    created |= {"hours_left": 3}
    service.on("POST", path, Reply(201, created))
    assert run("prices", "correct", *words, "--yes", "--json").json["hours_left"] == 3
    assert service.requests[-1].body["preview"] == "0" * 32
    service.lists(path, [created])
    assert "3 hours left" in run("prices", "corrections").out
