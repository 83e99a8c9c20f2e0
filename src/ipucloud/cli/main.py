"""`ipucloud`: the entry point and the table of its commands."""

from __future__ import annotations

import gc
import os
import sys
from typing import Annotated

import typer

from ipucloud.cli.lazy import Entry, group

CUSTOMER = "Clusters"
ACCOUNT = "Account"
OPERATOR = "Billing, for operators"
SERVICE = "Running the service"

COMMANDS = (
    Entry(
        "clusters",
        "ipucloud.cli.commands.cluster_group",
        "Create, log in to, suspend, delete clusters.",
        CUSTOMER,
    ),
    Entry("partitions", "ipucloud.cli.commands.partitions", "Divide a cluster's IPUs among programs.", CUSTOMER),
    Entry("run", "ipucloud.cli.commands.run", "Upload files, run a program on a cluster, fetch results.", CUSTOMER),
    Entry("recipes", "ipucloud.cli.commands.recipes", "List, show and run the models of the model garden.", CUSTOMER),
    Entry("jobs", "ipucloud.cli.commands.jobs", "List, show, follow and stop programs that run.", CUSTOMER),
    Entry("serve", "ipucloud.cli.commands.serve", "Keep a program running on a cluster.", CUSTOMER),
    Entry("notebook", "ipucloud.cli.commands.notebook", "Run JupyterLab on a cluster, in your browser.", CUSTOMER),
    Entry("services", "ipucloud.cli.commands.services", "List, show, follow and stop services.", CUSTOMER),
    Entry("operations", "ipucloud.cli.commands.operations", "List, follow and cancel operations.", CUSTOMER),
    Entry("mcp", "ipucloud.cli.mcp.command", "Offer the API to an AI assistant as tools.", CUSTOMER, "mcp"),
    Entry("vipu", "ipucloud.cli.vipu.command", "Manage partitions directly at a V-IPU controller.", CUSTOMER, "vipu"),
    Entry("vipu-admin", "ipucloud.cli.vipu.command:admin_app", "Administer a V-IPU controller.", SERVICE, "vipu"),
    Entry("flavors", "ipucloud.cli.commands.catalogue:flavors_app", "List cluster sizes and their prices.", CUSTOMER),
    Entry("regions", "ipucloud.cli.commands.catalogue:regions_app", "List regions and their capacity.", CUSTOMER),
    Entry("images", "ipucloud.cli.commands.catalogue:images_app", "List Poplar images for servers.", CUSTOMER),
    Entry("panel", "ipucloud.cli.commands.panel", "Open the control panel in a browser, signed in.", CUSTOMER),
    Entry("overview", "ipucloud.cli.commands.projects:overview_app", "Show the project at a glance.", CUSTOMER),
    Entry("events", "ipucloud.cli.commands.events", "Show the project's events.", CUSTOMER),
    Entry("webhooks", "ipucloud.cli.commands.webhooks", "Send events to your own server.", CUSTOMER),
    Entry("spend", "ipucloud.cli.commands.spend", "Show this month's cost, on what, and the forecast.", CUSTOMER),
    Entry(
        "usage", "ipucloud.cli.commands.spend:usage_app", "Show minutes and cost of a cluster or the project.", CUSTOMER
    ),
    Entry("billing", "ipucloud.cli.commands.billing", "Show accounts, charges, invoices and prices.", CUSTOMER),
    Entry(
        "s3-connections", "ipucloud.cli.commands.s3_connections", "Manage S3 buckets of exports and clusters.", CUSTOMER
    ),
    Entry("exports", "ipucloud.cli.commands.exports", "Export cost data as files, and schedule deliveries.", CUSTOMER),
    Entry("budgets", "ipucloud.cli.commands.budgets", "Manage monthly budgets.", CUSTOMER),
    Entry(
        "login",
        "ipucloud.cli.commands.login",
        "Log in with your browser, a password or a token.",
        ACCOUNT,
    ),
    Entry("configure", "ipucloud.cli.commands.login", "The former name of `login`.", ACCOUNT, hidden=True),
    Entry("logout", "ipucloud.cli.commands.login:logout_app", "End a login and delete its profile.", ACCOUNT),
    Entry("profiles", "ipucloud.cli.commands.login:profiles_app", "List the stored profiles.", ACCOUNT),
    Entry("whoami", "ipucloud.cli.commands.whoami", "Show the service, the token, its project and role.", ACCOUNT),
    Entry("token", "ipucloud.cli.commands.request:token_app", "Print the token in use, for scripts.", ACCOUNT),
    Entry("request", "ipucloud.cli.commands.request", "Send a request to the API.", ACCOUNT),
    Entry("doctor", "ipucloud.cli.commands.doctor", "Check settings, service and machine; say what is next.", ACCOUNT),
    Entry("ssh-keys", "ipucloud.cli.commands.ssh_keys", "Manage public keys for logging in to servers.", ACCOUNT),
    Entry("tokens", "ipucloud.cli.commands.tokens", "Create, list, rotate and delete tokens.", ACCOUNT),
    Entry("members", "ipucloud.cli.commands.members", "Invite people, change their role, remove them.", ACCOUNT),
    Entry("invitations", "ipucloud.cli.commands.invitations", "List, renew and revoke invitations.", ACCOUNT),
    Entry("notifications", "ipucloud.cli.commands.notifications", "Events that you get by e-mail.", ACCOUNT),
    Entry("password", "ipucloud.cli.commands.login:password_app", "Change your password.", ACCOUNT),
    Entry("audit-log", "ipucloud.cli.commands.events:audit_log_app", "Show who asked for what.", ACCOUNT),
    Entry("reservations", "ipucloud.cli.commands.reservations", "Reserve capacity for a time to come.", ACCOUNT),
    Entry("volumes", "ipucloud.cli.commands.volumes", "Storage that outlives clusters.", ACCOUNT),
    Entry("snapshots", "ipucloud.cli.commands.snapshots", "Copies of volumes, to make new ones from.", ACCOUNT),
    Entry("addresses", "ipucloud.cli.commands.addresses", "Public addresses that outlive clusters.", ACCOUNT),
    Entry("quotas", "ipucloud.cli.commands.quotas", "List quotas, ask for higher ones, set them.", ACCOUNT),
    Entry("projects", "ipucloud.cli.commands.projects", "List, create, rename and delete projects.", ACCOUNT),
    Entry("accounts", "ipucloud.cli.commands.accounts", "Manage billing accounts: who pays for projects.", OPERATOR),
    Entry("payments", "ipucloud.cli.commands.payments", "Record and list payments and refunds.", OPERATOR),
    Entry("credits", "ipucloud.cli.commands.payments:credits_app", "Grant and list promotional credit.", OPERATOR),
    Entry("credit-notes", "ipucloud.cli.commands.credit_notes", "Credit invoices; list credit notes.", OPERATOR),
    Entry("prices", "ipucloud.cli.commands.prices", "Manage the price book.", OPERATOR),
    Entry("tax", "ipucloud.cli.commands.seller:tax_app", "List and add tax rates.", OPERATOR),
    Entry("seller", "ipucloud.cli.commands.seller", "Show and change the seller named on invoices.", OPERATOR),
    Entry("open", "ipucloud.cli.commands.panel:open_app", "Open the API reference in a browser.", ACCOUNT),
    # The only two names of the laboratory in the product. They are loaded when called, so production processes never
    # import it.
    Entry("demo", "ipucloud.laboratory.demo.command", "Show the product on simulated hardware.", SERVICE, "laboratory"),
    Entry("up", "ipucloud.laboratory.up.command", "Run a complete local system until Ctrl-C.", SERVICE, "laboratory"),
    Entry("api", "ipucloud.cli.service.api", "Serve the REST API.", SERVICE, "service"),
    Entry("worker", "ipucloud.cli.service.worker", "Run operations that the API accepted.", SERVICE, "service"),
    Entry("migrate", "ipucloud.cli.service.migrate", "Bring the database's schema up to date.", SERVICE, "service"),
    Entry("bootstrap", "ipucloud.cli.service.bootstrap", "Create the first project and tokens.", SERVICE, "service"),
    Entry("reset-password", "ipucloud.cli.service.reset_password", "Give a person a new password.", SERVICE, "service"),
    Entry(
        "verify-accounts", "ipucloud.cli.service.verify_accounts", "Verify accounts that you know.", SERVICE, "service"
    ),
    Entry("catalogue", "ipucloud.cli.service.catalogue", "Check and install your own catalogue.", SERVICE, "service"),
    Entry("admin", "ipucloud.cli.commands.admin", "Operate the service: hardware, work, capacity, audit.", SERVICE),
    Entry("sim", "ipucloud.cli.service.sim", "Break and repair the simulated site of `up`.", SERVICE, "service"),
    Entry("site", "ipucloud.cli.service.site", "Read a site's hardware into the inventory.", SERVICE, "service"),
)

app = typer.Typer(name="ipucloud", no_args_is_help=True, add_completion=True)


def _version(value: bool) -> None:
    if value:
        from importlib.metadata import version

        typer.echo(f"ipucloud {version('ipucloud')}")
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
