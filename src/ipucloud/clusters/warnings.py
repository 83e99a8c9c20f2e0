"""What a requested cluster is warned of: what is allowed, and probably not meant."""

from __future__ import annotations

from ipucloud.config import Settings
from ipucloud.contract.clusters import ClusterCreate
from ipucloud.contract.estimates import ClusterWarningOut

_NO_LOGIN = ClusterWarningOut(
    code="no_login",
    detail="Nobody will be able to log in to this cluster, which is billed: name the project's SSH keys in `ssh_keys`.",
)


def warnings_of(body: ClusterCreate, settings: Settings) -> list[ClusterWarningOut]:
    """What to warn of. Without a key that encrypts secrets there are no SSH certificates: no authority can sign."""
    return [] if body.ssh_keys or body.user_data or settings.secrets_key is not None else [_NO_LOGIN]
