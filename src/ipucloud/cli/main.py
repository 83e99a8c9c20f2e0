"""`ipucloud`: the entry point and the table of its commands."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from ipucloud.cli.lazy import Entry, group

CUSTOMER = "Clusters"
ACCOUNT = "Account"
SERVICE = "Running the service"

COMMANDS = (
    Entry("clusters", "ipucloud.cli.commands.clusters", "Create, list, log in to, suspend, delete clusters.", CUSTOMER),
    Entry("partitions", "ipucloud.cli.commands.partitions", "Divide a cluster's IPUs among programs.", CUSTOMER),
    Entry("operations", "ipucloud.cli.commands.operations", "Follow what the service is doing for you.", CUSTOMER),
    Entry("vipu", "ipucloud.cli.vipu.command", "Partitions, asked of a V-IPU controller itself.", CUSTOMER),
    Entry("flavors", "ipucloud.cli.commands.flavors", "Sizes of clusters and their prices.", CUSTOMER),
    Entry("regions", "ipucloud.cli.commands.regions", "Where clusters can be, and how many more fit.", CUSTOMER),
    Entry("images", "ipucloud.cli.commands.images", "Poplar images that servers start from.", CUSTOMER),
    Entry("events", "ipucloud.cli.commands.events", "What happened in the project.", CUSTOMER),
    Entry("webhooks", "ipucloud.cli.commands.webhooks", "Have a server of yours told what happens.", CUSTOMER),
    Entry("usage", "ipucloud.cli.commands.usage", "Minutes and cost of a cluster or of the project.", CUSTOMER),
    Entry("billing", "ipucloud.cli.commands.billing", "Who pays, what was charged and why, and prices.", CUSTOMER),
    Entry("exports", "ipucloud.cli.commands.exports", "Days of the bill as files, delivered if you like.", CUSTOMER),
    Entry("budgets", "ipucloud.cli.commands.budgets", "What a month may come to, and who is told.", CUSTOMER),
    Entry("configure", "ipucloud.cli.commands.configure", "Say where the service is and who you are.", ACCOUNT),
    Entry("whoami", "ipucloud.cli.commands.whoami", "Show who the token speaks for.", ACCOUNT),
    Entry("ssh-keys", "ipucloud.cli.commands.ssh_keys", "Public keys that servers may let in.", ACCOUNT),
    Entry("tokens", "ipucloud.cli.commands.tokens", "Make, list, replace and revoke tokens.", ACCOUNT),
    Entry("quotas", "ipucloud.cli.commands.quotas", "How much the project may hold, and holds.", ACCOUNT),
    Entry("projects", "ipucloud.cli.commands.projects", "List, show and create projects.", ACCOUNT),
    # The only two names of the laboratory in the product. They are loaded when they are called: a process that serves
    # production never imports it.
    Entry("demo", "ipucloud.laboratory.demo.command", "Do everything once, on a simulated site, and show it.", SERVICE),
    Entry("up", "ipucloud.laboratory.up.command", "Run a whole system here until Ctrl-C.", SERVICE),
    Entry("api", "ipucloud.cli.service.api", "Serve the REST API.", SERVICE),
    Entry("worker", "ipucloud.cli.service.worker", "Carry out what the API accepted.", SERVICE),
    Entry("migrate", "ipucloud.cli.service.migrate", "Bring the database's schema up to date.", SERVICE),
    Entry("bootstrap", "ipucloud.cli.service.bootstrap", "Make the first project, tokens, quotas, prices.", SERVICE),
    Entry("catalogue", "ipucloud.cli.service.catalogue", "What is sold where, in files of your own.", SERVICE),
    Entry("admin", "ipucloud.cli.service.admin", "Audit the service, and repair what is wrong.", SERVICE),
    Entry("site", "ipucloud.cli.service.site", "Read a site's hardware into the inventory.", SERVICE),
)

app = typer.Typer(name="ipucloud", no_args_is_help=True, add_completion=True)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ipucloud {version('ipucloud')}")
        raise typer.Exit


@app.callback()
def root(
    show_version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """IPU clusters, by the minute.

    IPUCLOUD_URL, IPUCLOUD_TOKEN and IPUCLOUD_PROJECT go before what `ipucloud configure` stored.

    Exit status:
    0  done
    1  the service failed, or the operation did
    2  the command or the request is not valid
    3  there is no such object
    4  the token is missing, not valid, or may not do this
    5  a name, a state, a version, the quota or the capacity stands in the way
    6  the service is unreachable, busy or too slow
    130  interrupted
    """


cli = group(app, COMMANDS)


def main() -> None:
    """Run the command line of this process."""
    if not os.environ.get("IPUCLOUD_DEBUG"):
        sys.excepthook = _in_a_sentence
    cli(prog_name="ipucloud")


def _in_a_sentence(kind: type[BaseException], *_: object) -> None:
    sys.stderr.write(
        f"ipucloud: an unforeseen error ({kind.__name__}) ended the command. "
        "Run it again with IPUCLOUD_DEBUG=1 to see where.\n"
    )


if __name__ == "__main__":
    main()
