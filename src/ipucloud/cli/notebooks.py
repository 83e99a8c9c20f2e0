"""JupyterLab on a Poplar server: its token, its service, and the way to it."""

from __future__ import annotations

import secrets
import shlex
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from ipucloud.cli import ssh as openssh
from ipucloud.cli.programs import ENDED
from ipucloud.cli.session import Session
from ipucloud.cli.syncing import Remote
from ipucloud.client import services
from ipucloud.client.errors import ApiError, ClientError, UsageError
from ipucloud.client.models import Cluster, Service, ServiceState
from ipucloud.client.services import NewService

POLL_SECONDS = 0.5
PATIENCE_SECONDS = 120.0
"""For JupyterLab's first answer, once its program runs."""
MAX_RESTARTS = 3
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_LOCAL = 'PATH="$PATH:$HOME/.local/bin"'
"""Where `pip install --user` puts programs; behind those of the image, in the environment of a login."""
_FOUND = "sh -lc " + shlex.quote(f"{_LOCAL} jupyter lab --version")
_INSTALL = "sh -lc " + shlex.quote(
    'if [ -n "$VIRTUAL_ENV" ]; then python3 -m pip install -q jupyterlab 2>&1;'
    " else python3 -m pip install -q --user jupyterlab 2>&1; fi"
)
_EXTERNALLY_MANAGED = b"externally-managed-environment"
"""What pip says where a distribution manages Python's packages (PEP 668)."""
_INSTALL_APART = "sh -lc " + shlex.quote(
    'exec 2>&1; own="$HOME/.local/share/ipucloud/jupyterlab"; python3 -m venv --system-site-packages "$own"'
    ' && "$own/bin/python" -m pip install -q jupyterlab'
    ' && mkdir -p "$HOME/.local/bin" && ln -sf "$own"/bin/jupyter* "$HOME/.local/bin"'
)
_REASON_LINES = 3
_PROGRAM = f'unset JUPYTER_TOKEN; {_LOCAL} JUPYTER_TOKEN_FILE="$HOME/$0" exec jupyter lab "$@"'


@dataclass(eq=False)
class NotebookError(ClientError):
    """JupyterLab does not answer as it should, or is no longer reached."""

    detail: str


@dataclass(frozen=True)
class Notebook:
    """The service of a notebook, the token that it asks for, and whether it was there before."""

    service: Service
    token: str
    reused: bool


def token_file(name: str) -> str:
    """Where the token of the notebook `name` is, in the home of the server's user."""
    return f".ipucloud/{name}.token"


def require_jupyter(remote: Remote, cluster: str, *, install: bool) -> None:
    """Raises UsageError when the server has no JupyterLab, or it cannot be installed there."""
    if remote.run(_FOUND, check=False).returncode == 0:
        return
    if not install:
        raise UsageError(
            f"Server {remote.server.name} has no JupyterLab. Install it with `ipucloud notebook {cluster} --install`,"
            " or on the server with pip."
        )
    done = remote.run(_INSTALL, check=False)
    if _EXTERNALLY_MANAGED in done.stdout:
        done = remote.run(_INSTALL_APART, check=False)
    if done.returncode == 0:
        done = remote.run(_FOUND, check=False)
    if done.returncode != 0:
        lines = [line for line in (done.stdout or done.stderr).decode(errors="replace").splitlines() if line.strip()]
        first = next((number for number, line in enumerate(lines) if line.lower().startswith("error")), 0)
        reason = " ".join(lines[first : first + _REASON_LINES]) or f"status {done.returncode}"
        raise UsageError(f"JupyterLab cannot be installed on {remote.server.name}: {reason}")


def joined(remote: Remote, cluster: Cluster, service: Service) -> Notebook:
    """A notebook that is there, with its token. Raises UsageError when the service is something else."""
    read = remote.run(f"cat -- {token_file(service.name)}", check=False)
    token = read.stdout.decode(errors="replace").strip()
    if read.returncode != 0 or not token or service.command[:3] != ["sh", "-c", _PROGRAM]:
        raise UsageError(
            f"The service {service.name} of cluster {cluster.name} is no notebook. Choose another --name, or stop it:"
            f" ipucloud services stop {cluster.name} {service.name}"
        )
    return Notebook(service, token, reused=True)


def begun(
    session: Session, cluster: Cluster, remote: Remote, name: str, *, port: int, directory: str | None
) -> Notebook:
    """A new notebook. Its token goes to a file of the server's user over SSH, and nowhere else."""
    token = secrets.token_urlsafe(32)
    file = token_file(name)
    remote.run(f"umask 077 && mkdir -p .ipucloud && rm -f {file} && cat > {file}", stdin=token.encode())
    # A JupyterLab that is told to find another port would not be found there. Servers of a simulated site that root
    # runs may have no other user than root.
    options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    command = ["sh", "-c", _PROGRAM, file, *options]
    new_service = NewService(name, command, port, directory, None, remote.server.name, MAX_RESTARTS)
    try:
        return Notebook(session.run(services.create(cluster.id, new_service)), token, reused=False)
    except ApiError:
        remote.run(f"rm -f {file}", check=False)
        raise


def end(session: Session, cluster: Cluster, remote: Remote, service: Service) -> None:
    """Stop a notebook, and forget its token."""
    session.run(services.stop(cluster.id, service.id))
    remote.run(f"rm -f {token_file(service.name)}", check=False)


def local_port(requested: int | None, remote: Remote, port: int) -> int:
    """A port of this machine: the requested one, else the server's `port` or any other that is free.

    A simulated server on this machine may have its network, and then the notebook itself needs that port.
    Raises UsageError when the requested one is taken.
    """
    default = 0 if remote.ssh.host in LOOPBACK else port
    for candidate in (requested,) if requested else (default, 0):
        with socket.socket() as tried, suppress(OSError):
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(("127.0.0.1", candidate))
            bound: int = tried.getsockname()[1]
            return bound
    raise UsageError(f"Port {requested} of this machine is taken. Choose another --local-port, or leave it out.")


@contextmanager
def forwarding(remote: Remote, local: int, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """`port` of the server at `local` of this machine, as long as the process runs that this yields.

    What ssh reports is not shown, unless it has ended by itself: until JupyterLab listens it reports each attempt.
    Raises NotebookError then.
    """
    program, *rest = openssh.command(
        remote.server, remote.ssh, remote.known_hosts, remote.identity, (), forward=[f"{local}:{port}"]
    )
    with TemporaryDirectory(prefix="ipucloud-") as directory:
        log = Path(directory) / "ssh.log"
        with subprocess.Popen(
            [program, "-E", str(log), "-o", "ServerAliveInterval=15", *rest], stdin=subprocess.DEVNULL
        ) as process:
            try:
                yield process
                ended = process.poll()
            finally:
                process.terminate()
        if ended is not None:
            said = log.read_text(errors="replace").strip().splitlines()
            raise NotebookError(f"The connection to {remote.server.name} has ended: {said[-1] if said else 'unknown'}")


def answers(session: Session, cluster: Cluster, notebook: Notebook, local: int, ssh: subprocess.Popen[bytes]) -> None:
    """Wait until JupyterLab answers to the token. Raises NotebookError once it does not, or will not."""
    service = notebook.service
    deadline: float | None = None
    with httpx.Client(timeout=10, trust_env=False, headers={"Authorization": f"token {notebook.token}"}) as client:
        while ssh.poll() is None:
            service = session.run(services.get(cluster.id, service.id))
            if service.state in ENDED:
                raise NotebookError(
                    f"The notebook has ended: {service.state_reason}."
                    f" See why: ipucloud services logs {cluster.name} {service.name}"
                )
            if service.state == ServiceState.RUNNING:
                if _answered(client, cluster, service, local):
                    return
                deadline = deadline or time.monotonic() + PATIENCE_SECONDS
                if time.monotonic() > deadline:
                    raise NotebookError(
                        f"JupyterLab does not answer on port {service.port} of {service.poplar_server}."
                        f" See why: ipucloud services logs {cluster.name} {service.name}"
                    )
            time.sleep(POLL_SECONDS)


def _answered(client: httpx.Client, cluster: Cluster, service: Service, local: int) -> bool:
    try:
        status = client.get(f"http://127.0.0.1:{local}/api/status").status_code
    except httpx.TransportError:
        return False
    if status in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
        raise NotebookError(
            f"JupyterLab refuses the notebook's token: a configuration in ~/.jupyter of {service.poplar_server} sets a"
            f" token or password. Remove it, then: ipucloud services stop {cluster.name} {service.name}"
        )
    return status == httpx.codes.OK


def page(directory: Path, url: str) -> Path:
    """A page for this user's eyes that leads to `url`, so that the token is in no process's arguments."""
    file = directory / "notebook.html"
    file.touch(mode=0o600)
    file.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={url}"><title>JupyterLab</title>\n')
    return file


@contextmanager
def until_interrupted() -> Iterator[None]:
    """Ends, as if it were done, with Ctrl-C or SIGTERM."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)
