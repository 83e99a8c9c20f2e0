"""Ports to hardware. Law: a time-out or a 5xx means unknown, never failed; calls end within their lease."""

import os

# gRPC's core writes text to standard error, bypassing the log; relevant faults also arrive as errors. The variable is
# read once, at import.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
