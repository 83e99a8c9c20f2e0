"""The simulated site: one process that speaks a real site's protocols and keeps its own state.

Its one law: it shares nothing with the control plane but `ipucloud.wire`, and how a process logs and ends
(`ipucloud.process`). Everything it answers comes from its own store, and an answer is sent only when the state
it shows is on disk.
"""

import os

# gRPC's core writes to standard error by itself, past the log, as text. It reads this once, when it is imported.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
