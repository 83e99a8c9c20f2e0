"""An audit that could not look at everything does not say that all is well."""

from __future__ import annotations

import pytest

from ipucloud.cli.service.auditing import Order, Report, document, show
from ipucloud.invariants.audit import SilentController

SILENT = SilentController("luxembourg-2", "c1", "list_allocations: no answer within 5 s")


def test_a_silent_controller_is_named_and_the_audit_is_not_clean(capsys: pytest.CaptureFixture[str]) -> None:
    order = Order(False, False, True, 5, "operator@console", frozenset(), None)
    report = Report(order, [], [SILENT])
    show(report)
    out, err = capsys.readouterr()
    assert report.status == 1
    assert "no findings in what was compared" in out
    assert err == (
        "V-IPU controller c1 of luxembourg-2 was silent: list_allocations: no answer within 5 s."
        " What it has was not compared.\n"
    )
    shown = document(report)
    assert (shown["clean"], shown["silent_controllers"]) == (False, [SILENT._asdict()])
    assert Report(order, [], []).status == 0
