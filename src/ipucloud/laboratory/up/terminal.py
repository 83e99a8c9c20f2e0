"""What a terminal needs to use a running system: profiles for the command line, and a file for the shell to read."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from ipucloud.client.errors import UsageError
from ipucloud.client.profiles import Profile, save, stored_profiles
from ipucloud.laboratory.keeper.keeper import Say
from ipucloud.process.secret_files import write_secret

CLIENT = "client"
"""Where in the data directory the command line's configuration is."""

ENV = "env"
"""Where in the data directory the file is that a shell reads."""

_SHELL = """\
# `. {file}` puts ipucloud on the PATH of a shell, with the profiles of the system in {data}.
export PATH={programs}:"$PATH" IPUCLOUD_CONFIG_DIR={client} IPUCLOUD_DATA_DIR={data}
unset IPUCLOUD_URL IPUCLOUD_TOKEN IPUCLOUD_PROJECT IPUCLOUD_PROFILE
"""


def write_terminal_files(data_dir: Path, profiles: Mapping[str, Profile], say: Say) -> Path:
    """Write the profiles of a system; returns the file for the shell.

    A profile that was stored there for another service is kept, and reported.
    """
    client, file = data_dir / CLIENT, data_dir / ENV
    environment = {"IPUCLOUD_CONFIG_DIR": str(client)}
    try:
        stored = stored_profiles(environment)
    except UsageError:
        stored = {}
    for name, profile in profiles.items():
        existing = stored.get(name, profile)
        if profile.url == existing.url or profile.token == existing.token:
            stored[name] = profile
        else:
            say(
                f"Profile {name} in {client} is that of {existing.url} and was kept."
                " `ipucloud logout` there deletes it."
            )
    save(stored, environment)
    paths = {"file": file, "data": data_dir, "client": client, "programs": Path(sys.executable).parent}
    write_secret(file, _SHELL.format(**{name: shlex.quote(str(path)) for name, path in paths.items()}).strip())
    return file
