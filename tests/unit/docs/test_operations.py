"""docs/operations.md has every setting with its default, and the metrics and log events that the code has."""

from __future__ import annotations

import re
from pathlib import Path

from prometheus_client.metrics import MetricWrapperBase

from ipucloud.api.metrics import Metrics
from ipucloud.catalogue.current import CurrentCatalogue
from ipucloud.clusters import metrics as hardware_metrics
from ipucloud.config import Settings
from ipucloud.http.limits import INTERNAL_CONNECTIONS, RESERVED_DESCRIPTORS, Limits, public_limits
from ipucloud.http.metrics import CONNECTIONS, REFUSED
from ipucloud.http.refusals import Reason, refusals
from ipucloud.invariants.gauge import VIOLATIONS
from ipucloud.observation import metrics as observation_metrics
from ipucloud.operations.metrics import FAILED
from ipucloud.process.logs import LostLines
from ipucloud.reconcile import metrics as engine_metrics
from ipucloud.validation import metrics as validation_metrics
from ipucloud.worker import metrics as worker_metrics
from ipucloud.worker.measures import MEASUREMENTS
from ipucloud.worker.metrics import SWEPT

CHECKOUT = Path(__file__).parents[3]
PAGE = (CHECKOUT / "docs" / "operations.md").read_text()


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def _written(default: object) -> object:
    return ",".join(sorted(default)) if isinstance(default, frozenset) else default


def test_every_setting_has_a_row_with_its_default() -> None:
    documented = dict(re.findall(r"^\| `(IPUCLOUD_\w+)` \| (\w+|`[^`]+`) \|", section("Settings"), re.MULTILINE))
    fields = Settings.model_fields.items()
    assert documented == {
        f"IPUCLOUD_{name.upper()}": f"`{_written(field.default)}`"
        if field.default_factory is None and field.default is not None
        else "unset"
        for name, field in fields
    }


def test_the_metrics_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| (API|worker|API, worker) \| `(\w+)` \|", section("Metrics"), re.MULTILINE)
    documented = {(process, metric) for processes, metric in rows for process in processes.split(", ")}
    metrics = {
        metric
        for module in (engine_metrics, observation_metrics, hardware_metrics, validation_metrics, worker_metrics)
        for metric in vars(module).values()
        if isinstance(metric, MetricWrapperBase)
    } | {FAILED, SWEPT}
    catalogue = CurrentCatalogue(None)
    api_families = (*Metrics().registry.collect(), *catalogue.collect())
    api = {("API", exposed(family.type, family.name)) for family in api_families}
    worker = {("worker", exposed(family.type, family.name)) for metric in metrics for family in metric.describe()}
    own = (VIOLATIONS, MEASUREMENTS, CONNECTIONS, REFUSED, LostLines(), catalogue)
    alone = (family for each in own for family in each.collect())
    worker |= {("worker", exposed(family.type, family.name)) for family in alone}
    assert documented == api | worker


def exposed(kind: str, name: str) -> str:
    return f"{name}_total" if kind == "counter" else name


def test_the_log_events_exist() -> None:
    documented = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| (?:API|worker|API, worker) \|", section("Logs"), re.MULTILINE)
    names = {name for cell in documented for name in re.findall(r"`(\w+)`", cell)}
    source = "".join(path.read_text() for path in (CHECKOUT / "src" / "ipucloud").rglob("*.py"))
    logged = set(re.findall(r"""\blog\.(?:debug|info|warning|error|exception)\(\s*"(\w+)\"""", source))
    assert len(names) > 8
    assert names - logged == set()


def test_the_settings_that_other_pages_name_exist() -> None:
    known = {f"IPUCLOUD_{name.upper()}" for name in Settings.model_fields}
    of_commands = {f"IPUCLOUD_{name}" for name in ("URL", "TOKEN", "PROJECT", "PROFILE", "CONFIG_DIR", "DEBUG")}
    of_deployment = set(re.findall(r"\$\{(IPUCLOUD_\w+)", (CHECKOUT / "docker-compose.yml").read_text()))
    of_deployment |= {"IPUCLOUD_OWNER_PASSWORD", "IPUCLOUD_APP_PASSWORD", "IPUCLOUD_S3_SECRET"}
    of_servers = {"IPUCLOUD_CLUSTER", "IPUCLOUD_DEVICE_IDS", "IPUCLOUD_JOB", "IPUCLOUD_ROOT"}
    of_the_build = {"IPUCLOUD_PANEL", "IPUCLOUD_SCREENSHOTS"}
    pages = [*(CHECKOUT / "docs").rglob("*.md"), *CHECKOUT.glob("*.md")]
    named = {name for page in pages for name in re.findall(r"\bIPUCLOUD_[A-Z_]*[A-Z]\b", page.read_text())}
    assert named - known - of_commands - of_deployment - of_servers - of_the_build == set()


def test_every_reason_of_a_refusal_is_explained_with_its_status() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\d+|none) \|", section("Clients that cost too much"), re.MULTILINE)
    answers = refusals(Limits())
    assert dict(rows) == {
        reason.value: answers[reason].status_line.split()[1].decode() if reason in answers else "none"
        for reason in Reason
    }


def test_the_limits_that_are_no_settings_are_those_of_the_code() -> None:
    text, limits = " ".join(section("Clients that cost too much").split()), Limits()
    assert f"| {limits.line_bytes // 1024} KiB for the request line" in text
    assert f"| {limits.header_count} fields |" in text
    assert f"| {limits.pipelined} requests ahead" in text
    assert f"keeps {RESERVED_DESCRIPTORS} descriptors" in text
    assert f"holds {INTERNAL_CONNECTIONS} connections of its own" in text


def test_what_settings_leave_open_is_what_the_limits_have() -> None:
    assert public_limits(Settings()) == Limits()


def test_no_remedy_needs_sql() -> None:
    """Operators have commands: what a page tells them to do is checked, recorded and kept from harm by the service."""
    with_sql = [page.name for page in sorted((CHECKOUT / "docs").glob("*.md")) if "```sql" in page.read_text()]
    assert with_sql == []
