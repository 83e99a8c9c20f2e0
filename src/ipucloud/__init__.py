"""ipucloud: an open cloud control plane for Graphcore IPU clusters."""

__version__: str


def __getattr__(name: str) -> str:
    """The version, looked up when it is asked for: commands that need none start sooner."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version(__name__)
