"""Calls for recipes: models of the model garden, and how they are run."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call, segment
from ipucloud.client.models import Page, Recipe, RecipeOffer


def list(*, task: str | None = None, runnable: bool | None = None) -> Call[Page[Recipe]]:
    """All recipes; only those for a task, and only those with or without a program."""
    return request.get("recipes", Page[Recipe], {"task": task, "runnable": runnable}, scoped=False)


def get(recipe: str, *, region: str | None = None) -> Call[RecipeOffer]:
    """A recipe with the command of a job that runs it, the smallest flavor for it, and prices."""
    return request.get(f"recipes/{segment(recipe)}", RecipeOffer, {"region": region}, scoped=False)
