"""The sample of `ipucloud up --sample`, made beside a site of its own, before anything uses the database."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from pydantic import SecretStr

from ipucloud.catalogue.queries import Catalogue
from ipucloud.cli.times import duration
from ipucloud.config import Settings
from ipucloud.laboratory.keeper.keeper import Say, keeping
from ipucloud.laboratory.keeper.readiness import ReadyFile
from ipucloud.laboratory.postgres import DATABASE, EmbeddedPostgres
from ipucloud.laboratory.sample.cloud import SampleError
from ipucloud.laboratory.sample.make import Sample, empty_folder, exists, make
from ipucloud.laboratory.up import programs
from ipucloud.process.secret_files import kept_secret

FOLDER = "sample-site"
"""Where in the data directory the sample's site is while it is needed."""
INSTANT = 0.0
"""Time scale of a site that takes no time."""

PROFILE = "finance"
"""The command line's profile with the sample's token."""

TRY = """\
Project {project} has bills of {first} and {last}. For what finance does with them, run the first line above in another
terminal, and then this one, which selects the profile `{profile}`:
  export IPUCLOUD_PROFILE={profile} FIRST={first} LAST={last} INVOICE={invoice}
1. List invoices and credit notes:  ipucloud billing invoices
2. See what was spent on what:      ipucloud billing report --since $FIRST-01 --by month --by tag:team
3. Save a bill for a spreadsheet:   ipucloud exports create $LAST --output $LAST.csv
More: docs/finance.md
"""


def introduction(sample: Sample) -> str:
    """What to try with the sample."""
    first, last = sample.months[0], sample.months[-1]
    return TRY.format(project=sample.project, first=first, last=last, invoice=sample.invoice, profile=PROFILE)


def refuse_others(settings: Settings) -> None:
    """The sample moves the clock of a database. Raises SampleError when that is not ipucloud's own."""
    if settings.database_url is not None or settings.site_url is not None:
        raise SampleError(
            "--sample needs a database and a site of ipucloud's own: unset IPUCLOUD_DATABASE_URL and IPUCLOUD_SITE_URL."
        )


async def add_sample(
    server: EmbeddedPostgres, settings: Settings, catalogue: Catalogue, *, logs: Path, say: Say
) -> None:
    """Make the sample unless it is there. Nothing but this process may use the database. Raises as `make` does."""
    if await exists(settings):
        return
    say("Making the sample: two months of usage, invoices and payments.")
    began = monotonic()
    with empty_folder(settings.data_dir / FOLDER) as folder:
        await _add_beside(folder, server, settings, catalogue, logs=logs, say=say)
    say(f"The sample is made, {duration(monotonic() - began)}.")


async def _add_beside(
    folder: Path, server: EmbeddedPostgres, settings: Settings, catalogue: Catalogue, *, logs: Path, say: Say
) -> None:
    async with keeping(say) as keeper:
        ready, token, key = (folder / name for name in ("ready.json", "token", "vipu-key"))
        credentials = {
            "IPUCLOUD_SITE_TOKEN": kept_secret(token),
            "IPUCLOUD_VIPU_USER": settings.vipu_user,
            "IPUCLOUD_VIPU_ACCESS_KEY": kept_secret(key),
        }
        announced = ReadyFile(ready)
        site = keeper.keep(programs.simulated_site(folder / "data", INSTANT, credentials, announced, logs / "sample"))
        await site.ready()
        there = settings.model_copy(
            update={
                "site_url": json.loads(announced.text)["url"],
                "site_token": SecretStr(kept_secret(token)),
                "site_token_file": None,
                "vipu_access_key": SecretStr(kept_secret(key)),
                "vipu_access_key_file": None,
                "vipu_client_certificate": programs.client_certificates(folder / "data"),
            }
        )
        await make(server.url, DATABASE, there, catalogue, _quarters(say))


def _quarters(say: Say) -> Callable[[int], None]:
    """Says each quarter of the sample that is done, and how long it took."""
    began, said = monotonic(), [0]

    def report(percent: int) -> None:
        quarter = percent - percent % 25
        if quarter > said[-1]:
            said.append(quarter)
            say(f"{quarter} % of the sample, {duration(monotonic() - began)}.")

    return report
