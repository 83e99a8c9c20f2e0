"""Listeners of the simulated site when a port is taken."""

from __future__ import annotations

import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ipucloud.laboratory.simulator import ports
from ipucloud.laboratory.simulator.faults import FaultBook
from ipucloud.laboratory.simulator.main import main
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


@pytest.mark.parametrize("text", ["", "20000", "32000-20000", "0-10", "60000-70000", "a-b"])
def test_what_is_no_range_of_ports_is_refused(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--data", str(tmp_path), "--token", "token", f"--ports={text}"])
    assert ended.value.code == 2
    assert f"'{text}' is no range of ports, as in 20000-32000" in capsys.readouterr().err


@pytest.mark.anyio
async def test_ports_are_of_the_range_and_one_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        occupied = other.getsockname()[1]

        async def listen(port: int) -> int:
            if port == occupied:
                raise OSError(98, "Address already in use")
            return port

        port, _ = await ports.listen_on(None, listen, range(occupied, occupied + 2))
        assert port == occupied + 1
        with pytest.raises(ports.PortTaken, match=f"no free port was found from {occupied} to {occupied}"):
            await ports.listen_on(None, listen, range(occupied, occupied + 1))
        with pytest.raises(ports.PortTaken, match=f"port {occupied} cannot be listened on: Address already in use"):
            await ports.listen_on(occupied, listen)
