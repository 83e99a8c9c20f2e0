"""What all bodies on the site's wire have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Wire(BaseModel):
    """A body on the site's wire. Unknown fields of an answer are ignored, so that a newer site stays readable."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)
