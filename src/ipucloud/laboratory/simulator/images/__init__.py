"""Container images: from a registry, or from an engine on this machine, to a folder that a sandbox has as its root.

Law: nothing of an image is trusted. What arrives is bounded and its digest is compared; it is unpacked by a process of
its own, below one folder; and its programs run behind the wall of the server that asked for it.
"""

from __future__ import annotations


class ImageProblem(Exception):
    """Why an image cannot be had: a sentence for the customer, without anything secret."""
