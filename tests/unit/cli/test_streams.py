"""Standard streams and files as other people's systems have them: closed, in another encoding, compressed."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.scripted import Service
from tests.unit.cli.conftest import TOKEN, Run
from tests.unit.cli.test_commands import CLUSTER

PROGRAM = [sys.executable, "-c", "from ipucloud.cli.entry import main; main()"]
NAME = "Müller…𝄞"


@pytest.fixture
def started(service: Service, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    service.gives("/v1/projects/demo/clusters", {"items": [CLUSTER | {"name": NAME}], "next_cursor": None})
    variables = {"IPUCLOUD_URL": service.url, "IPUCLOUD_TOKEN": TOKEN, "IPUCLOUD_PROJECT": "demo"}
    variables |= {"IPUCLOUD_CONFIG_DIR": str(tmp_path), "PATH": os.environ["PATH"], "HOME": str(tmp_path)}

    def start(closed: str, *arguments: str, **more: str) -> subprocess.CompletedProcess[bytes]:
        shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *PROGRAM, *arguments]
        return subprocess.run(shell, env=variables | more, capture_output=True, check=False, timeout=60)

    return start


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_command_works_without_a_standard_stream(started: Callable[..., Any], closed: str) -> None:
    for arguments in (["clusters", "list"], ["clusters", "delete", NAME]):  # the second asks at its input
        done = started(closed, *arguments)
        assert b"unexpected error" not in done.stderr
        assert (done.returncode == 0) == (arguments[-1] == "list"), done


@pytest.mark.parametrize("encoding", ["ascii", "iso-8859-1", "cp1252"])
def test_what_an_encoding_lacks_becomes_a_question_mark_and_is_whole_in_json(
    started: Callable[..., Any], encoding: str
) -> None:
    plain = started("", "clusters", "list", PYTHONIOENCODING=encoding)
    assert plain.returncode == 0, plain.stderr
    assert NAME.encode(encoding, "replace") in plain.stdout
    as_json = started("", "clusters", "list", "--json", PYTHONIOENCODING=encoding)
    assert json.loads(as_json.stdout)[0]["name"] == NAME


@pytest.mark.parametrize(
    ("content", "cause"),
    [(gzip.compress(b"#!/bin/sh\n"), "is compressed"), ("#!/bin/sh\n# é\n".encode("utf-16"), "not text in UTF-8")],
    ids=["gzip", "UTF-16"],
)
def test_a_file_that_is_no_text_is_named(run: Run, tmp_path: Path, content: bytes, cause: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    for command in (["ssh-keys", "create", "laptop", str(file)], ["prices", "import", str(file)]):
        ended = run(*command)
        assert ended.status == 2, ended
        assert cause in " ".join(ended.err.split())
