"""What a fresh server has in /etc, and the small scripts among its own commands."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from ipucloud.laboratory.simulator.sandbox.plan import INSIDE_UID

_MOTD = """\
Simulated Poplar server. Its IPUs are simulated; its programs are those of the machine that runs the simulation.
gc-info, gc-inventory, gc-monitor, gc_health_check and vipu show the IPUs; ipu-run holds them while a command runs.
"""
_MOTDS = {
    False: f"{_MOTD}There is no network but the server's own: bring data and code by scp, sftp, rsync or git push.\n\n",
    True: f"{_MOTD}Paths, processes and network are those of that machine; $IPUCLOUD_ROOT is this server's disk.\n\n",
}
"""By whether the server is among the files of its machine."""

_PROFILE = """\
# Read by login shells.
umask 022
if [ -n "$PS1" ] && [ -t 1 ] && [ ! -e ~/.hushlogin ]; then cat "$IPUCLOUD_ROOT/etc/motd"; fi
for script in "$IPUCLOUD_ROOT"/etc/profile.d/*.sh; do [ -r "$script" ] && . "$script"; done
unset script
if [ -n "$BASH_VERSION" ]; then
    [ -r "$IPUCLOUD_ROOT/etc/bash.bashrc" ] && . "$IPUCLOUD_ROOT/etc/bash.bashrc"
    [ -r ~/.bashrc ] && . ~/.bashrc
fi
true
"""
_OWN_PROFILE = """\
for script in ~/.bash_profile ~/.bash_login ~/.profile; do [ -r "$script" ] && { . "$script"; break; }; done
true
"""
"""What a shell reads by itself after the profile of the root directory."""

_BASHRC = r"""# Read by interactive shells.
case $- in
    *i*) ;;
    *) return ;;
esac
PS1='{prompt} '
shopt -s checkwinsize
alias ls='ls --color=auto'
alias ll='ls -l'
"""

_UBUNTU = re.compile(r"ubuntu-([0-9]{2}\.[0-9]{2})(-|$)")
_RELEASES = {"18.04": "bionic", "20.04": "focal", "22.04": "jammy", "24.04": "noble"}
_OS_RELEASE = """\
NAME="Ubuntu"
VERSION_ID="{version}"
VERSION="{version} LTS ({title})"
PRETTY_NAME="Ubuntu {version} LTS"
ID=ubuntu
ID_LIKE=debian
VERSION_CODENAME={name}
UBUNTU_CODENAME={name}
"""
_LSB_RELEASE = """\
DISTRIB_ID=Ubuntu
DISTRIB_RELEASE={version}
DISTRIB_CODENAME={name}
DISTRIB_DESCRIPTION="Ubuntu {version} LTS"
"""

_SUDO = """\
#!/bin/sh
# The user of this server may change all that can be changed here, so the command runs as that user.
while [ $# -gt 0 ]; do
    case $1 in
        -u | -g | -h | -p | -C | -T) shift; [ $# -gt 0 ] && shift ;;
        -i | -s) shift; [ $# -eq 0 ] && exec bash -l ;;
        -l | -v | -k | -K) exit 0 ;;
        --) shift; break ;;
        -*) shift ;;
        *=*) export "$1"; shift ;;
        *) break ;;
    esac
done
[ $# -eq 0 ] && { echo "usage: sudo COMMAND" >&2; exit 1; }
exec "$@"
"""


def releases(image: str) -> dict[str, str]:
    """What says which system this is: that of an image of the catalogue, by its name, else this machine's."""
    named = _UBUNTU.match(image)
    if named is None or named[1] not in _RELEASES:
        with suppress(OSError):
            return {"os-release": Path("/etc/os-release").read_text()}
        return {}
    facts = {"version": named[1], "name": _RELEASES[named[1]], "title": _RELEASES[named[1]].title()}
    return {"os-release": _OS_RELEASE.format(**facts), "lsb-release": _LSB_RELEASE.format(**facts)}


def settings(user: str, hostname: str, root: str, image: str = "") -> dict[str, str]:
    """Files below /etc by their names there; `root`: where the server's disk is, if not in the root directory.

    `image`: the name of the one that the server was made from.
    """
    uid = INSIDE_UID
    motd = _MOTDS[bool(root)]
    if root:
        bashrc = _BASHRC.replace("{prompt}", r"$USER@$HOSTNAME:\w$")
        return {
            "bash.bashrc": bashrc,
            "hostname": f"{hostname}\n",
            "motd": motd,
            "profile": _PROFILE + _OWN_PROFILE,
        }
    return {
        **releases(image),
        "bash.bashrc": _BASHRC.replace("{prompt}", r"\u@\h:\w\$"),
        "group": f"root:x:0:\n{user}:x:{uid}:\nnogroup:x:65534:\n",
        "hostname": f"{hostname}\n",
        "hosts": f"127.0.0.1 localhost\n127.0.1.1 {hostname}\n::1 localhost ip6-localhost\n",
        "motd": motd,
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
        "passwd": (
            "root:x:0:0:root:/root:/bin/bash\n"
            f"{user}:x:{uid}:{uid}::/home/{user}:/bin/bash\n"
            "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
        ),
        "profile": _PROFILE,
        "resolv.conf": "",
        "shells": "/bin/sh\n/bin/bash\n",
    }


def image_settings(user: str, hostname: str, *, passwd: str, group: str, authority: bytes | None) -> dict[str, str]:
    """The files of /etc that are the server's also in a container image with this `passwd` and `group`.

    Of two lines for one number, programs take the first.
    """
    own = settings(user, hostname, "")
    return {
        "group": f"{user}:x:{INSIDE_UID}:\n{group}",
        "hostname": own["hostname"],
        "hosts": own["hosts"],
        "passwd": f"{user}:x:{INSIDE_UID}:{INSIDE_UID}::/home/{user}:/bin/sh\n{passwd}",
        "resolv.conf": own["resolv.conf"],
        "vipu/ca.pem": (authority or b"").decode(),
    }


def names(user: str, hostname: str) -> dict[str, str]:
    """Commands that name a server and its user where the machine has other names for both."""
    return {
        name: f'#!/bin/sh\n[ $# -eq 0 ] && exec echo {answer}\nexec /usr/bin/env PATH=/usr/bin:/bin {name} "$@"\n'
        for name, answer in (("hostname", hostname), ("whoami", user))
    }


def scripts(python: str) -> dict[str, str]:
    """Commands that a server of a cloud has, as they can be here."""
    pip = f'#!/bin/sh\nexec {python} -m pip "$@"\n'
    return {"pip": pip, "pip3": pip, "sudo": _SUDO}
