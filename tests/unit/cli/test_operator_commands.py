"""What finance and operators see of accounts, payments, credit, prices, tax and quotas, against a real HTTP server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.scripted import Reply, Service
from tests.unit.cli.conftest import Run

ACCOUNT = {"id": "account-1", "name": "Research", "currency": "CHF", "payment_days": 30}
PATH = "/v1/billing/accounts/account-1"
NOTE = {"kind": "credit_note", "number": "CN-1", "invoice": "INV-1"}


def sent(service: Service) -> Any:
    return next(each.body for each in reversed(service.requests) if each.method != "GET")


@pytest.fixture
def account(service: Service) -> dict[str, Any]:
    service.gives(PATH, ACCOUNT)
    return ACCOUNT


def test_an_account_is_created_changed_and_assigned(run: Run, service: Service) -> None:
    service.on("POST", "/v1/billing/accounts", Reply(201, ACCOUNT))
    assert (
        run("accounts", "create", "Research", "--currency", "CHF", "--country", "LU", "--json").json["id"]
        == "account-1"
    )
    assert sent(service) == {"name": "Research", "currency": "CHF", "country": "LU"}
    service.on("PATCH", PATH, Reply(body=ACCOUNT))
    assert run("accounts", "update", "account-1", "--payment-days", "14", "--no-tax-exempt").status == 0
    assert sent(service) == {"payment_days": 14, "tax_exempt": False}
    assert run("accounts", "update", "account-1").status == 2
    service.gives(PATH, ACCOUNT)
    service.on("PUT", "/v1/projects/demo/billing/account", Reply(body=ACCOUNT))
    assert run("accounts", "assign", "account-1").status == 0
    assert sent(service) == {"account_id": "account-1"}


def test_an_account_pays_ahead(run: Run, service: Service) -> None:
    service.on("PUT", f"{PATH}/prepaid", Reply(body={"when_empty": "suspend"}))
    assert "suspend" in run("accounts", "set-prepaid", "account-1", "suspend").out
    assert run("accounts", "set-prepaid", "account-1", "explode").status == 2
    service.on("DELETE", f"{PATH}/prepaid", Reply(204))
    assert run("accounts", "end-prepaid", "account-1").status == 0


def test_an_account_is_reminded_and_restricted(run: Run, service: Service) -> None:
    service.on("PUT", f"{PATH}/dunning", Reply(body={"remind_after": [3], "suspend_after": 30}))
    assert "30" in run("accounts", "set-dunning", "account-1", "--remind-after", "3", "--suspend-after", "30").out
    assert sent(service) == {"remind_after": [3], "suspend_after": 30}
    service.gives(f"{PATH}/dunning", {"remind_after": [3], "overdue_since": "2026-05-01"})
    assert "2026-05-01" in run("accounts", "dunning", "account-1").out
    service.on("DELETE", f"{PATH}/dunning", Reply(204))
    assert run("accounts", "end-dunning", "account-1").status == 0


def test_an_accounts_events_are_shown_with_their_data(run: Run, service: Service) -> None:
    event = {"id": "7-1", "type": "invoice.issued", "data": {"number": "INV-1"}}
    service.lists(f"{PATH}/events", [event])
    assert "INV-1" in run("accounts", "events", "account-1", "--type", "invoice.issued").out


def test_an_account_is_topped_up(run: Run, service: Service, account: dict[str, Any]) -> None:
    ten, hundred = ({"amount": each, "currency": account["currency"]} for each in ("10.00", "100.00"))
    policy: dict[str, object] = {"amount": ten, "below": None, "below_hours": 24, "month_limit": hundred}
    policy |= {"this_month": ten, "paused_at": None, "pause_reason": "payment_failed", "reference": None}
    service.on("PUT", f"{PATH}/prepaid/top-up", Reply(body={"when_empty": "suspend", "top_up": policy}))
    order = ("accounts", "set-top-up", "account-1", "10.00", "--month-limit", "100.00")
    assert "paused: payment_failed" in run(*order, "--below-hours", "24").out
    assert sent(service) == {"amount": ten, "below_hours": 24, "month_limit": hundred}
    assert run(*order, "--below", "10.00").status == 0
    assert sent(service) == {"amount": ten, "below": ten, "month_limit": hundred}
    assert [run(*order).status, run(*order, "--below", "1", "--below-hours", "1").status] == [2, 2]
    service.on("DELETE", f"{PATH}/prepaid/top-up", Reply(204))
    assert run("accounts", "end-top-up", "account-1").status == 0
    method = {"customer": "cus_1", "payment_method": "pm_1", "set_at": "2026-05-04T09:30:00Z"}
    service.on("PUT", f"{PATH}/payment-method", Reply(body=method))
    assert "pm_1" in run("accounts", "set-payment-method", "account-1", "cus_1", "pm_1").out
    assert service.requests[-1].body == {"customer": "cus_1", "payment_method": "pm_1"}
    service.gives(f"{PATH}/payment-method", method)
    assert "cus_1" in run("accounts", "payment-method", "account-1").out
    service.on("DELETE", f"{PATH}/payment-method", Reply(204))
    assert run("accounts", "remove-payment-method", "account-1").status == 0
    service.on("POST", f"{PATH}/payments/payment-1:fail", Reply(body={"id": "payment-1", "state": "failed"}))
    assert run("payments", "fail", "account-1", "payment-1", "--reason", "card expired").status == 0
    assert sent(service) == {"reason": "card expired"}


@pytest.mark.parametrize(("verb", "path"), [("create", "payments"), ("refund", "refunds")])
def test_money_is_recorded_in_the_currency_of_the_account(
    run: Run, service: Service, account: dict[str, Any], verb: str, path: str
) -> None:
    service.on("POST", f"{PATH}/{path}", Reply(201, {"id": "payment-1", "invoice": None}))
    assert run("payments", verb, "account-1", "10.50", "--reference", "TX-1", "--json").json["id"] == "payment-1"
    assert sent(service) == {"amount": {"amount": "10.50", "currency": account["currency"]}, "reference": "TX-1"}
    for wrong in ("much", "NaN", "Infinity"):
        run("payments", verb, "account-1", wrong, "--reference", "TX-1").fails(2, "500.00")


def test_a_payment_is_reversed_by_the_id_of_its_dispute(run: Run, service: Service, account: dict[str, Any]) -> None:
    service.on("POST", f"{PATH}/payments/payment-1/reversals", Reply(201, {"id": "payment-2", "reverses": "payment-1"}))
    order = ("payments", "reverse", "account-1", "payment-1", "--reference", "du_1")
    assert "payment-1" in run(*order).out
    assert sent(service) == {"reference": "du_1"}
    assert run(*order, "--amount", "10.50").status == 0
    assert sent(service) == {"amount": {"amount": "10.50", "currency": account["currency"]}, "reference": "du_1"}
    run(*order, "--amount", "much").fails(2, "500.00")


def test_credit_is_granted_until_a_time(run: Run, service: Service, account: dict[str, Any]) -> None:
    service.on("POST", f"{PATH}/credits", Reply(201, {"id": "credit-1"}))
    assert run("credits", "create", "account-1", "100", "--reason", "welcome", "--expires-at", "2030-01-01").status == 0
    assert sent(service) == {
        "amount": {"amount": "100", "currency": account["currency"]},
        "reason": "welcome",
        "expires_at": "2030-01-01T00:00:00Z",
    }
    assert run("credits", "create", "account-1", "100", "--reason", "welcome").status == 2


def test_an_invoice_is_credited(run: Run, service: Service, tmp_path: Path) -> None:
    service.on("POST", "/v1/billing/invoices/INV-1:credit-note", Reply(201, NOTE))
    assert (
        run("credit-notes", "create", "INV-1", "--reason", "outage", "--net", "0.10", "--json").json["number"] == "CN-1"
    )
    assert sent(service) == {"net": "0.10", "reason": "outage"}
    service.lists(f"{PATH}/invoices", [NOTE, {"kind": "invoice", "number": "INV-1"}])
    assert [each["number"] for each in run("credit-notes", "list", "account-1", "--json").json] == ["CN-1"]
    service.gives("/v1/billing/invoices/CN-1", NOTE)
    assert "INV-1" in run("credit-notes", "show", "CN-1").out
    service.on("GET", "/v1/billing/invoices/CN-1", Reply(raw=b"%PDF"))
    assert run("credit-notes", "show", "CN-1", "--pdf", str(tmp_path / "note.pdf")).status == 0
    assert (tmp_path / "note.pdf").read_bytes() == b"%PDF"


def test_the_price_book_is_listed_filtered_and_extended(run: Run, service: Service) -> None:
    versions = [
        {"id": "1", "sku": "ipu-m2000", "region": "lab-1", "account_id": None},
        {"id": "2", "sku": "ipu-m2000", "region": "lab-1", "account_id": "5"},
    ]
    service.lists("/v1/billing/prices", versions)
    what = ("--sku", "ipu-m2000", "--region", "lab-1", "--account", "research", "--contract", "--currency", "EUR")
    listed = run("prices", "list", *what, "--state", "future", "--order=-valid_from", "--json")
    assert [each["id"] for each in listed.json] == ["1", "2"]
    assert service.requests[-1].query == {
        "sku": "ipu-m2000",
        "region": "lab-1",
        "currency": "EUR",
        "account": "research",
        "contract": "true",
        "state": "future",
        "order": "-valid_from",
    }
    assert run("prices", "list", "--list", "--json").status == 0
    assert service.requests[-1].query == {"contract": "false"}
    assert run("prices", "list", "--state", "later").status == 2
    assert run("prices", "show", "1", "--json").json["sku"] == "ipu-m2000"
    assert run("prices", "show", "3").status == 3
    service.on("POST", "/v1/billing/prices", Reply(body={"added": 1, "restored": 0}))
    added = (
        *("prices", "create", "ipu-c600", "lab-1", "0.0500", "--from"),
        *("2030-01-01", "--source", "list of January", "--currency", "EUR"),
    )
    assert run(*added).status == 0
    assert sent(service)["items"] == [
        {
            "sku": "ipu-c600",
            "region": "lab-1",
            "unit_price": {"amount": "0.0500", "currency": "EUR"},
            "valid_from": "2030-01-01T00:00:00Z",
            "source": "list of January",
        }
    ]
    assert run(*added[:6], "some day", *added[7:]).status == 2


def test_tax_rates_and_the_seller(run: Run, service: Service) -> None:
    rates = {"items": [{"country": "LU", "rate": "0.17"}], "next_cursor": None}
    service.on("POST", "/v1/billing/tax-rates", Reply(body=rates))
    assert run("tax", "create", "LU", "0.17", "--from", "2030-01-01", "--source", "letter").status == 0
    assert sent(service)["valid_from"] == "2030-01-01"
    assert run("tax", "create", "LU", "0.17", "--from", "January", "--source", "letter").status == 2
    service.gives("/v1/billing/tax-rates", rates)
    assert "0.17" in run("tax", "list").out
    seller = {"legal_name": "IPU Cloud S.A.", "country": "LU"}
    service.on("PATCH", "/v1/billing/seller", Reply(body=seller))
    service.gives("/v1/billing/seller", seller)
    assert run("seller", "update", "--legal-name", "IPU Cloud S.A.").status == 0
    assert sent(service) == {"legal_name": "IPU Cloud S.A."}
    assert run("seller", "show", "--json").json["country"] == "LU"
    assert run("seller", "update").status == 2


def test_one_quota_is_set_and_the_others_stay(run: Run, service: Service) -> None:
    path = "/v1/projects/demo/quotas"
    limits = [{"region": "lab-1", "machine_type": "c600", "limit": 1, "used": 0}]
    body = {"items": limits, "next_cursor": None}
    service.on("GET", path, Reply(body=body, headers={"ETag": '"5"'}))
    service.on("PUT", path, Reply(body=body))
    assert run("quotas", "update", "lab-1", "m2000", "16").status == 0
    assert sent(service)["items"] == [
        {"region": "lab-1", "machine_type": "c600", "limit": 1},
        {"region": "lab-1", "machine_type": "m2000", "limit": 16},
    ]
    assert service.requests[-1].headers["if-match"] == '"5"'


def test_a_project_is_renamed_and_deleted(run: Run, service: Service) -> None:
    service.on("PATCH", "/v1/projects/research", Reply(body={"slug": "research", "name": "New"}))
    assert "New" in run("projects", "update", "research", "--name", "New").out
    assert run("projects", "delete", "research").status == 2
    service.on("DELETE", "/v1/projects/research", Reply(204))
    assert run("projects", "delete", "research", "--yes").status == 0


def test_accounts_are_listed_and_report_their_projects(run: Run, service: Service, tmp_path: Path) -> None:
    service.lists("/v1/billing/accounts", [ACCOUNT])
    assert "Research" in run("accounts", "list").out
    period = {"since": "2026-05-01T00:00:00Z", "until": "2026-06-01T00:00:00Z", "posted_until": None}
    service.gives(f"{PATH}/report", {**period, "columns": ["project"], "rows": [], "totals": []})
    assert run("accounts", "report", "account-1").status == 0
    assert service.requests[-1].query == {"group_by": "project"}
    service.on("GET", f"{PATH}/report", Reply(raw=b"day,cost\r\n"))
    file = tmp_path / "report.csv"
    assert run("accounts", "report", "account-1", "--by", "day", "--csv", str(file)).status == 0
    assert file.read_bytes() == b"day,cost\r\n"
