"""The one error of the embedded server."""


class EmbeddedPostgresError(RuntimeError):
    """The embedded server cannot do what was asked; the message is a sentence for the person who runs it."""
