"""The work of observing a region, by which others wake it."""

from __future__ import annotations

OBSERVATION = "observation"
"""Kind of the work items; the key is the region."""
SOON_SECONDS = 1.0
"""Pause before a reading that decides something."""
