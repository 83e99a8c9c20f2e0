"""`ipucloud`: the entry point and the table of its commands."""

from __future__ import annotations

import gc
import os
import sys
from typing import Annotated

import typer

from ipucloud.cli.lazy import Entry, FirstPage, group
from ipucloud.parts import MCP

CLUSTERS = "Clusters"
WORKLOADS = "Workloads"
STORAGE = "Storage"
NETWORK = "Network"
MONEY = "Money"
ACCESS = "Access"
OPERATOR = "For operators"

COMMANDS = (
    Entry("clusters", ".commands.cluster_group", "Create, log in to, suspend, delete clusters.", CLUSTERS, first=True),
    Entry("partitions", ".commands.partitions", "Divide a cluster's IPUs among programs.", CLUSTERS, first=True),
    Entry("flavors", ".commands.catalogue:flavors_app", "List cluster sizes and their prices.", CLUSTERS, first=True),
    Entry("regions", ".commands.catalogue:regions_app", "List regions and their capacity.", CLUSTERS, first=True),
    Entry("quotas", ".commands.quotas", "List quotas, ask for higher ones, set them.", CLUSTERS, first=True),
    Entry("images", ".commands.catalogue:images_app", "List Poplar images for servers.", CLUSTERS),
    Entry("operations", ".commands.operations", "List, follow and cancel operations.", CLUSTERS),
    Entry("reservations", ".commands.reservations", "Reserve capacity for a time to come.", CLUSTERS),
    Entry("overview", ".commands.projects:overview_app", "Show the project at a glance.", CLUSTERS),
    Entry("events", ".commands.events", "Show the project's events.", CLUSTERS),
    Entry("webhooks", ".commands.webhooks", "Send events to your own server.", CLUSTERS),
    Entry("panel", ".commands.panel", "Open the control panel in a browser, signed in.", CLUSTERS),
    Entry("vipu", ".vipu.command", "Manage partitions directly at a V-IPU controller.", CLUSTERS, "vipu"),
    Entry("run", ".commands.run", "Upload files, run a program on a cluster, fetch results.", WORKLOADS, first=True),
    Entry("jobs", ".commands.jobs", "List, show, follow and stop programs that run.", WORKLOADS, first=True),
    Entry("serve", ".commands.serve", "Keep a program running on a cluster.", WORKLOADS, first=True),
    Entry("services", ".commands.service_releases", "List, show, deploy, follow and stop services.", WORKLOADS),
    Entry("notebook", ".commands.notebook", "Run JupyterLab on a cluster, in your browser.", WORKLOADS, first=True),
    Entry("recipes", ".commands.recipes", "List, show and run the models of the model garden.", WORKLOADS, first=True),
    Entry("mcp", MCP.module("command"), "Offer the API to an AI assistant as tools.", WORKLOADS, MCP.extra),
    Entry("volumes", ".commands.volumes", "Storage that outlives clusters.", STORAGE, first=True),
    Entry("snapshots", ".commands.snapshots", "Copies of volumes, to make new ones from.", STORAGE, first=True),
    Entry("s3-connections", ".commands.s3_connections", "Manage S3 buckets of exports and clusters.", STORAGE),
    Entry("addresses", ".commands.addresses", "Public addresses that outlive clusters.", NETWORK, first=True),
    Entry("spend", ".commands.spend", "Show this month's cost, on what, and the forecast.", MONEY, first=True),
    Entry("usage", ".commands.spend:usage_app", "Show minutes and cost of a cluster or the project.", MONEY),
    Entry("billing", ".commands.billing", "Show accounts, charges, invoices and prices.", MONEY, first=True),
    Entry("budgets", ".commands.budgets", "Manage monthly budgets.", MONEY, first=True),
    Entry("exports", ".commands.exports", "Export cost data as files, and schedule deliveries.", MONEY),
    Entry("login", ".commands.login", "Log in with your browser, a password or a token.", ACCESS, first=True),
    Entry("configure", ".commands.login", "The former name of `login`.", ACCESS, hidden=True),
    Entry("logout", ".commands.login:logout_app", "End a login and delete its profile.", ACCESS),
    Entry("profiles", ".commands.login:profiles_app", "List the stored profiles.", ACCESS),
    Entry("whoami", ".commands.whoami", "Show the service, the token, its project and role.", ACCESS, first=True),
    Entry("token", ".commands.request:token_app", "Print the token in use, for scripts.", ACCESS),
    Entry("request", ".commands.request", "Send a request to the API.", ACCESS),
    Entry("doctor", ".commands.doctor", "Check settings, service and machine; say what is next.", ACCESS, first=True),
    Entry("ssh-keys", ".commands.ssh_keys", "Manage public keys for logging in to servers.", ACCESS, first=True),
    Entry("tokens", ".commands.tokens", "Create, list, rotate and delete tokens.", ACCESS, first=True),
    Entry("members", ".commands.members", "Invite people, change their role, remove them.", ACCESS, first=True),
    Entry("invitations", ".commands.invitations", "List, renew and revoke invitations.", ACCESS),
    Entry("notifications", ".commands.notifications", "Events that you get by e-mail.", ACCESS),
    Entry("password", ".commands.login:password_app", "Change your password.", ACCESS),
    Entry("projects", ".commands.projects", "List, create, rename and delete projects.", ACCESS),
    Entry("audit-log", ".commands.events:audit_log_app", "Show who asked for what.", ACCESS),
    Entry("open", ".commands.panel:open_app", "Open the API reference in a browser.", ACCESS),
    Entry("help", ".commands.help", "Show this page, all commands, or the help of one.", ACCESS),
    Entry("version", ".commands.help:version_app", "Show the version.", ACCESS),
    Entry("admin", ".commands.admin", "Operate the service: hardware, work, capacity, audit.", OPERATOR, first=True),
    # The only two names of the laboratory in the product. They are loaded when called, so production processes never
    # import it.
    Entry(
        "demo", "ipucloud.laboratory.demo.command", "Show the product on simulated hardware.", OPERATOR, "laboratory"
    ),
    Entry(
        "up",
        "ipucloud.laboratory.up.command",
        "Run a complete local system until Ctrl-C.",
        OPERATOR,
        "laboratory",
        first=True,
    ),
    Entry("accounts", ".commands.accounts", "Manage billing accounts: who pays for projects.", OPERATOR),
    Entry("payments", ".commands.payments", "Record and list payments and refunds.", OPERATOR),
    Entry("credits", ".commands.payments:credits_app", "Grant and list promotional credit.", OPERATOR),
    Entry("credit-notes", ".commands.credit_notes", "Credit invoices; list credit notes.", OPERATOR),
    Entry("prices", ".commands.prices", "Manage the price book.", OPERATOR),
    Entry("tax", ".commands.seller:tax_app", "List and add tax rates.", OPERATOR),
    Entry("seller", ".commands.seller", "Show and change the seller named on invoices.", OPERATOR),
    Entry("api", ".service.api", "Serve the REST API.", OPERATOR, "service"),
    Entry("worker", ".service.worker", "Run operations that the API accepted.", OPERATOR, "service"),
    Entry("migrate", ".service.migrate", "Bring the database's schema up to date.", OPERATOR, "service"),
    Entry("bootstrap", ".service.bootstrap", "Create the first project and tokens.", OPERATOR, "service"),
    Entry("reset-password", ".service.reset_password", "Give a person a new password.", OPERATOR, "service"),
    Entry("verify-accounts", ".service.verify_accounts", "Verify accounts that you know.", OPERATOR, "service"),
    Entry("catalogue", ".service.catalogue", "Check and install your own catalogue.", OPERATOR, "service"),
    Entry("sim", ".service.sim", "Break and repair the simulated site of `up`.", OPERATOR, "service"),
    Entry("site", ".service.site", "Read a site's hardware into the inventory.", OPERATOR, "service"),
    Entry("vipu-admin", ".vipu.command:admin_app", "Administer a V-IPU controller.", OPERATOR, "vipu"),
)

app = typer.Typer(name="ipucloud", cls=FirstPage, no_args_is_help=True, rich_markup_mode=None)


def _version(value: bool) -> None:
    if value:
        from ipucloud.cli.commands.help import write_version

        write_version()
        raise typer.Exit


@app.callback()
def root(
    show_version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """IPU clusters, billed by the minute.

    `ipucloud login` stores URL, token and project as a profile; --profile or IPUCLOUD_PROFILE chooses one of several.
    IPUCLOUD_URL, IPUCLOUD_TOKEN and IPUCLOUD_PROJECT override the stored values, but not those of --profile.

    \b
    Exit status:
    0  done
    1  the service or the operation failed
    2  the command or the request is invalid
    3  the object does not exist
    4  the token is missing, invalid or lacks the permission
    5  refused because of a name, state, version, quota or capacity
    6  the service is unreachable, busy or too slow
    130  interrupted
    """


cli = group(app, COMMANDS)


def main() -> None:
    """Run the command line of this process."""
    # None is used, and looking for them reads the metadata of every package that is installed.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Of what modules make nearly all stays. The collector would go through it again and again, and at the end: a fifth
    # of the time in which an API process starts, a quarter of that of a short command. `lazy` lets it go on.
    gc.disable()
    if not os.environ.get("IPUCLOUD_DEBUG"):
        sys.excepthook = _in_a_sentence
    cli(prog_name="ipucloud")


def _in_a_sentence(kind: type[BaseException], *_: object) -> None:
    sys.stderr.write(
        f"ipucloud: the command failed with an unexpected error ({kind.__name__}). "
        "Run it again with IPUCLOUD_DEBUG=1 for details.\n"
    )


if __name__ == "__main__":
    main()
