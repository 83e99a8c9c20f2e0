"""Attempts of a customer's programs to get out of their server, each of which has to fail.

An attempt is a text for the server's bash that exits 0 when it has got out. Those of `REAL` are run on this machine as
well, where they succeed: they look for what is really there.
"""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import textwrap
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.machine import WALLS, Need, need, program
from tests.support.openssh import SECONDS, KeyPair, OpenSsh, make_key
from tests.support.site import RunningSite, running_site
from tests.support.tenant import Tenant

CANARY = "a-secret-of-this-machine"


def python(code: str) -> str:
    """A text for bash that runs Python code, in which `libc` and `syscall` are the C library's."""
    head = "import ctypes, fcntl, os, socket, sys; libc = ctypes.CDLL(None, use_errno=True); syscall = libc.syscall\n"
    return f"python3 - <<'END'\n{head}{textwrap.dedent(code)}\nEND"


def succeeds(call: str) -> str:
    """The same for one call that answers less than 0 when the kernel refuses it."""
    return python(f"sys.exit({call} < 0)")


REAL = {
    "a file by its path": "grep -q . {canary}",
    "a file through ..": "grep -q . ../../../../../../../../..{canary}",
    "a file through a symbolic link": "ln -sfn {canary} way && grep -q . way",
    "a file through a link to its folder": "ln -sfn {folder} way && grep -q . way/canary",
    "a file through /proc/self/root": "grep -q . /proc/self/root{canary}",
    "a file through /proc/self/cwd": "grep -q . /proc/self/cwd/../../../../../../../../..{canary}",
    "the folder of the site": "ls {site}",
    "the state of the site": "grep -q . {site}/site.json",
    "the host key of a server": "grep -q . {site}/hosts/lux2-h002/host_key",
    "the disk of another server": "grep -q . {site}/hosts/lux2-h002/disk/home/ubuntu/treasure",
    "the room of another server": ": > {site}/hosts/lux2-h002/disk/home/ubuntu/planted",
    "the authority of the V-IPU controllers": "grep -q . {authority}",
    "the certificates of the control plane": "grep -q . {site}/clients/luxembourg-2.pem",
    "shared memory": "grep -q . /dev/shm/{shared}",
    "a process, by /proc": "test -e /proc/{pid}/cmdline",
    "the list of processes": "ls /proc | grep -qx {pid}",
    "a process, by a signal": "kill -0 {pid}",
    "the environment of a process": "tr '\\0' '\\n' < /proc/{pid}/environ | grep -q {secret}",
    "the file system of a process": "grep -q . /proc/{pid}/root{canary}",
    "a listener on the loopback address": "exec 3<>/dev/tcp/127.0.0.1/{port}",
    "the HTTP interface of the site": "exec 3<>/dev/tcp/127.0.0.1/{http}",
    "a socket by its path": python("socket.socket(socket.AF_UNIX).connect('{folder}/socket')"),
    "an abstract socket": python("socket.socket(socket.AF_UNIX).connect('\\0{abstract}')"),
    "shared memory of System V": succeeds("libc.shmget({key}, 4096, 0)"),
    "a terminal": "echo x > {terminal}",
    "the limits of a process": python("import resource; resource.prlimit({pid}, resource.RLIMIT_NOFILE, (9, 9))"),
    "the niceness of a process": "renice -n 19 -p {pid}",
}
"""What is there on this machine, outside of every server."""

FORBIDDEN = {
    "read the password file": "grep -q . /etc/shadow",
    "read kernel memory": "head -c1 /proc/kcore | grep -q .",
    "read physical memory": "head -c1 /dev/mem | grep -q .",
    "read the kernel's log": "head -c1 /dev/kmsg | grep -q . || dmesg | grep -q .",
    "read a disk": "cat /dev/vda /dev/sda /dev/nvme0n1 2>/dev/null | head -c1 | grep -q .",
    "list the homes": "ls -A /home | grep -qv '^ubuntu$'",
    "list kernel settings of devices": "ls -A /sys | grep -q .",
    "list /boot": "ls -A /boot | grep -q .",
    "read the environment of process 1": "head -c1 /proc/{init}/environ | grep -q .",
    "read the command line of process 1": "tr -d '\\0 ' < /proc/{init}/cmdline | grep -q .",
    "read the memory of process 1": "head -c1 /proc/{init}/maps | grep -q .",
    "list the descriptors of process 1": "ls /proc/{init}/fd",
    "enter the root of process 1": "ls /proc/{init}/root/",
    "trace process 1": succeeds("libc.ptrace(16, {init}, 0, 0)"),
    "take a descriptor of process 1": succeeds("syscall(438, syscall(434, {init}, 0), 3, 0)"),
    "kill process 1": "kill -9 {init}; kill -TERM {init}; kill -INT {init}; sleep 0.2; ! test -e /proc/{init}",
    "use an inherited descriptor": "ls /proc/self/fd | grep -qvE '^[0-3]$'",
    "find the site's secrets in the environment": "env | grep -iE 'token|secret|password|IPUCLOUD_SITE'",
    "write below /usr": ": > /usr/bin/evil",
    "replace a program": ": > /usr/bin/env",
    "replace the server's own commands": ': > "$(command -v gc-info)"',
    "write into the root directory": ": > /evil",
    "set a kernel parameter": "echo x > /proc/sys/kernel/core_pattern",
    "allow namespaces again": "echo 9 > /proc/sys/user/max_user_namespaces",
    "press the magic key": "echo b > /proc/sysrq-trigger",
    "make /usr writable": "mount -o remount,rw /usr || mount -o remount,rw,bind /usr",
    "remove what covers /usr": "umount /usr || umount -l /usr",
    "mount a file system": "mount -t tmpfs none /mnt",
    "mount another /proc": "mount -t proc proc /proc",
    "mount what is mounted": "mkdir -p place && mount --bind /usr place",
    "change the root directory": "chroot / true",
    "pivot the root": succeeds("syscall(155, b'.', b'.')"),
    "make a device of a disk": "mknod disk b 254 0",
    "make a device of memory": "mknod memory c 1 1",
    "become root by su": "echo | su -c true",
    "become root by a set-id copy": "cp /bin/bash sb && chmod 4755 sb && ./sb -p -c '[ $EUID = 0 ]'",
    "become root": python("os.setuid(0)"),
    "become another user": python("os.setuid(65534)"),
    "join a group": python("os.setgroups([0])"),
    "make a user namespace": "unshare -U true || unshare -Ur true",
    "make a mount namespace": "unshare -rm true",
    "make a network namespace": "unshare -rn true",
    "make a user namespace by clone": python("sys.exit(libc.unshare(0x10000000) != 0)"),
    "enter the namespaces of process 1": "nsenter -t {init} -m -U -n true",
    "enter a user namespace": python("sys.exit(libc.setns(os.open('/proc/self/ns/user', 0), 0) != 0)"),
    "rename the server": "hostname evil",
    "set the clock": "date -s @0",
    "restart the machine": succeeds("libc.reboot(0x1234567)"),
    "load a module": succeeds("syscall(313, 0, b'', 0)"),
    "load a kernel": succeeds("syscall(246, 0, 0, 0, 0)"),
    "load a program into the kernel": succeeds("syscall(321, 0, (ctypes.c_uint * 18)(1, 4, 4, 1), 72)"),
    "watch the processor": succeeds("syscall(298, (ctypes.c_ulong * 16)(0x8000000000, 0), -1, 0, -1, 0)"),
    "open a file by its handle": python(
        """
        handle = (ctypes.c_uint * 4)(8, 1, 2, 0)
        sys.exit(syscall(304, os.open("/usr", 0), handle, 0) < 0 and ctypes.get_errno() == 1)
        """
    ),
    "handle page faults": succeeds("syscall(323, 0)"),
    "use io_uring": succeeds("syscall(425, 1, (ctypes.c_uint * 40)())"),
    "use a key ring": succeeds("syscall(250, 0, -3, 1)"),
    "reach the hypervisor": python("socket.socket(40, socket.SOCK_STREAM)"),
    "send raw packets": python("socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)"),
    "listen to all packets": python("socket.socket(17, socket.SOCK_RAW)"),
    "put text into another terminal": python("fcntl.ioctl(0, 0x5412, b'x')"),
    "raise a limit": "ulimit -c unlimited || ulimit -u unlimited",
    "have more memory than there is": python("bytearray(9 << 30)"),
    "write a file larger than the disk": "truncate -s 1T big",
}
"""What a program could try anywhere."""

NETWORK = {
    "send a packet out": python("socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 9))"),
    "connect to the outside": python("socket.create_connection(('192.0.2.1', 80), 5)"),
    "resolve a name": python("socket.getaddrinfo('example.org', 80)"),
    "ask the cloud's metadata service": "exec 3<>/dev/tcp/169.254.169.254/80",
}
"""What a program could try where it has a network."""

SHARED = frozenset(
    {
        "a process, by /proc",
        "a listener on the loopback address",
        "the HTTP interface of the site",
        "the list of processes",
    }
)
"""What Landlock leaves to programs, as `ipucloud sim show` and docs/simulator.md say."""
OF_ROOT = frozenset({"become root", "become root by a set-id copy", "list the descriptors of process 1"})
"""What it leaves to those that run as the root of this machine, without its capabilities."""


@dataclass
class Stage:
    """A server, another one with something to steal, and what this machine has."""

    wall: str
    tenant: Tenant
    login: OpenSsh
    names: dict[str, str]

    def leaves_open(self, name: str) -> bool:
        """Whether this wall is not to hold an attempt off."""
        return self.wall == "landlock" and name in (SHARED if os.geteuid() else SHARED | OF_ROOT)

    def attempt(self, text: str) -> subprocess.CompletedProcess[bytes]:
        return self.login.ssh(f"timeout -s KILL 60 bash -c {_quoted(self._filled(text))}", flags=self.shared)

    def on_this_machine(self, text: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
        arguments = [program("bash"), "-c", self._filled(text)]
        return subprocess.run(arguments, cwd=folder, capture_output=True, timeout=SECONDS, check=False)

    @property
    def shared(self) -> list[str]:
        """Options for one connection of all attempts."""
        return [*("-o", "ControlMaster=auto", "-o", "ControlPersist=600"), "-o", f"ControlPath={self.names['control']}"]

    def _filled(self, text: str) -> str:
        for name, value in self.names.items():
            text = text.replace("{" + name + "}", value)
        return text


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


@pytest.fixture(scope="module", params=WALLS)
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    need(Need.BASH, Need.OPENSSH, WALLS[request.param])
    folder = tmp_path_factory.mktemp("outside")
    key = make_key(folder)
    with ExitStack() as open_things:
        options = ["--machines-on", "--wall", request.param]
        site = open_things.enter_context(running_site(folder / "site", options=options))
        tenant = Tenant(site)
        tenant.build([key.public_line])
        neighbour(site, key, folder)
        names = open_things.enter_context(outside(site, folder))
        stage = Stage(request.param, tenant, OpenSsh(tenant.ssh(), key, folder / "known_hosts"), names)
        names["init"] = stage.login.ssh("echo $PPID").stdout.decode().strip() if request.param == "landlock" else "1"
        # Some of the attempts would end this machine, or those that use it.
        assert stage.attempt("kill -0 {pid}").returncode != 0
        yield stage
        stage.login.ssh(flags=[*stage.shared, "-O", "exit"])


def neighbour(site: RunningSite, key: KeyPair, folder: Path) -> None:
    """Another server, with a file of its customer."""
    other = Tenant(site, name="other", machines=0, host="lux2-h002")
    other.deploy([key.public_line])
    login = OpenSsh(other.ssh(), key, folder / "known_hosts_other")
    assert login.ssh("echo gold > treasure").returncode == 0


@contextmanager
def outside(site: RunningSite, folder: Path) -> Iterator[dict[str, str]]:
    """What is on this machine for a customer to find: a file, a process, sockets, shared memory."""
    me, libc = os.getpid(), ctypes.CDLL(None)
    folder.chmod(0o755)
    canary, name = folder / "canary", f"canary-{me}-{folder.name}"
    shared = Path("/dev/shm", name)  # noqa: S108 - where others look for it
    for file in (canary, shared):
        file.write_text(CANARY)
        file.chmod(0o644)
    environment = {"PATH": os.environ["PATH"], "CANARY": CANARY}
    with ExitStack() as open_things:
        open_things.callback(shared.unlink)
        process = open_things.enter_context(subprocess.Popen(["sleep", "100000"], env=environment))
        open_things.callback(process.kill)
        listener = open_things.enter_context(socket.create_server(("127.0.0.1", 0)))
        by_path, abstract = (open_things.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(2))
        by_path.bind(str(folder / "socket"))
        abstract.bind(f"\0{name}")
        (folder / "socket").chmod(0o777)
        for each in (listener, by_path, abstract):
            each.listen(64)
            threading.Thread(target=_accept_all, args=[each], daemon=True).start()
        terminal, slave = os.openpty()
        for descriptor in (terminal, slave):
            open_things.callback(os.close, descriptor)
        key = 0x5EED0000 + me % 60000
        open_things.callback(libc.shmctl, libc.shmget(key, 4096, 0o1666), 0, None)
        yield {
            "canary": str(canary),
            "folder": str(folder),
            "site": str(site.data),
            "secret": CANARY,
            "shared": shared.name,
            "pid": str(process.pid),
            "port": str(listener.getsockname()[1]),
            "http": site.url.rsplit(":", 1)[1],
            "abstract": name,
            "key": str(key),
            "terminal": os.ttyname(slave),
            "authority": str(next(path for path in sorted((site.data / "authorities").rglob("*")) if path.is_file())),
            "control": str(folder / "control"),
        }


def _accept_all(listener: socket.socket) -> None:
    while True:
        try:
            listener.accept()[0].close()
        except OSError:
            return


@pytest.mark.parametrize(
    "text",
    [
        "true",
        python("sys.exit(0)"),
        succeeds("libc.getpid()"),
        python("import threading; os.sched_setscheduler(threading.get_native_id(), 0, os.sched_param(0))"),
        "nice true",
    ],
)
def test_an_attempt_that_succeeds_is_seen(stage: Stage, text: str) -> None:
    assert stage.attempt(text).returncode == 0


@pytest.mark.parametrize("name", REAL)
def test_what_is_on_this_machine_is_not_on_the_server(stage: Stage, tmp_path: Path, name: str) -> None:
    there = stage.on_this_machine(REAL[name], tmp_path)
    assert there.returncode == 0, f"the attempt would prove nothing: {there.stderr.decode()}"
    tried = stage.attempt(REAL[name])
    assert (tried.returncode == 0) == stage.leaves_open(name), tried.stdout
    assert CANARY.encode() not in tried.stdout + tried.stderr


@pytest.mark.parametrize("name", FORBIDDEN)
def test_no_program_of_a_server_may(stage: Stage, name: str) -> None:
    assert (stage.attempt(FORBIDDEN[name]).returncode == 0) == stage.leaves_open(name)


@pytest.mark.parametrize("stage", ["namespaces"], indirect=True)
@pytest.mark.parametrize("name", NETWORK)
def test_no_program_of_a_server_has_a_network(stage: Stage, name: str) -> None:
    assert stage.attempt(NETWORK[name]).returncode != 0


@pytest.mark.parametrize(
    "link", ["{canary}", "/../../../../..{canary}", "/proc/1/root{canary}", "../../../../..{canary}"]
)
@pytest.mark.parametrize("way", ["legacy scp", "scp", "sftp"])
def test_no_link_on_the_server_gives_a_file_of_this_machine(stage: Stage, tmp_path: Path, link: str, way: str) -> None:
    target = link.replace("{canary}", stage.names["canary"])
    assert stage.login.ssh(f"ln -sfn {target} ~/link").returncode == 0
    stolen = tmp_path / "stolen"
    if way == "sftp":
        stage.login.sftp(f"get link {stolen}\n")
    else:
        stage.login.scp(":link", str(stolen), legacy=way == "legacy scp")
    assert not stolen.exists()


@pytest.mark.parametrize("way", ["legacy scp", "scp", "sftp"])
def test_no_link_on_the_server_leads_a_file_onto_this_machine(stage: Stage, tmp_path: Path, way: str) -> None:
    tmp_path.chmod(0o777)
    assert stage.login.ssh(f"ln -sfn {tmp_path}/planted ~/link; ln -sfn {tmp_path} ~/folder").returncode == 0
    source = tmp_path / "source"
    source.write_text("planted")
    for target in ("link", "folder/planted"):
        if way == "sftp":
            stage.login.sftp(f"put {source} {target}\n")
        else:
            stage.login.scp(str(source), f":{target}", legacy=way == "legacy scp")
    assert not (tmp_path / "planted").exists()


@pytest.mark.parametrize(
    ("prepared", "command"),
    [
        ("ln -sfn {canary} ~/x.conf; export IPUOF_CONFIG_PATH=~/x.conf", "gc-info -l"),
        ("ln -sfn /proc/self/environ ~/x.conf; export IPUOF_CONFIG_PATH=~/x.conf", "gc-info -l"),
        ("export IPUOF_CONFIG_PATH={canary}", "gc-info -l"),
        ("export IPUOF_CONFIG_PATH=../../../../../../../..{canary}", "gc-info -l"),
        ("mkfifo ~/pipe; export IPUOF_CONFIG_PATH=~/pipe", "gc-info -l"),
        ("ln -sfn {canary} ~/ca.pem; export VIPU_CLI_API_CA_FILE=~/ca.pem", "vipu list partitions"),
    ],
)
def test_the_servers_commands_read_only_its_disk(stage: Stage, prepared: str, command: str) -> None:
    """They run in the site's process, which could read more."""
    tried = stage.attempt(f"{prepared}; {command}")
    assert tried.returncode != 0
    assert CANARY.encode() not in tried.stdout + tried.stderr
    assert b"Traceback" not in tried.stderr


def test_a_link_in_the_place_of_a_file_of_the_site_is_not_followed(stage: Stage, tmp_path: Path) -> None:
    """The site writes configurations onto the disk, from outside of the sandbox."""
    tmp_path.chmod(0o777)
    vipu = "$IPUCLOUD_ROOT/etc/vipu"
    moved = f"rm -rf ~/.ipuof.conf.d {vipu}; ln -s {tmp_path} ~/.ipuof.conf.d; ln -s {tmp_path} {vipu}"
    assert stage.login.ssh(moved).returncode == 0
    stage.tenant.observe()
    stage.login.ssh("true")
    assert not list(tmp_path.iterdir())
    assert stage.login.ssh(f"rm ~/.ipuof.conf.d {vipu}; mkdir ~/.ipuof.conf.d").returncode == 0


def test_calls_that_are_none_are_refused(stage: Stage) -> None:
    """The socket of the server's commands takes anything; the site answers, and goes on."""
    calls = [b"x\n", b"[]\n", b"{}\n", b'{"program": 1}\n', b"\xff\xfe\n"]
    wrong = {"token": "", "program": "rm", "arguments": ["-rf", "/"], "environment": {}, "folder": "/"}
    text = python(
        f"""
        import json
        port = int(open(os.environ["IPUCLOUD_ROOT"] + "/run/ipucloud").read().split()[0])
        for call in [*{calls!r}, b"x" * 2_000_000, json.dumps({wrong!r}).encode() + b"\\n"]:
            with socket.socket() as server:
                server.connect(("127.0.0.1", port))
                try:
                    server.sendall(call)
                    server.shutdown(socket.SHUT_WR)
                    print(server.makefile().read().splitlines()[-1:])
                except OSError:
                    pass
        """
    )
    done = stage.attempt(text)
    assert done.returncode == 0, done.stderr
    assert b'"exit":0' not in done.stdout
    assert stage.attempt("gc-info --ipu-count").stdout == b"16\n"


@pytest.mark.parametrize("stage", ["landlock"], indirect=True)
def test_the_commands_of_another_server_take_no_calls(stage: Stage, tmp_path: Path) -> None:
    """Behind Landlock their port is reached by everyone on the machine, and their token is among its files."""
    file = "{site}/hosts/lux2-h002/disk/run/ipucloud"
    assert stage.attempt(f"grep -q . {file}").returncode != 0
    port = stage.on_this_machine(f"cut -d' ' -f1 {file}", tmp_path).stdout.decode().strip()
    token = "cut -d' ' -f2 \"$IPUCLOUD_ROOT/run/ipucloud\""
    call = {"program": "gc-info", "arguments": ["--ipu-count"], "environment": {}, "folder": "/", "process": 1}
    text = python(
        f"""
        import json, subprocess
        own = subprocess.check_output({token!r}, shell=True, text=True).strip()
        with socket.create_connection(("127.0.0.1", {port})) as server:
            server.sendall(json.dumps({call!r} | {{"token": own}}).encode() + b"\\n")
            print(server.makefile().read())
        """
    )
    tried = stage.attempt(text)
    assert b'"exit":2' in tried.stdout
    assert b'"out"' not in tried.stdout


def test_forwarding_leads_to_the_server_and_nowhere_else(stage: Stage) -> None:
    for target in (f"127.0.0.1:{stage.names['port']}", f"127.0.0.1:{stage.names['http']}", "192.0.2.1:80", "0.0.0.0:1"):
        done = stage.login.ssh(flags=["-W", target], stdin=b"GET / HTTP/1.0\r\n\r\n")
        assert done.returncode != 0
        assert b"HTTP" not in done.stdout
    for back in ("0:127.0.0.1:22", "/home/ubuntu/back:127.0.0.1:22"):
        assert stage.login.ssh("true", flags=["-o", "ExitOnForwardFailure=yes", "-R", back]).returncode == 255
    assert stage.login.ssh('[ -z "$SSH_AUTH_SOCK" ]', flags=["-A"]).returncode == 0, "no agent is forwarded"


def test_a_server_takes_no_more_memory_than_it_has(stage: Stage) -> None:
    """Of several processes together, the largest is killed."""
    hungry = "exec python3 -c 'import time; b = bytearray(1500 << 20); time.sleep(600)'"
    done = stage.attempt(f"for i in 1 2 3 4; do ({hungry}) & done; wait -n; kill $(jobs -p) 2>/dev/null; exit 3")
    assert done.returncode in {3, 137}
    assert stage.attempt("echo alive").stdout == b"alive\n"
