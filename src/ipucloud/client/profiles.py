"""Named profiles: URL, token and project of a service, in a file that only its user can read."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from platformdirs import user_config_path

from ipucloud.client.errors import NotStoredError, UsageError

DEFAULT = "default"
"""Name of the profile that is used if no other is chosen."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


@dataclass(frozen=True)
class Profile:
    """None: not configured. `role`: that of the token when it was stored; `email`: whose login the token is."""

    url: str | None = None
    token: str | None = field(default=None, repr=False)
    project: str | None = None
    role: str | None = None
    email: str | None = None


def config_dir(environment: Mapping[str, str]) -> Path:
    """IPUCLOUD_CONFIG_DIR, else the platform's configuration directory."""
    return Path(environment.get("IPUCLOUD_CONFIG_DIR") or user_config_path("ipucloud"))


def profile_path(environment: Mapping[str, str]) -> Path:
    return config_dir(environment) / "config.json"


def chosen(environment: Mapping[str, str], name: str | None) -> str:
    """The name of the profile to use: `name`, else IPUCLOUD_PROFILE, else `default`. Raises UsageError."""
    name = name or environment.get("IPUCLOUD_PROFILE") or DEFAULT
    if not _NAME.fullmatch(name):
        raise UsageError("The name of a profile has letters, digits, dots, hyphens and underscores, at most 63.")
    return name


def load(environment: Mapping[str, str], name: str | None = None) -> Profile:
    """The profile to use.

    IPUCLOUD_URL, IPUCLOUD_TOKEN and IPUCLOUD_PROJECT override the stored values, unless the profile was chosen by
    `name`, the option --profile. Raises UsageError when the file cannot be read or has no such profile.
    """
    profiles = stored_profiles(environment)
    profile_name = chosen(environment, name)
    stored = profiles.get(profile_name)
    if stored is None and profile_name != DEFAULT:
        known = f"There are: {', '.join(profiles)}." if profiles else "No profile is stored."
        raise NotStoredError(
            f"There is no profile {profile_name}. {known} Run `ipucloud login --profile {profile_name}` to store it."
        )
    stored = stored or Profile()
    return stored if name else overridden(stored, environment)


def overridden(stored: Profile, environment: Mapping[str, str]) -> Profile:
    """The profile with the environment's URL, token and project, where it has them."""
    variables = of_variables(environment)
    return Profile(
        url=variables.url or stored.url,
        token=variables.token or stored.token,
        project=variables.project or stored.project,
        role=None if variables.token else stored.role,
        email=None if variables.token else stored.email,
    )


def of_variables(environment: Mapping[str, str]) -> Profile:
    """IPUCLOUD_URL, IPUCLOUD_TOKEN and IPUCLOUD_PROJECT."""
    return Profile(*(_text(environment.get(f"IPUCLOUD_{name}")) for name in ("URL", "TOKEN", "PROJECT")))


def stored_profiles(environment: Mapping[str, str]) -> dict[str, Profile]:
    """All profiles of the file by name. Raises UsageError when it cannot be read."""
    path = profile_path(environment)
    try:
        content = json.loads(path.read_text())["profiles"]
        return {
            name: Profile(**{each.name: _text(entry.get(each.name)) for each in fields(Profile)})
            for name, entry in content.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is not a file of profiles. Delete it, then run `ipucloud login`.") from error


def save(profiles: Mapping[str, Profile], environment: Mapping[str, str]) -> Path:
    """Write the file with exactly these profiles, atomically and readable only by this user."""
    path = profile_path(environment)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(dir=path.parent, prefix=".config-")  # mode 0600
    with os.fdopen(number, "w") as file:
        json.dump({"profiles": {name: asdict(profile) for name, profile in profiles.items()}}, file, indent=2)
        file.write("\n")
    Path(name).replace(path)
    return path


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
