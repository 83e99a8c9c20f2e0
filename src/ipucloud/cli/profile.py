"""URL, token and project: from the environment, else from the file written by `ipucloud configure`."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import typer

from ipucloud.client.errors import UsageError


@dataclass(frozen=True)
class Profile:
    """None: not configured."""

    url: str | None = None
    token: str | None = field(default=None, repr=False)
    project: str | None = None


def config_dir(environment: Mapping[str, str]) -> Path:
    """IPUCLOUD_CONFIG_DIR, else the platform's configuration directory."""
    return Path(environment.get("IPUCLOUD_CONFIG_DIR") or typer.get_app_dir("ipucloud"))


def load(environment: Mapping[str, str]) -> Profile:
    """The effective profile: environment variables override the file.

    Raises UsageError when the file cannot be read.
    """
    stored = stored_profile(environment)
    return Profile(
        url=environment.get("IPUCLOUD_URL") or stored.url,
        token=environment.get("IPUCLOUD_TOKEN") or stored.token,
        project=environment.get("IPUCLOUD_PROJECT") or stored.project,
    )


def stored_profile(environment: Mapping[str, str]) -> Profile:
    path = profile_path(environment)
    try:
        content = json.loads(path.read_text())
    except FileNotFoundError:
        return Profile()
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read. Run `ipucloud configure` to replace it.") from error
    if not isinstance(content, dict):
        raise UsageError(f"{path} is not a valid settings file. Run `ipucloud configure` to replace it.")
    return Profile(**{name: _text(content.get(name)) for name in ("url", "token", "project")})


def save(profile: Profile, environment: Mapping[str, str]) -> Path:
    """Write the file atomically, readable only by this user."""
    path = profile_path(environment)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(dir=path.parent, prefix=".config-")  # mode 0600
    with os.fdopen(number, "w") as file:
        json.dump(asdict(profile), file, indent=2)
        file.write("\n")
    Path(name).replace(path)
    return path


def profile_path(environment: Mapping[str, str]) -> Path:
    return config_dir(environment) / "config.json"


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
