"""Why an image cannot be had."""

from __future__ import annotations


class ImageProblem(Exception):
    """A sentence for the customer, without anything secret."""
