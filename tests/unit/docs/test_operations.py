"""docs/operations has every setting with its default, and log events and limits that the code has."""

from __future__ import annotations

import re
from pathlib import Path

from ipucloud.config import Settings
from ipucloud.config.constants import VARIABLE, Constants
from ipucloud.http.limits import INTERNAL_CONNECTIONS, RESERVED_DESCRIPTORS, Limits, public_limits
from ipucloud.http.refusals import Reason, refusals

CHECKOUT = Path(__file__).parents[3]
PAGES = CHECKOUT / "docs" / "operations"


def section(page: str, title: str) -> str:
    text = (PAGES / page).read_text()
    return text.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_every_setting_says_what_it_does() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_the_log_events_exist() -> None:
    documented = re.findall(
        r"^\| (`\w+`(?:, `\w+`)*) \| (?:API|worker|API, worker) \|", section("monitoring.md", "Logs"), re.MULTILINE
    )
    names = {name for cell in documented for name in re.findall(r"`(\w+)`", cell)}
    source = "".join(path.read_text() for path in (CHECKOUT / "src" / "ipucloud").rglob("*.py"))
    logged = set(re.findall(r"""\blog\.(?:debug|info|warning|error|exception)\(\s*"(\w+)\"""", source))
    assert len(names) > 8
    assert names - logged == set()


def test_the_settings_that_other_pages_name_exist() -> None:
    known = {f"IPUCLOUD_{name.upper()}" for name in Settings.model_fields.keys() - Constants.model_fields}
    of_commands = {f"IPUCLOUD_{name}" for name in ("URL", "TOKEN", "PROJECT", "PROFILE", "CONFIG_DIR", "DEBUG")}
    of_deployment = set(re.findall(r"\$\{(IPUCLOUD_\w+)", (CHECKOUT / "docker-compose.yml").read_text()))
    of_deployment |= {"IPUCLOUD_OWNER_PASSWORD", "IPUCLOUD_APP_PASSWORD", "IPUCLOUD_S3_SECRET"}
    of_servers = {"IPUCLOUD_CLUSTER", "IPUCLOUD_DEVICE_IDS", "IPUCLOUD_JOB", "IPUCLOUD_ROOT"}
    of_the_build = {"IPUCLOUD_PANEL", "IPUCLOUD_SCREENSHOTS", VARIABLE}
    pages = [*(CHECKOUT / "docs").rglob("*.md"), *CHECKOUT.glob("*.md")]
    named = {name for page in pages for name in re.findall(r"\bIPUCLOUD_[A-Z_]*[A-Z]\b", page.read_text())}
    assert named - known - of_commands - of_deployment - of_servers - of_the_build == set()


def test_every_reason_of_a_refusal_is_explained_with_its_status() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| (\d+|none) \|", section("network.md", "Clients that cost too much"), re.MULTILINE
    )
    answers = refusals(Limits())
    assert dict(rows) == {
        reason.value: answers[reason].status_line.split()[1].decode() if reason in answers else "none"
        for reason in Reason
    }


def test_the_limits_that_are_no_settings_are_those_of_the_code() -> None:
    assert public_limits(Settings()) == Limits(), "what settings leave open"
    text, limits = " ".join(section("network.md", "Clients that cost too much").split()), Limits()
    assert f"| {limits.line_bytes // 1024} KiB for the request line" in text
    assert f"| {limits.header_count} fields |" in text
    assert f"| {limits.pipelined} requests ahead" in text
    assert f"keeps {RESERVED_DESCRIPTORS} descriptors" in text
    assert f"holds {INTERNAL_CONNECTIONS} connections of its own" in text


def test_no_remedy_needs_sql() -> None:
    """Operators have commands: what a page tells them to do is checked, recorded and kept from harm by the service."""
    with_sql = [page.name for page in sorted((CHECKOUT / "docs").rglob("*.md")) if "```sql" in page.read_text()]
    assert with_sql == []
