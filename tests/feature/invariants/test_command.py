"""`ipucloud admin audit`, as an operator and a script meet it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pytest
from pydantic import SecretStr

from ipucloud.cli.main import cli
from ipucloud.config import Settings
from ipucloud.laboratory.up.system import reachable
from tests.feature.invariants.planting import plant
from tests.support.filled import fill
from tests.support.filled_names import Filled
from tests.support.postgres import Database
from tests.support.site import running_site

COUNTED_WRONG = "UPDATE quotas SET used = used + 3 WHERE used > 0"
PARKED = "UPDATE work SET run_at = NULL, parked_at = app_now(), last_error = 'KeyError: x (build.py:7)'"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(database: Database, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run `ipucloud admin audit` in this process; its status, and what it wrote to either stream."""
    monkeypatch.setenv("IPUCLOUD_DATABASE_URL", database.app_url)
    monkeypatch.delenv("IPUCLOUD_SITE_URL", raising=False)

    def run(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli(["admin", "audit", *arguments], prog_name="ipucloud")
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out, err

    return run


def corrupt(database: Database, *statements: str) -> None:
    plant(database.superuser_url, statements, {})


def sound(database: Database) -> Filled:
    """Fill every table, and then only with what breaks no rule."""
    filled = fill(database.app_url)
    corrupt(database, "DELETE FROM unpriced_minutes")
    return filled


def one(database: Database, statement: str) -> Any:
    with psycopg.connect(database.app_url) as connection:
        row = connection.execute(statement.encode()).fetchone()
    assert row is not None
    return row[0]


def test_a_sound_database_ends_with_0(run: Run, database: Database) -> None:
    sound(database)
    status, out, err = run()
    assert (status, err) == (0, "No site was checked.\n")
    assert out.endswith("rules: all hold.\n")
    status, out, _ = run("--json")
    document = orjson.loads(out)
    assert (status, document["clean"], document["site"], document["findings"]) == (0, True, False, [])


def test_a_finding_names_the_object_the_rule_and_the_remedy_and_ends_with_3(run: Run, database: Database) -> None:
    filled = sound(database)
    corrupt(database, COUNTED_WRONG)
    status, out, _ = run()
    assert status == 3
    for text in ("quota_counts_what_is_held", "luxembourg-2/m2000", "the quota says 4", "Apply the audit's repair."):
        assert text in out
    assert "1 finding." in out
    status, out, _ = run("--json")
    [finding] = orjson.loads(out)["findings"]
    assert status == 3
    assert finding == {
        "rule": "quota_counts_what_is_held",
        "sentence": finding["sentence"],
        "object_type": "quota",
        "object_id": "luxembourg-2/m2000",
        "project_id": str(filled.project.id),
        "region": None,
        "host": None,
        "detail": "the quota says 4, clusters and reservations hold 1",
        "remedy": "Apply the audit's repair.",
    }


def test_a_repair_changes_nothing_until_it_is_applied(run: Run, database: Database) -> None:
    sound(database)
    corrupt(database, COUNTED_WRONG)
    status, out, _ = run("--repair", "--json")
    [planned] = orjson.loads(out)["findings"]
    assert (status, planned["repair"]["outcome"]) == (3, "planned")
    assert one(database, "SELECT max(used) FROM quotas") == 4
    before = one(database, "SELECT count(*) FROM repairs")
    status, out, _ = run("--repair", "--apply", "--json")
    [done] = orjson.loads(out)["findings"]
    assert (status, done["repair"]["outcome"]) == (0, "repaired")
    assert one(database, "SELECT max(used) FROM quotas") == 1
    assert one(database, "SELECT count(*) FROM repairs") == before + 1
    assert "@" in one(database, "SELECT requested_by FROM repairs ORDER BY started_at DESC LIMIT 1")
    assert (
        one(database, "SELECT data->>'rule' FROM events WHERE type = 'audit.repaired'") == "quota_counts_what_is_held"
    )
    assert run()[0] == 0


def test_what_is_refused_says_why_and_leaves_3(run: Run, database: Database) -> None:
    sound(database)
    corrupt(database, PARKED)
    status, out, _ = run("--repair", "--apply")
    assert status == 3
    assert "KeyError: x (build.py:7)" in out
    assert "Refused. Waking it would only repeat the failure" in out


def test_what_a_person_has_to_decide_is_repaired_for_the_object_that_is_named(run: Run, database: Database) -> None:
    sound(database)
    corrupt(database, "UPDATE clusters SET ready_at = created_at - interval '1 day' WHERE ready_at IS NOT NULL")
    status, out, _ = run("--repair", "--apply", "--json")
    [refused, *_] = orjson.loads(out)["findings"]
    assert (status, refused["repair"]["outcome"]) == (3, "refused")
    key = f"{refused['rule']}:{refused['object_id']}"
    assert f"--decide {key}" in refused["repair"]["detail"]
    for wrong in ("no_such_rule:x", refused["rule"], "quota_counts_what_is_held:luxembourg-2/m2000"):
        assert run("--repair", "--apply", "--decide", wrong)[0] == 2
    assert run("--repair", "--decide", key)[0] == 2
    _, out, _ = run("--repair", "--apply", "--decide", key, "--json")
    assert orjson.loads(out)["findings"][0]["repair"]["outcome"] == "repaired"


def test_an_adjusting_entry_is_shown_first_and_posted_for_a_reason(run: Run, database: Database) -> None:
    sound(database)
    account = one(database, "SELECT account_id FROM promo_credits")
    corrupt(
        database,
        "INSERT INTO promo_credits (id, account_id, currency, amount, reason, expires_at)"
        " SELECT gen_random_uuid(), account_id, 'CHF', 5, 'x', '2126-01-01Z' FROM promo_credits LIMIT 1",
    )
    _, out, _ = run("--repair", "--json")
    [planned] = orjson.loads(out)["findings"]
    [entry] = planned["repair"]["entries"]
    assert entry.startswith(f"5.00 CHF debited to revenue and credited to promo of account {account}, for credit/")
    assert one(database, "SELECT count(*) FROM ledger_transfers WHERE adjusts IS NOT NULL") == 0
    decide = ("--repair", "--apply", "--decide", f"{planned['rule']}:{planned['object_id']}")
    status, out, _ = run(*decide)
    assert (status, "give it with --reason" in out) == (3, True)
    assert run("--repair", "--apply", "--reason", "lost")[0] == run(*decide, "--reason", " ")[0] == 2
    assert run(*decide, "--reason", "lost by a defect")[0] == 0
    assert one(database, "SELECT reason FROM ledger_transfers WHERE adjusts IS NOT NULL") == "lost by a defect"
    said = f"({entry}), because: lost by a defect"
    assert said in one(database, "SELECT action FROM repairs ORDER BY started_at DESC LIMIT 1")
    assert said in one(database, "SELECT data->>'action' FROM events WHERE type = 'audit.repaired'")
    assert run(*decide, "--reason", "again")[0] == 0
    assert one(database, "SELECT count(*) FROM ledger_transfers WHERE adjusts IS NOT NULL") == 1


def test_an_audit_that_cannot_be_made_ends_with_1(
    run: Run, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as connection:
        connection.execute("DROP TABLE repairs")
    status, out, err = run()
    assert (status, out) == (1, "")
    assert "Is the schema migrated?" in err
    monkeypatch.setenv("IPUCLOUD_SITE_URL", "http://127.0.0.1:9")
    assert run("--database-only")[0] == 1
    monkeypatch.setenv("IPUCLOUD_DATABASE_URL", "postgresql://nobody@127.0.0.1:9/none")
    status, _, err = run()
    assert (status, err.count("\n")) == (1, 1)


def test_a_site_that_does_not_answer_ends_with_1(run: Run, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    sound(database)
    monkeypatch.setenv("IPUCLOUD_SITE_URL", "http://127.0.0.1:9")
    status, out, err = run()
    assert (status, out) == (1, "")
    assert "the site cannot be reached" in err
    assert run("--database-only")[0] == 0


def test_a_site_of_the_operators_own_is_compared_beside_the_up_that_was_given_it(
    run: Run, database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The site is another process; `up` tells where it is, and not its token."""
    monkeypatch.delenv("IPUCLOUD_DATABASE_URL")
    monkeypatch.setenv("IPUCLOUD_DATA_DIR", str(tmp_path))
    with running_site(tmp_path / "site", machines=2) as site:
        site_of = {"site_url": site.url, "vipu_client_certificate": site.client_files}
        site_settings = Settings().model_copy(update={**site_of, "site_token": SecretStr(site.token)})
        with reachable(site_settings, site_settings.model_copy(update={"database_url": SecretStr(database.app_url)})):
            status, out, err = run()
            assert (status, out) == (2, "")
            assert "Set IPUCLOUD_SITE_TOKEN as for the running `ipucloud up`" in err
            assert "No site was checked" in run("--database-only")[2]
            monkeypatch.setenv("IPUCLOUD_SITE_TOKEN", site.token)
            status, out, err = run("--json")
            report = orjson.loads(out)
            assert (status, report["site"], report["silent_controllers"]) == (0, True, []), err
    assert run()[0] == 2, "the file is gone with the system"


def test_apply_without_repair_is_wrong_usage(run: Run, database: Database) -> None:
    status, _, err = run("--apply")
    assert status == 2
    assert "--repair" in err


def test_without_a_database_there_is_nothing_to_audit(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("IPUCLOUD_DATABASE_URL")
    monkeypatch.setenv("IPUCLOUD_DATA_DIR", str(tmp_path))
    status, out, err = run()
    assert (status, out) == (2, "")
    assert "IPUCLOUD_DATABASE_URL" in err
