"""ipucloud: an open cloud control plane for Graphcore IPU clusters."""

from importlib.metadata import version

__version__ = version("ipucloud")
