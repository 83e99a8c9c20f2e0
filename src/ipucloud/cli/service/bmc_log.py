"""`ipucloud admin bmc-log`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

import typer

from ipucloud.cli import output
from ipucloud.cli.examples import with_examples
from ipucloud.cli.exits import Exit
from ipucloud.cli.service.connections import settings_at_hand, sites_of
from ipucloud.cli.service.failures import stop
from ipucloud.cli.session import Json
from ipucloud.cli.times import utc
from ipucloud.config import Settings
from ipucloud.site.ports import SiteError, SiteRefused
from ipucloud.wire.redfish import RedfishLogEntry

app = typer.Typer()


@app.command("bmc-log", cls=with_examples("lux2-p001-m07", "lux2-p001-m07 --json"))
def bmc_log(machine: Annotated[str, typer.Argument(help="The machine's name.")], as_json: Json = False) -> None:
    """Read a machine's BMC log at its site: changes of power, failures, sensors beyond their limits.

    It is read now, from the BMC, and not kept by the control plane; times are the BMC's own. A BMC keeps as many lines
    as it has memory for. The site is that of IPUCLOUD_SITE_URL or of the `ipucloud up` running from IPUCLOUD_DATA_DIR.
    """
    settings = settings_at_hand("site_url", with_site=True)
    try:
        entries = asyncio.run(_read(settings, machine))
    except SiteRefused:
        stop(f"The site has no machine {machine!r} whose BMC answers. `ipucloud admin machines list` has the names.")
    except SiteError as error:
        stop(f"{error}. Try again.", Exit.FAILED)
    if as_json:
        output.write_json([entry.model_dump(mode="json") for entry in entries])
        return
    rows = ((utc(entry.Created), entry.Severity, entry.Message) for entry in entries)
    output.write_table(("CREATED", "SEVERITY", "MESSAGE"), rows, wrap="MESSAGE")


async def _read(settings: Settings, machine: str) -> Sequence[RedfishLogEntry]:
    """Raises SiteError; SiteRefused where no such BMC answers."""
    async with sites_of(settings) as sites:
        return await sites.at(None, lambda: settings.site_call_timeout).machines.log(machine)
