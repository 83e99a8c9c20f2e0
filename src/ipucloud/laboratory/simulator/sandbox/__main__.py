"""Starts a sandbox: puts a wall around itself, then waits for its process 1. Run by `sandbox`, in the server's disk.

The arguments: the plan, the descriptor of the control socket, and the name of its control group.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from pathlib import Path

from ipucloud.laboratory.simulator.sandbox import cgroups, init, kernel, processes, root
from ipucloud.laboratory.simulator.sandbox.plan import INSIDE_UID, WAY_IN, Plan


def main() -> None:
    plan, control = Plan.decode(sys.argv[1]), socket.socket(fileno=int(sys.argv[2]))
    control.set_inheritable(False)
    cgroups.join(sys.argv[3], memory=plan.memory, processes=plan.limits["NPROC"])
    if plan.wall == "namespaces":
        _in_namespaces(plan, control)
    else:
        _among_others(plan, control)


def _in_namespaces(plan: Plan, control: socket.socket) -> None:
    if os.geteuid() == 0:
        os.setgroups([])
    _enter_namespaces(plan)
    if child := os.fork():
        control.close()
        _, status = os.waitpid(child, 0)
        os._exit(0 if status == 0 else 1)
    os.setsid()
    root.build(plan)
    kernel.become(INSIDE_UID, INSIDE_UID, shared=False)
    _serve(plan, control)


def _among_others(plan: Plan, control: socket.socket) -> None:
    """Start process 1 among this machine's processes, and end all that descends from it with it, or with its owner.

    No program of the server reaches this process, which is not of their domain and does not listen to them.
    """
    root.write_programs(plan)
    kernel.reap_descendants()
    if child := os.fork():
        init.clear_command_line()
        kernel.set_dumpable(False)
        _watch(child, control)
        processes.end_descendants()
        os._exit(0)
    kernel.reap_descendants()
    os.setsid()
    os.umask(0o022)
    if plan.own_user:
        os.setgroups([WAY_IN])
        kernel.become(plan.uid, plan.uid, shared=True)
    else:
        kernel.become(os.geteuid(), os.getegid(), shared=True, own_user=plan.wall == "none")
    _serve(plan, control)


def _watch(child: int, control: socket.socket) -> None:
    """Wait for the end of process 1, or of its owner."""
    ended = os.pidfd_open(child)
    watched = select.poll()
    watched.register(ended, select.POLLIN)
    watched.register(control, 0)  # that it is closed at the other end is told in any case
    watched.poll()


def _serve(plan: Plan, control: socket.socket) -> None:
    kernel.end_with_parent(signal.SIGKILL)  # a change of user clears it
    init.clear_command_line()
    kernel.set_dumpable(False)
    init.serve(control, plan)


def _enter_namespaces(plan: Plan) -> None:
    """Move this process and its children into new namespaces, in which the customer is `INSIDE_UID`.

    A process of the old user namespace has to say who is who. Root maps itself too: it reads what only root may.
    """
    parent, uid, gid = os.getpid(), os.geteuid(), os.getegid()
    users = f"{INSIDE_UID} {plan.uid} 1\n0 0 1\n" if uid == 0 else f"{INSIDE_UID} {uid} 1\n"
    groups = f"{INSIDE_UID} {plan.uid} 1\n0 0 1\n" if uid == 0 else f"{INSIDE_UID} {gid} 1\n"
    ready, done = os.pipe()
    if mapper := os.fork():
        os.close(ready)
        kernel.unshare(kernel.NEW_NAMESPACES)
        os.close(done)
        _, status = os.waitpid(mapper, 0)
        if status:
            sys.exit(1)
        return
    os.close(done)
    os.read(ready, 1)  # ends when the parent has its namespaces, or is gone
    try:
        Path(f"/proc/{parent}/setgroups").write_text("deny")
        Path(f"/proc/{parent}/uid_map").write_text(users)
        Path(f"/proc/{parent}/gid_map").write_text(groups)
    except OSError as error:
        sys.stderr.write(f"no user namespace: {error}\n")
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    main()
