"""Where the endpoint is: from options, the environment, or a configuration file, in this order.

The file is HCL with a value for each option of the connection, as the vendor's tools read it:

    api-host = "10.1.5.2"
    api-port = "8090"
    api-user-id = "alice"
    api-access-key = "685X_K4uCzN"

The options of TLS are our own; the vendor publishes none.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from dataclasses import replace

from ipucloud.vipu_cli.endpoint import Endpoint, VipuProblem, endpoint_from, security_from
from ipucloud.vipu_cli.files import Files

DEFAULT_FILE = "/etc/vipu/vipu-cli.hcl"
PREFIX = "VIPU_CLI_API"
_OPTIONS = {
    "api-host": "HOST",
    "api-port": "PORT",
    "admin-port": "ADMIN_PORT",
    "api-user-id": "USER_ID",
    "api-access-key": "ACCESS_KEY",
    "api-ca-file": "CA_FILE",
    "api-client-cert-file": "CLIENT_CERT_FILE",
    "api-client-key-file": "CLIENT_KEY_FILE",
}
_COMMENT = r"(?:(?:\#|//).*)?"
_LINE = re.compile(
    rf"""(?P<name>[\w-]+) \s*[=:]\s* (?: "(?P<text>[^"]*)" | (?P<number>\d+) ) \s*{_COMMENT}""", re.VERBOSE
)
_NOTHING = re.compile(_COMMENT)


def endpoint_of(options: argparse.Namespace, env: Mapping[str, str], files: Files) -> Endpoint:
    """The endpoint that a command line means. Raises VipuProblem."""
    arguments = {
        "host": options.api_host,
        "admin_port" if options.admin else "port": options.api_port,
        "user_id": options.api_user_id,
        "access_key": options.api_access_key,
        "ca_file": options.api_ca_file,
        "client_cert_file": options.api_client_cert_file,
        "client_key_file": options.api_client_key_file,
        "plaintext": options.plaintext,
    }
    values = _from_file(options.config, files) | {name: value for name, value in env.items() if value}
    endpoint = endpoint_from(values, PREFIX, arguments, admin=options.admin)
    return replace(endpoint, security=security_from(values, PREFIX, arguments, files.read))


def written(endpoint: Mapping[str, str]) -> bytes:
    """A configuration file with these values, by the names of the options."""
    return "".join(f'{name} = "{value}"\n' for name, value in endpoint.items()).encode()


def _from_file(path: str | None, files: Files) -> dict[str, str]:
    """The values of a configuration file, as variables of the environment."""
    shown = path or DEFAULT_FILE
    try:
        text = files.read(shown).decode()
    except FileNotFoundError:
        if path is None:
            return {}
        raise VipuProblem(f"the configuration file {shown} does not exist") from None
    except (OSError, UnicodeDecodeError) as error:
        raise VipuProblem(f"the configuration file {shown} cannot be read") from error
    values = {}
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            if not _NOTHING.fullmatch(line):
                raise VipuProblem(f'line {number} of the configuration file {shown} is not `name = "value"`')
        elif match[1] in _OPTIONS:
            values[f"{PREFIX}_{_OPTIONS[match[1]]}"] = match[2] or match[3] or ""
    return values
