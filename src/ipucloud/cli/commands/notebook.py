"""`ipucloud notebook`: JupyterLab on a cluster's server, in the browser of this machine."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from ipucloud.cli import notebooks
from ipucloud.cli.browsers import opened
from ipucloud.cli.cluster_options import Identity, Server
from ipucloud.cli.completion import names
from ipucloud.cli.finding import CLUSTER, find_cluster
from ipucloud.cli.notebooks import Notebook, NotebookError
from ipucloud.cli.output import write_json
from ipucloud.cli.programs import require_label, service_in_use
from ipucloud.cli.running import Place
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.syncing import Remote
from ipucloud.client.models import Cluster

app = typer.Typer()


@customer_command(app, "notebook", "bert", "bert --open", "bert --install --open", "bert --keep --local-port 9000")
def notebook(
    session: Session,
    cluster: Annotated[str, typer.Argument(help="Name or id of the cluster.", autocompletion=names(CLUSTER))],
    *,
    name: Annotated[str, typer.Option(help="Name of the notebook's service.")] = "notebook",
    server: Server = 0,
    directory: Annotated[
        str | None, typer.Option(help="Directory of the server to start in; its home if none.")
    ] = None,
    port: Annotated[int, typer.Option(min=1024, max=65_535, help="Port of the server on which it listens.")] = 8888,
    local_port: Annotated[
        int | None, typer.Option(min=1, max=65_535, help="Port of this machine; by default the same, or a free one.")
    ] = None,
    install: Annotated[
        bool, typer.Option("--install", help="Install JupyterLab on the server if it has none.")
    ] = False,
    open_page: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Let it run when this command ends.")] = False,
    identity_file: Identity = None,
) -> None:
    """Run JupyterLab on a cluster's server, and reach it on this machine until Ctrl-C.

    A notebook that runs already is reached again. The URL has its token: whoever has it runs programs on the server.
    """
    require_label(name)
    chosen = find_cluster(session.client, cluster)
    service = service_in_use(session, chosen, name)
    place = Place(session, chosen, _ordinal(chosen, service.poplar_server) if service else server, identity_file)
    remote = place.remote()
    local = notebooks.local_port(local_port, remote, service.port if service else port)
    if service is None:
        notebooks.require_jupyter(remote, chosen.name, install=install)
        running = notebooks.begun(session, chosen, remote, name, port=port, directory=directory)
    else:
        running = notebooks.joined(remote, chosen, service)
    with notebooks.until_interrupted():
        _reached(session, chosen, remote, running, local, open_page=open_page, keep=keep)


def _reached(
    session: Session, cluster: Cluster, remote: Remote, notebook: Notebook, local: int, *, open_page: bool, keep: bool
) -> None:
    """Forward a notebook until the user ends that; then end the notebook, unless it is to be kept."""
    service, again = notebook.service, f"ipucloud notebook {cluster.name} --name {notebook.service.name}"
    stops, answered = not keep, False
    try:
        with notebooks.forwarding(remote, local, service.port) as ssh, TemporaryDirectory() as folder:
            notebooks.answers(session, cluster, notebook, local, ssh)
            if ssh.poll() is None:
                url = f"http://127.0.0.1:{local}/lab?token={notebook.token}"
                answered = True
                if session.as_json:
                    write_json({"url": url, "service": service.name})
                else:
                    typer.echo(url)
                if open_page and not opened(notebooks.page(Path(folder), url).as_uri()):
                    session.note("No browser was found. Open the URL.")
                session.note(f"Ctrl-C ends {'forwarding; the notebook goes on' if keep else 'the notebook'}.")
                ssh.wait()
    except NotebookError:
        # What ran, and is only out of reach, keeps its kernels.
        stops = not (answered or notebook.reused)
        raise
    finally:
        if stops:
            notebooks.end(session, cluster, remote, service)
            session.note("The notebook was stopped. Its files stay on the server.")
        else:
            session.note(f"The notebook goes on. To reach it again: {again}")


def _ordinal(cluster: Cluster, server: str) -> int:
    return next((number for number, each in enumerate(cluster.poplar_servers) if each.name == server), 0)
