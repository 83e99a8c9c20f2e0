"""Calls for what is sold: flavors, images, recipes and regions."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call, segment
from ipucloud.client.models import Capacity, Flavor, Image, Page, Recipe, RecipeOffer, Region


class flavors:
    """Calls for flavors: the cluster sizes that are sold."""

    @staticmethod
    def list(*, region: str | None = None) -> Call[Page[Flavor]]:
        return request.get("flavors", Page[Flavor], {"region": region}, scoped=False)

    @staticmethod
    def get(flavor: str) -> Call[Flavor]:
        return request.get(f"flavors/{segment(flavor)}", Flavor, scoped=False)


class images:
    """Calls for images of Poplar servers."""

    @staticmethod
    def list(*, region: str | None = None) -> Call[Page[Image]]:
        """All images; `max(images, key=lambda image: image.release)` is the newest."""
        return request.get("images", Page[Image], {"region": region}, scoped=False)


class recipes:
    """Calls for recipes: models of the model garden, and how they are run."""

    @staticmethod
    def list(*, task: str | None = None, runnable: bool | None = None) -> Call[Page[Recipe]]:
        """All recipes; only those for a task, and only those with or without a program."""
        return request.get("recipes", Page[Recipe], {"task": task, "runnable": runnable}, scoped=False)

    @staticmethod
    def get(recipe: str, *, region: str | None = None) -> Call[RecipeOffer]:
        """A recipe with the command of a job that runs it, the smallest flavor for it, and prices."""
        return request.get(f"recipes/{segment(recipe)}", RecipeOffer, {"region": region}, scoped=False)


class regions:
    """Calls for regions."""

    @staticmethod
    def list() -> Call[Page[Region]]:
        return request.get("regions", Page[Region], scoped=False)

    @staticmethod
    def get(region: str) -> Call[Region]:
        """One region, by slug or number."""
        return request.get(f"regions/{segment(region)}", Region, scoped=False)

    @staticmethod
    def capacity(region: str) -> Call[Page[Capacity]]:
        """How many clusters of each flavor could be created in the region now."""
        return request.get(f"regions/{segment(region)}/capacity", Page[Capacity], scoped=False)
