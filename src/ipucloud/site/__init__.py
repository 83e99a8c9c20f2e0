"""Ports to hardware. Law: a time-out or a 5xx means unknown, never failed; calls end within their lease."""

import os

# gRPC's core writes to standard error by itself, past the log, as text; what matters of it arrives as an error anyway.
# It reads this once, when it is imported.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
