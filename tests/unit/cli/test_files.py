"""Files that commands write."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.scripted import Reply, Service
from tests.unit.cli.conftest import Run


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("exports", "create", "2026-05", "--output"), "a directory"),
        (("exports", "create", "2026-05", "--output"), "missing/may.csv"),
        (("exports", "download", "2026-05"), "missing/may.csv"),
        (("billing", "report", "--csv"), "missing/report.csv"),
        (("billing", "invoice", "draft", "--pdf"), "a directory"),
        (("partitions", "config", "bert", "training", "--output"), "missing/config.json"),
        (("prices", "export"), "a directory"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_service_is_asked(
    run: Run, service: Service, tmp_path: Path, command: tuple[str, ...], name: str
) -> None:
    (tmp_path / "a directory").mkdir()
    run(*command, str(tmp_path / name)).fails(2)
    assert service.requests == []


def test_a_file_is_replaced_as_a_whole(run: Run, service: Service, tmp_path: Path) -> None:
    file = tmp_path / "invoice.pdf"
    file.write_bytes(b"an older and longer document")
    service.on("GET", "/v1/projects/demo/billing/invoices/draft", Reply(raw=b"%PDF"))
    assert run("billing", "invoice", "draft", "--pdf", str(file)).status == 0, service.calls()
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir() if each.is_file()] == [
        ("invoice.pdf", b"%PDF")
    ]
