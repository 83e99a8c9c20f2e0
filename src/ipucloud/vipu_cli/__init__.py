"""The `vipu` command, for remote use (`ipucloud vipu`) and on simulated Poplar servers.

Law: it depends only on the controller's wire definitions; its caller provides a connection to the controller, an
environment and outputs.
"""

import os

# gRPC's core writes text to standard error; relevant faults also arrive as errors. Read once, at import.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
