"""What a fresh server has in /etc, and the small scripts among its own commands."""

from __future__ import annotations

from ipucloud.laboratory.simulator.sandbox.plan import INSIDE_UID

MOTD = """\
Simulated Poplar server. Its IPUs are simulated; its programs are those of the machine that runs the simulation.
gc-info, gc-inventory, gc-monitor, gc_health_check and vipu show the IPUs; ipu-run holds them while a command runs.
There is no network but the server's own: bring data and code by scp, sftp, rsync or git push.

"""

_PROFILE = """\
# Read by login shells.
umask 022
if [ -n "$PS1" ] && [ -t 1 ] && [ ! -e ~/.hushlogin ]; then cat /etc/motd; fi
for script in /etc/profile.d/*.sh; do [ -r "$script" ] && . "$script"; done
unset script
if [ -n "$BASH_VERSION" ]; then
    [ -r /etc/bash.bashrc ] && . /etc/bash.bashrc
    [ -r ~/.bashrc ] && . ~/.bashrc
fi
true
"""

_BASHRC = r"""# Read by interactive shells.
case $- in
    *i*) ;;
    *) return ;;
esac
PS1='\u@\h:\w\$ '
shopt -s checkwinsize
alias ls='ls --color=auto'
alias ll='ls -l'
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


def settings(user: str, hostname: str) -> dict[str, str]:
    """Files below /etc by their names there."""
    uid = INSIDE_UID
    return {
        "bash.bashrc": _BASHRC,
        "group": f"root:x:0:\n{user}:x:{uid}:\nnogroup:x:65534:\n",
        "hostname": f"{hostname}\n",
        "hosts": f"127.0.0.1 localhost\n127.0.1.1 {hostname}\n::1 localhost ip6-localhost\n",
        "motd": MOTD,
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


def scripts(python: str) -> dict[str, str]:
    """Commands that a server of a cloud has, as they can be here."""
    pip = f'#!/bin/sh\nexec {python} -m pip "$@"\n'
    return {"pip": pip, "pip3": pip, "sudo": _SUDO}
