"""Listeners of the simulated site when a port is taken."""

from __future__ import annotations

import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ipucloud.laboratory.simulator import ports
from ipucloud.laboratory.simulator.faults import FaultBook
from ipucloud.laboratory.simulator.settings import Settings
from ipucloud.laboratory.simulator.tls import Authority
from ipucloud.laboratory.simulator.vipu.listeners import Listeners
from tests.support.ports import free_ports


@pytest.mark.anyio
async def test_after_a_taken_port_the_next_one_is_listened_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = Authority(tmp_path / "authority", "luxembourg-2", tmp_path / "clients", fsync=False)
    listeners = Listeners(cast("Any", SimpleNamespace()), FaultBook(0), authority, Settings(tmp_path, "token"))
    [free] = free_ports(1)
    with socket.create_server(("127.0.0.1", 0)) as other:
        drawn = iter([other.getsockname()[1], free])
        monkeypatch.setattr("random.choice", lambda _: next(drawn))
        port, server = await ports.listen_on(None, listeners.administration)
        await server.stop(None)
    assert port == free
