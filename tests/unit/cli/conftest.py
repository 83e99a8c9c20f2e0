from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from ipucloud.cli.main import cli
from ipucloud.client import Client
from tests.support.scripted import Service, scripted_service

TOKEN = "ipu_dev_" + "s" * 49


@dataclass(frozen=True)
class Ended:
    """What a command left: its status and what it wrote."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.out.count("\n") == 1, "exactly one document on one line"
        return orjson.loads(self.out)

    def shows(self, *words: str) -> None:
        """It succeeded, and printed these words."""
        assert self.status == 0, self.err
        assert [each for each in words if each not in self.out] == [], self.out

    def fails(self, status: int, *words: str) -> None:
        """It ended with this status, and said these words."""
        assert self.status == status, self.err
        assert [each for each in words if each not in self.err] == [], self.err


Run = Callable[..., Ended]


class Terminal(io.StringIO):
    """Standard input or output of a person."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def service() -> Iterator[Service]:
    with scripted_service() as service:
        yield service


@pytest.fixture
def config_dir(tmp_path: Path) -> Path:
    return tmp_path / "config"


@pytest.fixture
def run(service: Service, config_dir: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command line in this process, as a customer of project `demo`."""
    monkeypatch.setenv("IPUCLOUD_CONFIG_DIR", str(config_dir))
    monkeypatch.setenv("IPUCLOUD_URL", service.url)
    monkeypatch.setenv("IPUCLOUD_TOKEN", TOKEN)
    monkeypatch.setenv("IPUCLOUD_PROJECT", "demo")
    monkeypatch.setattr("ipucloud.cli.session.Client", partial(Client, sleep=lambda _: None))

    def run(*arguments: str) -> Ended:
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli(list(arguments), prog_name="ipucloud")
        out, err = capfd.readouterr()
        assert TOKEN not in out + err, "a token is never printed"
        return Ended(int(ended.value.code or 0), out, err)

    return run


@pytest.fixture
def bare(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the file of profiles configures a command."""
    for name in ("IPUCLOUD_URL", "IPUCLOUD_TOKEN", "IPUCLOUD_PROJECT"):
        monkeypatch.delenv(name)
