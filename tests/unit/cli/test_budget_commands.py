"""`ipucloud budgets` against a real HTTP server."""

from __future__ import annotations

from tests.support.scripted import Reply, Service
from tests.unit.cli.conftest import Run

EUROS = {"amount": "500.00", "currency": "EUR"}
BUDGET = {
    "id": "budget-1",
    "name": "NLP",
    "scope": "tag",
    "tag": {"key": "team", "value": "nlp"},
    "amount": EUROS,
    "thresholds": [{"on": "actual", "percent": 80, "action": None, "reached_at": "2026-05-05T00:00:00Z"}],
    "refuses_creates": True,
    "version": 1,
}
PATH = "/v1/projects/demo/budgets"


def test_budgets_are_made_changed_and_deleted(run: Run, service: Service) -> None:
    service.lists(PATH, [BUDGET])
    run("budgets", "list").shows("NLP (team=nlp)", "actual 80 % reached")
    service.on("POST", PATH, Reply(201, BUDGET))
    service.gives("/v1/projects/demo/billing/summary", {"accrued": EUROS})
    acting = ("--refuse-at", "90", "--suspend-at", "100")
    assert run("budgets", "create", "NLP", "500.00", *acting, "--tag", "team=nlp").status == 0
    assert service.requests[-1].body["thresholds"] == [
        {"on": "actual", "percent": 90, "action": "refuse_creates"},
        {"on": "actual", "percent": 100, "action": "suspend"},
    ]
    assert run("budgets", "create", "NLP", "500", "--refuse-at", "90", "--suspend-at", "90").status == 2
    assert run("budgets", "create", "NLP", "much").status == 2
    suspends = {"on": "actual", "percent": 100, "action": "suspend", "reached_at": None}
    service.gives(f"{PATH}/budget-1", BUDGET | {"thresholds": [suspends]})
    assert "actual 100 %: clusters are suspended" in run("budgets", "show", "NLP").out
    assert run("budgets", "create", "NLP", "5", "--tag", "team").status == 2
    service.gives(f"{PATH}/budget-1", BUDGET)
    service.on("PATCH", f"{PATH}/budget-1", Reply(body=BUDGET))
    assert run("budgets", "update", "budget-1", "--amount", "600").status == 0
    service.on("DELETE", f"{PATH}/budget-1", Reply(204))
    assert run("budgets", "delete", "budget-1").status == 0


def test_an_account_has_budgets_of_its_own(run: Run, service: Service) -> None:
    account = "/v1/billing/accounts/research"
    budgets = f"{account}/budgets"
    service.gives(f"{account}/summary", {"accrued": EUROS})
    service.lists(budgets, [BUDGET | {"tag": None}])
    service.on("POST", budgets, Reply(201, BUDGET))
    service.on("DELETE", f"{budgets}/budget-1", Reply(204))
    of_account = ("--account", "research")
    assert "NLP" in run("budgets", "list", *of_account).out
    assert run("budgets", "create", "NLP", "500.00", *of_account).status == 0
    assert run("budgets", "create", "NLP", "500.00", "--tag", "team=nlp", *of_account).status == 2
    assert run("budgets", "delete", "NLP", *of_account).status == 0
    missing = run("budgets", "delete", "NPL", *of_account)
    assert "no budget NPL of the billing account research. Budgets, nearest first: NLP." in missing.err


def test_amounts_are_in_the_currency_of_the_cost(run: Run, service: Service) -> None:
    yen = BUDGET | {"amount": {"amount": "500", "currency": "JPY"}}
    service.lists(PATH, [yen])
    service.gives("/v1/projects/demo/billing/summary", {"accrued": yen["amount"]})
    service.on("POST", PATH, Reply(201, yen))
    assert run("budgets", "create", "NLP", "50000").status == 0
    assert service.requests[-1].body["amount"] == {"amount": "50000", "currency": "JPY"}
    service.gives(f"{PATH}/budget-1", yen)
    service.on("PATCH", f"{PATH}/budget-1", Reply(body=yen))
    assert run("budgets", "update", "budget-1", "--amount", "600").status == 0
    assert service.requests[-1].body["amount"] == {"amount": "600", "currency": "JPY"}


def test_funds_show_what_is_left(run: Run, service: Service) -> None:
    names = ("wallet", "credit", "outstanding", "unbilled", "unposted", "held", "available")
    body = dict.fromkeys(names, EUROS) | {"account_id": "a", "when_empty": "warn", "state": "funded"}
    service.gives("/v1/projects/demo/billing/funds", body)
    run("billing", "funds").shows("warn", "500.00 EUR")
