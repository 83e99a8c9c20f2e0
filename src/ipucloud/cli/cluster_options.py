"""Options and arguments that several commands about clusters have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ipucloud.cli.completion import names
from ipucloud.cli.finding import CLUSTER, CONNECTION, FLAVOR, IMAGE, REGION, SSH_KEY, VOLUME, find
from ipucloud.cli.session import Session
from ipucloud.client import flavors, images, ssh_keys
from ipucloud.client.errors import UsageError

Name = Annotated[str, typer.Argument(help="Name or id of the cluster.", autocompletion=names(CLUSTER))]
Flavor = Annotated[
    str, typer.Option(help="Size of the cluster; see `ipucloud flavors list`.", autocompletion=names(FLAVOR))
]
Region = Annotated[
    str | None, typer.Option(help="Region; required if the flavor is sold in several.", autocompletion=names(REGION))
]
Image = Annotated[
    str | None,
    typer.Option(
        help="Poplar image, or a snapshot of a server of the project; default: the newest image.",
        autocompletion=names(IMAGE),
    ),
]
Keys = Annotated[
    list[str] | None,
    typer.Option(
        "--ssh-key",
        help="Name of an SSH key; repeatable. Default: the project's only key.",
        autocompletion=names(SSH_KEY),
    ),
]
Buckets = Annotated[
    list[str] | None,
    typer.Option(
        "--s3-connection",
        help="Name of an S3 connection for its servers; repeatable.",
        autocompletion=names(CONNECTION),
    ),
]
AllowFrom = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-from",
        metavar="NETWORK",
        help="Let it be used from this network or address only, such as 203.0.113.0/24; repeatable.",
    ),
]
FromEverywhere = Annotated[bool, typer.Option("--allow-from-everywhere", help="Let SSH in from everywhere.")]
Volumes = Annotated[
    list[str] | None,
    typer.Option(
        "--volume",
        metavar="VOLUME[:SERVER]",
        help="Name or id of a volume for its first Poplar server, or the one with this number, from 0; repeatable.",
        autocompletion=names(VOLUME),
    ),
]
ContainerImage = Annotated[
    str | None,
    typer.Option("--image", metavar="IMAGE", help="Container image to run it in, such as ghcr.io/me/train:1."),
]
RegistryUser = Annotated[
    str | None,
    typer.Option(
        "--registry-user",
        metavar="USER",
        help="Who logs in at the image's registry. The password is asked for, or read from standard input.",
    ),
]
Sync = Annotated[
    Path | None, typer.Option(exists=True, file_okay=False, help="Upload what changed in this directory, run there.")
]
SyncYes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before more than 1 GB is uploaded.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it is done.")]
Idle = Annotated[
    int | None,
    typer.Option(
        "--idle-suspend", min=5, max=43_200, metavar="MINUTES", help="Suspend it when nobody has used it for so long."
    ),
]
Preemptible = Annotated[
    bool,
    typer.Option(
        "--preemptible",
        help="At the preemptible price; suspended with notice when another cluster needs its room.",
    ),
]
PoplarServers = Annotated[
    int | None, typer.Option("--poplar-servers", min=1, help="Number of Poplar servers; by default, the flavor's.")
]
WaitForCapacity = Annotated[
    bool, typer.Option("--wait-for-capacity", help="Wait in the queue when no machines are free for it.")
]
Patience = Annotated[float | None, typer.Option("--timeout", help="Maximum seconds to wait; the operation continues.")]
Server = Annotated[int, typer.Option(help="Index of the Poplar server, from 0.")]
Identity = Annotated[
    Path | None, typer.Option("--identity", "-i", exists=True, dir_okay=False, help="Private key to log in with.")
]


def only_region(session: Session, flavor: str) -> str:
    regions = session.run(flavors.get(flavor)).regions
    if len(regions) != 1:
        raise UsageError(f"Flavor {flavor} is sold in {', '.join(regions) or 'no region'}: choose one with --region.")
    return regions[0]


def newest_image(session: Session, region: str) -> str:
    every = [*session.client.items(images.list())]
    offered = [image for image in every if region in image.regions]
    if not offered:  # of a region that is misspelt, or called by its number
        slug = find(session.client, REGION, region).slug
        offered = [image for image in every if slug in image.regions]
    if not offered:
        raise UsageError(f"No image is offered in {region}.")
    return max(offered, key=lambda image: image.release).name


def only_key(session: Session) -> list[str]:
    names = [key.name for key in session.client.items(ssh_keys.list())]
    if not names:
        raise UsageError("The project has no SSH key. Add one with `ipucloud ssh-keys create`.")
    if len(names) > 1:
        raise UsageError(f"Choose SSH keys with --ssh-key: {', '.join(names)}.")
    return names
