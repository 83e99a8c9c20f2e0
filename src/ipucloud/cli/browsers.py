"""The browser of whoever runs a command, and logging in with a code that a person approves there."""

from __future__ import annotations

import sys
import webbrowser
from time import sleep

from rich.text import Text

from ipucloud.cli import output
from ipucloud.client import me
from ipucloud.client.errors import ApiError
from ipucloud.client.models import Login
from ipucloud.client.sync import Client


def opened(address: str) -> bool:
    """Open an address; False when there is no browser."""
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False


_WAITING = frozenset({"authorization_pending", "slow_down"})
_SLOWER = 5.0


def log_in(client: Client, name: str, project: str | None) -> Login:
    """The token of whoever approves. Raises ApiError when it is denied or nobody does in time."""
    device = client.run(me.begin_device_login(name=name, project=project))
    say = output.console(sys.stderr).print
    code = (device.user_code, "bold")
    say(Text.assemble(f"Open {device.verification_uri} in a browser and enter the code ", code, "."))
    say(f"Or open {device.verification_uri_complete}", soft_wrap=True)
    say("Waiting for your approval …")
    if sys.stderr.isatty():
        opened(device.verification_uri_complete)
    interval = float(device.interval)
    while True:
        sleep(interval)
        try:
            return client.run(me.fetch_device_token(device.device_code))
        except ApiError as error:
            if error.code not in _WAITING:
                raise
            interval += _SLOWER if error.code == "slow_down" else 0.0
