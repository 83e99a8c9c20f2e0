"""What customers do on a Poplar server: real programs, files that stay, processes that outlive a login, ports."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncssh
import httpx
import pytest

from ipucloud.catalogue.load import load
from ipucloud.catalogue.recipes import job_command
from ipucloud.wire.site import HostState
from tests.contract.simulator.outcomes import output
from tests.support.machine import WALLS, Need, need, needs, program
from tests.support.openssh import SECONDS, KeyPair, OpenSsh
from tests.support.plain import NOBODY
from tests.support.site import RunningSite, running_site
from tests.support.tenant import Tenant, connect
from tests.support.waiting import eventually

pytestmark = needs(Need.OPENSSH)


@pytest.fixture(scope="module", params=WALLS)
def wall(request: pytest.FixtureRequest) -> str:
    need(WALLS[request.param])
    return str(request.param)


@pytest.fixture(scope="module")
def site(folder: Path, wall: str) -> Iterator[RunningSite]:
    with running_site(folder / wall, options=["--machines-on", "--wall", wall]) as site:
        yield site


@pytest.fixture(scope="module")
def tenant(site: RunningSite, key: KeyPair) -> Tenant:
    tenant = Tenant(site)
    tenant.build([key.public_line], IPUCLOUD_CLUSTER="bert")
    return tenant


@pytest.fixture
def login(tenant: Tenant, folder: Path, key: KeyPair) -> OpenSsh:
    return OpenSsh(tenant.ssh(), key, folder / f"known_hosts_{tenant.site.data.name}")


@pytest.fixture
def root(login: OpenSsh) -> str:
    """Where the server's disk is for its programs: nothing where that is the root directory."""
    return output(login, 'echo "$IPUCLOUD_ROOT"').strip()


@pytest.fixture
async def connection(tenant: Tenant, key: KeyPair) -> AsyncIterator[asyncssh.SSHClientConnection]:
    async with await connect(tenant, key) as connection:
        yield connection


def test_a_repository_is_made_pushed_to_and_cloned(login: OpenSsh, tmp_path: Path) -> None:
    """There is no network to clone from: code comes by a push over SSH."""
    identity = "-c user.name=Ada -c user.email=ada@example.org"
    git = program("git")
    output(login, "git init -q --bare model.git")
    work = tmp_path / "model"
    subprocess.run([git, "init", "-q", "-b", "main", work], check=True)
    (work / "train.py").write_text("print('trained')\n")
    subprocess.run([git, "-C", work, "add", "."], check=True)
    subprocess.run([git, "-C", work, *identity.split(), "commit", "-qm", "first"], check=True)
    ssh = " ".join([program("ssh"), *login.options, "-p", str(login.at.port)])
    push = ["-c", f"core.sshCommand={ssh}", "push", "-q", f"{login.target}:model.git", "main"]
    subprocess.run([git, "-C", work, *push], check=True, timeout=SECONDS)
    cloned = "git clone -q -b main model.git model && cd model && python3 train.py"
    assert output(login, cloned) == "trained\n"
    changed = f"cd model && echo more > notes && git add . && git {identity} commit -qm second && git push -q"
    output(login, changed)
    assert output(login, "git -C model.git log --format=%s main") == "second\nfirst\n"
    output(login, "rm -rf model model.git")


def test_programs_of_a_distribution_are_there(login: OpenSsh, root: str) -> None:
    assert output(login, "pip --version").startswith("pip ")
    assert output(login, "seq 1 100 | tail -n 2 | awk '{s += $1} END {print s}'") == "199\n"
    assert output(login, "df -h . | wc -l") == "2\n"
    assert output(login, "mkdir a && touch a/b && tar -czf a.tgz a && tar -tzf a.tgz; rm -r a a.tgz") == "a/\na/b\n"
    assert output(login, "hostname; whoami; echo $HOME") == f"bert-h1\nubuntu\n{root}/home/ubuntu\n"
    assert output(login, "sudo -n -E VARIABLE=1 sh -c 'echo $VARIABLE'") == "1\n"


def test_a_server_is_what_its_image_says(login: OpenSsh, root: str) -> None:
    """Behind Landlock, /etc is this machine's."""
    said = output(login, ". /etc/os-release && echo $ID $VERSION_ID $VERSION_CODENAME; cat /etc/lsb-release || true")
    assert root or ("ubuntu 20.04 focal\n" in said and "DISTRIB_RELEASE=20.04" in said)


def test_a_script_runs_on_uploaded_data_and_its_result_is_fetched(login: OpenSsh, tmp_path: Path) -> None:
    script, data, result = (tmp_path / name for name in ("train.py", "data.json", "result.json"))
    script.write_text("import json; json.dump(sum(json.load(open('data.json'))), open('result.json', 'w'))\n")
    data.write_text(json.dumps(list(range(1000))))
    assert login.scp(str(script), ":train.py").returncode == 0
    assert login.sftp(f"put {data} data.json\n").returncode == 0
    output(login, "python3 train.py")
    assert login.scp(":result.json", str(result), legacy=True).returncode == 0
    assert json.loads(result.read_text()) == 499500


def test_a_virtual_environment_works(login: OpenSsh, root: str) -> None:
    make_environment = (
        "python3 -m venv --without-pip env && . env/bin/activate && python -c 'import sys; print(sys.prefix)'"
    )
    assert output(login, f"{make_environment}; rm -rf ~/env") == f"{root}/home/ubuntu/env\n"


def test_a_model_is_trained_with_numpy(login: OpenSsh) -> None:
    digits = load().find_recipe("digits")
    assert digits is not None
    trained = output(login, f"EPOCHS=3 {shlex.join(job_command(digits) or ())}; rm -r digits")
    first, *_, last = map(float, re.findall(r"^epoch \d: loss ([0-9.]+)", trained, re.MULTILINE))
    assert last < first
    assert trained.endswith("#\n  loss +---> 3 epochs\nWrote results/model.json.\n")


def test_the_servers_commands_are_programs_like_others(login: OpenSsh) -> None:
    assert output(login, "gc-info -l | tail -1").startswith(" |--- Id: [15]")
    counted = "vipu list partitions --showjson | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))'"
    assert output(login, counted) == "1\n"
    assert output(login, "printf '#!/bin/bash\\ngc-info --ipu-count\\n' > s; chmod +x s; ./s; rm s") == "16\n"
    assert output(login, 'python3 -c \'import subprocess as s; print(s.check_output(["gc-monitor"]).count(b"M2000"))\'')
    assert output(login, "gc-monitor | head -n 1 | wc -l") == "1\n"
    assert output(login, "which gc-info gc-monitor gc-inventory gc_health_check vipu | wc -l") == "5\n"


def test_the_servers_commands_use_files_from_where_they_are_called(login: OpenSsh) -> None:
    output(login, "mkdir -p deep && cd deep && vipu get partition tenant --gcd 0 --ipuof-configs > f")
    assert output(login, "cd deep && IPUOF_CONFIG_PATH=f gc-info --ipu-count") == "16\n"
    assert output(login, "ln -sf deep/f link && IPUOF_CONFIG_PATH=link gc-info --ipu-count; rm -r link deep") == "16\n"
    assert login.ssh("IPUOF_CONFIG_PATH=none gc-info -l").returncode == 1


def test_exit_statuses_and_signals_arrive(login: OpenSsh) -> None:
    assert [login.ssh(command).returncode for command in ("true", "exit 7", "no-such-command")] == [0, 7, 127]
    assert login.ssh("kill -TERM $$").returncode == 255


@pytest.mark.anyio
async def test_a_signal_of_the_client_reaches_the_program(connection: asyncssh.SSHClientConnection) -> None:
    process = await connection.create_process(
        "trap 'echo caught; exit 9' TERM; echo ready; while :; do sleep 0.1; done"
    )
    await process.stdout.readuntil("ready\n")
    process.terminate()
    done = await process.wait(timeout=SECONDS)
    assert (done.exit_status, done.stdout) == (9, "caught\n")
    process = await connection.create_process("echo ready; exec sleep 100000")
    await process.stdout.readuntil("ready\n")
    process.kill()
    done = await process.wait(timeout=SECONDS)
    assert done.exit_signal is not None
    assert done.exit_signal[0] == "KILL"


@pytest.mark.anyio
async def test_a_terminal_has_the_clients_size_and_job_control(connection: asyncssh.SSHClientConnection) -> None:
    process = await connection.create_process("bash --norc", term_type="xterm", term_size=(101, 41))
    process.stdin.write("stty size; tty\n")
    shown = await process.stdout.readuntil("/dev/pts/")
    assert "41 101" in shown
    process.change_terminal_size(77, 33)
    process.stdin.write("stty size\n")
    await process.stdout.readuntil("33 77")
    process.stdin.write("sh -c 'echo run''ning; exec sleep 100000'\n")
    await process.stdout.readuntil("running")
    process.stdin.write("\x1a")
    await process.stdout.readuntil("Stopped")
    process.stdin.write("kill -9 %1; fg; exit 4\n")
    done = await process.wait(timeout=SECONDS)
    assert done.exit_status == 4


@pytest.mark.anyio
async def test_who_reads_slowly_gets_all_of_a_long_output(connection: asyncssh.SSHClientConnection) -> None:
    done = await connection.run("head -c 20000000 /dev/zero", encoding=None, timeout=SECONDS)
    assert len(done.stdout or b"") == 20_000_000


@pytest.mark.anyio
async def test_a_port_is_forwarded_to_a_server_on_the_server(connection: asyncssh.SSHClientConnection) -> None:
    served = "mkdir -p www && cd www && echo hello > page && exec python3 -u -m http.server 8123 --bind 127.0.0.1"
    process = await connection.create_process(served)
    await process.stdout.readline()
    listener = await connection.forward_local_port("127.0.0.1", 0, "localhost", 8123)
    async with httpx.AsyncClient(trust_env=False, timeout=SECONDS, verify=NOBODY) as client:
        for _ in range(3):
            assert (await client.get(f"http://127.0.0.1:{listener.get_port()}/page")).text == "hello\n"
    listener.close()
    process.kill()
    await process.wait(timeout=SECONDS)
    with pytest.raises(asyncssh.ChannelOpenError, match="Connection refused"):
        await connection.open_connection("localhost", 8124)


@pytest.mark.anyio
async def test_a_forwarded_connection_closes_when_the_customer_is_the_last_to_end_it(
    connection: asyncssh.SSHClientConnection,
) -> None:
    greets = (
        "import socket; s = socket.create_server(('127.0.0.1', 8126)); print(); c, _ = s.accept(); c.send(b'hello')"
    )
    process = await connection.create_process(f'exec python3 -u -c "{greets}; c.shutdown(1); c.recv(1)"')
    await process.stdout.readline()
    reader, writer = await connection.open_connection("localhost", 8126)
    assert await reader.read() == b"hello"
    writer.write_eof()
    async with asyncio.timeout(SECONDS):
        await writer.wait_closed()
        await process.wait()


def test_openssh_forwards_to_the_server_itself(login: OpenSsh) -> None:
    serving = "nohup python3 -m http.server 8125 --bind 127.0.0.1 > log 2>&1 & echo $!"
    pid = output(login, serving).strip()
    eventually(lambda: "HTTP" in _fetched(login, 8125), "what listens on the server is reached")
    output(login, f"kill {pid}")


def _fetched(login: OpenSsh, port: int) -> str:
    return login.ssh(flags=["-W", f"localhost:{port}"], stdin=b"GET / HTTP/1.0\r\n\r\n").stdout.decode()


@needs(Need.PROCPS)
def test_a_process_survives_its_login_and_ends_with_the_server(tenant: Tenant, login: OpenSsh, root: str) -> None:
    for action in ("reboot", "power-cycle"):
        output(login, "nohup sleep 31337 > /dev/null 2>&1 &")
        assert output(login, "pgrep -f 'sleep 3133[7]'").strip()
        output(
            login, f"echo kept > kept; mkdir -p {root}/data/set && echo data > {root}/data/set/a; echo x > {root}/srv/t"
        )
        tenant.power(action)
        tenant.wait_for(HostState.RUNNING)
        assert login.ssh("pgrep -f 'sleep 3133[7]'").returncode == 1
        assert output(login, f"cat kept {root}/data/set/a {root}/srv/t") == "kept\ndata\nx\n"
    assert output(login, "hostname") == "bert-h1\n"


def test_power_off_leaves_no_process_on_this_machine(tenant: Tenant, login: OpenSsh) -> None:
    output(login, "nohup sleep 27182 > /dev/null 2>&1 & nohup sleep 27182 > /dev/null 2>&1 &")
    eventually(lambda: _processes("27182") == 2, "both run")
    tenant.power("off")
    eventually(lambda: _processes("27182") == 0, "the processes of the server are gone")
    tenant.power("on")
    tenant.wait_for(HostState.RUNNING)
    assert output(login, "cat kept") == "kept\n"


def test_a_site_that_is_killed_leaves_no_process(folder: Path, key: KeyPair, wall: str) -> None:
    with running_site(folder / f"killed-{wall}", options=["--machines-on", "--wall", wall]) as site:
        tenant = Tenant(site)
        tenant.deploy([key.public_line])
        login = OpenSsh(tenant.ssh(), key, folder / f"known_hosts_killed_{wall}")
        output(login, "echo kept > kept; nohup sleep 16180 > /dev/null 2>&1 &")
        site.kill()
        eventually(lambda: _processes("16180") == 0, "the processes of the server are gone")
        site.start()
        again = OpenSsh(Tenant(site).ssh(), key, folder / f"known_hosts_killed_{wall}")
        assert output(again, "cat kept") == "kept\n"


def _processes(seconds: str) -> int:
    """How many of this machine's processes sleep for so long."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            count += (process / "cmdline").read_bytes() == f"sleep\0{seconds}\0".encode()
        except OSError:
            continue
    return count


def test_a_wiped_server_leaves_nothing_whatever_was_made_there(site: RunningSite, key: KeyPair, folder: Path) -> None:
    wiped = Tenant(site, name="wiped", machines=0, host="lux2-h003")
    wiped.deploy([key.public_line])
    login = OpenSsh(wiped.ssh(), key, folder / f"known_hosts_wiped_{site.data.name}")
    output(login, "mkdir -p closed/inner && echo x > closed/inner/file && chmod 0 closed/inner closed")
    deep = "import os\nfor _ in range(2000):\n os.mkdir('d' * 40)\n os.chdir('d' * 40)\n"
    output(login, "python3 -", stdin=deep.encode())
    output(login, "mkfifo pipe; ln -s / root; nohup sleep 14142 > /dev/null 2>&1 &")
    wiped.wipe()
    wiped.wait_for(HostState.CLEAN)
    assert _processes("14142") == 0
    assert not (site.data / "hosts" / wiped.host).exists()


@needs(Need.PROCPS)
def test_two_servers_keep_apart(tenant: Tenant, login: OpenSsh, key: KeyPair, folder: Path, root: str) -> None:
    other = Tenant(tenant.site, name="other", machines=0, host="lux2-h002")
    other.deploy([key.public_line])
    neighbour = OpenSsh(other.ssh(), key, folder / f"known_hosts_other_{tenant.site.data.name}")
    output(login, f"echo mine > {root}/srv/mine; nohup sleep 17320 > /dev/null 2>&1 &")
    output(login, "nohup python3 -m http.server 8126 > l 2>&1 &")
    # Behind Landlock the process is seen.
    assert neighbour.ssh("pgrep -f 'sleep 1732[0]'").returncode == (0 if root else 1)
    assert neighbour.ssh("pkill -f 'sleep 1732[0]'").returncode == 1
    assert neighbour.ssh(f"cat {root}/srv/mine").returncode == 1
    eventually(lambda: "HTTP" in _fetched(login, 8126), "what listens on the server is reached")
    assert "HTTP" not in _fetched(neighbour, 8126)
    assert output(login, "kill $(pgrep -f 'sleep 1732[0]'); pkill -f 'http.server 812[6]'") == ""


def test_a_server_boots_whatever_a_customer_breaks_on_its_disk(tenant: Tenant, login: OpenSsh, root: str) -> None:
    etc = f"{root}/etc"
    output(
        login,
        f"rm -rf {etc}/* {root}/var/* ~/.ipuof.conf.d 2>/dev/null; mkdir {etc}/passwd; ln -s /usr {etc}/ssl; true",
    )
    output(login, f"rm -f {etc}/hosts; ln -s /nowhere {etc}/hosts; ln -s /proc ~/.ipuof.conf.d")
    tenant.power("reboot")
    tenant.wait_for(HostState.RUNNING)
    assert output(login, f"cat {etc}/hostname") == "bert-h1\n"
    assert output(login, f"rm ~/.ipuof.conf.d; rmdir {etc}/passwd; gc-info --ipu-count") == "16\n"
    tenant.power("reboot")
    tenant.wait_for(HostState.RUNNING)
    assert output(login, "whoami") == "ubuntu\n"


def test_a_disk_that_is_too_full_ends_what_fills_it(folder: Path, key: KeyPair, wall: str) -> None:
    with running_site(folder / f"small-{wall}", options=["--machines-on", "--disk", "64", "--wall", wall]) as site:
        tenant = Tenant(site)
        tenant.deploy([key.public_line])
        login = OpenSsh(tenant.ssh(), key, folder / f"known_hosts_small_{wall}")
        assert login.ssh("head -c 100M /dev/zero > big").returncode != 0, "no file is longer than the disk"
        output(login, "rm big")
        fill = "i=0; while :; do i=$((i + 1)); head -c 4M /dev/zero > part$i; done"
        assert login.ssh(fill).returncode == 255
        assert output(login, "rm part*; echo room > room; cat room") == "room\n"


@needs(Need.RSYNC)
def test_rsync_brings_only_what_changed(login: OpenSsh, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a").write_text("a")
    ssh = " ".join([program("ssh"), *login.options, "-p", str(login.at.port)])
    rsync = [program("rsync"), "-a", "--stats", "-e", ssh, f"{tmp_path}/tree/", f"{login.target}:tree/"]
    subprocess.run(rsync, check=True, timeout=SECONDS)
    (tmp_path / "tree" / "b").write_text("b")
    done = subprocess.run(rsync, check=True, capture_output=True, timeout=SECONDS)
    assert b"Number of regular files transferred: 1" in done.stdout
    assert output(login, "cat tree/a tree/b") == "ab"
