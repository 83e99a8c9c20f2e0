"""What signs the SSH certificates of a project's members; `clusters.sign_ssh_key` gets one."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call
from ipucloud.client.models import SshAuthority


def get() -> Call[SshAuthority]:
    """The authority, with the clusters whose servers do not know it yet. A project has one with its first cluster."""
    return request.get("ssh-authority", SshAuthority)


def rotate() -> Call[SshAuthority]:
    """Replace the authority: no certificate of the former one logs in any more, once each cluster has learnt of it."""
    return request.post("ssh-authority:rotate", SshAuthority)
