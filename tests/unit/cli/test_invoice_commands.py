"""What a customer sees of `ipucloud billing invoices`, `invoice`, `balance` and `credits`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.scripted import Reply, Service
from tests.unit.billing.invoice_samples import invoice, lines
from tests.unit.cli.conftest import Run

BILLING = "/v1/projects/demo/billing"
NUMBER = "INV-2026-000042"


def euros(amount: str) -> dict[str, str]:
    return {"amount": amount, "currency": "EUR"}


def test_invoices_are_listed(run: Run, service: Service) -> None:
    row = {"kind": "credit_note", "number": "CN-2026-000003", "invoice": NUMBER, "month": "2026-04"}
    service.lists(f"{BILLING}/invoices", [row | {"total": euros("117.00")}])
    run("billing", "invoices").shows("CN-2026-000003", "2026-04", "117.00 EUR", NUMBER)


def test_an_invoice_is_shown_and_written_as_pdf(run: Run, service: Service, tmp_path: Path) -> None:
    service.gives(f"{BILLING}/invoices/{NUMBER}", invoice(lines(2)).model_dump(mode="json"))
    run("billing", "invoice", NUMBER).shows("training-001", "ipu-bow-2000", "10243.03 EUR", "1741.32 EUR")
    assert json.loads(run("billing", "invoice", NUMBER, "--json").out)["number"] == NUMBER
    service.on("GET", f"{BILLING}/invoices/{NUMBER}", Reply(raw=b"%PDF-1.3"))
    file = tmp_path / "invoice.pdf"
    assert run("billing", "invoice", NUMBER, "--pdf", str(file)).status == 0
    assert file.read_bytes() == b"%PDF-1.3"


def test_a_payer_reads_and_saves_the_documents_of_its_account(run: Run, service: Service, tmp_path: Path) -> None:
    """Whatever the profile has as project: a payer has none."""
    payer = {"id": "t1", "name": "finance", "role": "payer", "account_id": "account-1"}
    service.gives("/v1/whoami", {"project": None, "scopes": [], "token": payer})
    missing = Reply(404, {"type": "about:blank", "code": "not_found", "status": 404, "detail": "No such object."})
    for path in ("draft", NUMBER, f"{NUMBER}/proof"):
        service.on("GET", f"{BILLING}/invoices/{path}", missing)
    service.gives(f"/v1/billing/invoices/{NUMBER}", invoice(lines(2)).model_dump(mode="json"))
    assert "10243.03 EUR" in run("billing", "invoice", NUMBER).out
    assert run("billing", "invoice", NUMBER, "--project", "demo").status == 3
    run("billing", "invoice").fails(2, "`ipucloud spend` shows the present month")
    service.on("GET", f"/v1/billing/invoices/{NUMBER}", Reply(raw=b"%PDF-1.3"))
    service.on("GET", f"/v1/billing/invoices/{NUMBER}/proof", Reply(raw=b"{}"))
    for command in (("invoice", NUMBER, "--pdf"), ("e-invoice", NUMBER, "factur-x"), ("proof", NUMBER)):
        assert run("billing", *command, str(tmp_path / command[0])).status == 0
    assert (tmp_path / "e-invoice").read_bytes() == b"%PDF-1.3"


def test_a_proof_is_saved_and_one_that_proves_nothing_is_refused(run: Run, service: Service, tmp_path: Path) -> None:
    """What proves an invoice is in `tests/feature/billing/test_proofs.py`."""
    file = tmp_path / "may.proof"
    service.on("GET", f"{BILLING}/invoices/{NUMBER}/proof", Reply(raw=b'{"format": "ipucloud-invoice-proof/1"}'))
    assert run("billing", "proof", NUMBER, str(file)).status == 0
    ended = run("billing", "verify", str(file))
    assert ended.status == 2
    assert "Not proven. The file is not a proof of an invoice, or a part of it is missing" in " ".join(
        ended.err.split()
    )
    assert run("billing", "verify", str(tmp_path / "none.proof")).status == 2


def test_balance_and_credits(run: Run, service: Service) -> None:
    item = {"currency": "EUR", "unbilled": euros("1.25"), "outstanding": euros("4.50"), "wallet": euros("5.00")}
    balance = {"account_id": "account-1", "items": [item | {"credit": euros("10.00")}]}
    service.gives(f"{BILLING}/balance", balance)
    run("billing", "balance").shows("account-1", "1.25 EUR", "4.50 EUR", "5.00 EUR", "10.00 EUR")
    credit = {"id": "c", "amount": euros("10.00"), "remaining": euros("2.00"), "reason": "welcome"}
    page = {"items": [credit | {"expires_at": "2026-12-31T00:00:00Z"}], "next_cursor": None}
    service.gives(f"{BILLING}/credits", page)
    run("billing", "credits").shows("2.00 EUR", "welcome")


def test_a_wallet_payment_is_announced_in_the_currency_of_the_account(run: Run, service: Service) -> None:
    service.gives("/v1/projects/demo/billing/account", {"id": "account-1", "currency": "CHF", "balances": []})
    service.on("POST", "/v1/projects/demo/billing/top-ups", Reply(201, {"id": "payment-1", "reference": "IPU-77"}))
    assert "IPU-77" in run("billing", "top-up", "500.00").out
    assert service.requests[-1].body == {"amount": {"amount": "500.00", "currency": "CHF"}}
