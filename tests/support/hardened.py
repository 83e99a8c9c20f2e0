"""A simulated site on a machine that refuses user namespaces and Landlock: it gives up nothing but more of them.

Within Landlock nobody mounts anything, which namespaces need. The kernel has 16 layers of it for a process, and refuses
the 17th. `python -m tests.support.hardened` takes the arguments of `ipucloud-sim`.
"""

from __future__ import annotations

import sys

from ipucloud.laboratory.simulator import main
from ipucloud.laboratory.simulator.sandbox import landlock

LAYERS = 16

if __name__ == "__main__":
    for _ in range(LAYERS):
        landlock.restrict(read=[], change=["/"])
    main.main(sys.argv[1:])
