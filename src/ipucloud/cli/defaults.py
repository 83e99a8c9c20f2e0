"""What a new cluster gets where the caller chose nothing. Each raises UsageError where there is no obvious choice."""

from __future__ import annotations

from ipucloud.cli.session import Session
from ipucloud.client import flavors, images, ssh_keys
from ipucloud.client.errors import UsageError


def only_region(session: Session, flavor: str) -> str:
    regions = session.run(flavors.get(flavor)).regions
    if len(regions) != 1:
        raise UsageError(f"Flavor {flavor} is sold in {', '.join(regions) or 'no region'}: choose one with --region.")
    return regions[0]


def newest_image(session: Session, region: str) -> str:
    offered = [image for image in session.client.items(images.list()) if region in image.regions]
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
