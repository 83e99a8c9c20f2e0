"""`ipucloud demo`, as a user runs it."""

from __future__ import annotations

import json
import signal

import pytest

from tests.support.processes import Ipucloud
from tests.support.waiting import PATIENCE, eventually

DEMO_SECONDS = 240


def test_the_demo_shows_the_whole_way_and_leaves_nothing(ipucloud: Ipucloud) -> None:
    with ipucloud.start("demo", "--json") as demo:
        out, err = demo.communicate(timeout=DEMO_SECONDS)
    assert demo.returncode == 0, (out, err)
    assert out.count("\n") == 1
    report = json.loads(out)
    assert report["ok"] is True
    checks = {check["what"]: check["seen"] for check in report["checks"]}
    assert checks["gc-info on the Poplar server shows 16 IPUs"] == "16 IPUs"
    assert checks["the minutes since it became ready are billed"].endswith("EUR")
    assert "the capacity is as before" in checks
    assert ipucloud.still_running() == []
    assert list(ipucloud.temporary.iterdir()) == []


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("moment", "number"),
    [
        ("postgres", signal.SIGINT),
        ("site-ready.json", signal.SIGTERM),
        ("logs/worker.log", signal.SIGINT),
        ("../customer/key", signal.SIGTERM),
    ],
)
def test_stopping_the_demo_leaves_nothing(ipucloud: Ipucloud, moment: str, number: signal.Signals) -> None:
    with ipucloud.start("demo", "--json") as demo:
        eventually(lambda: any(ipucloud.temporary.glob(f"*/data/{moment}")), f"the demo gets to {moment}", DEMO_SECONDS)
        demo.send_signal(number)
        out, err = demo.communicate(timeout=PATIENCE)
    assert demo.returncode == 130, (out, err)
    assert "Traceback" not in err
    assert ipucloud.still_running() == []
    assert list(ipucloud.temporary.iterdir()) == []
