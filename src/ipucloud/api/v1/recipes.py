"""Recipes of the catalogue. The same for every token."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import tagged
from ipucloud.api.reads import principal
from ipucloud.api.routing import operation, router
from ipucloud.api.services import catalogue_of
from ipucloud.api.shapes import IF_NONE_MATCH
from ipucloud.api.v1.catalogue import listing, region_slug
from ipucloud.api.v1.flavors import listed_prices, price_per_minute
from ipucloud.catalogue.recipes import job_command, smallest_flavors, working_directory
from ipucloud.contract.catalogue import Flavor, InRegion
from ipucloud.contract.recipes import Recipe, RecipeOfferOut, RecipePage, RecipesQuery
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import not_found
from ipucloud.kernel.money import Money

routes = router()

RecipeId = Annotated[str, Field(description="Id of the recipe.", examples=["digits"])]


@routes.get(
    "/v1/recipes",
    **operation("listRecipes", "List recipes", Permission.CATALOGUE_READ, gives=RecipePage, headers=(IF_NONE_MATCH,)),
)
async def list_recipes(request: Request, query: RecipesQuery) -> Response:
    """List the model garden's models. Those with a program are ready to run."""
    await principal(request)
    matches = [
        recipe
        for recipe in catalogue_of(request).recipes
        if query.task in {None, recipe.task} and query.runnable in {None, recipe.program is not None}
    ]
    return listing(request, matches)


@routes.get(
    "/v1/recipes/{recipe}",
    **operation(
        "getRecipe", "Read a recipe", Permission.CATALOGUE_READ, gives=RecipeOfferOut, headers=(IF_NONE_MATCH,)
    ),
)
async def get_recipe(request: Request, recipe: RecipeId, query: InRegion) -> Response:
    """Return a recipe, the command of a job that runs it, the smallest flavor for it, and what that costs.

    Without `region`, the first region of the catalogue that has such a flavor.
    """
    await principal(request)
    entry = catalogue_of(request).find_recipe(recipe)
    if entry is None:
        raise not_found()
    flavor, price = await _offer(request, entry, region_slug(request, query.region))
    minutes = entry.program.minutes if entry.program else None
    answer = RecipeOfferOut(
        **dict(entry),
        job_command=job_command(entry),
        working_directory=working_directory(entry),
        flavor=flavor.name if flavor else None,
        price_per_minute=price,
        expected_price=price * minutes if price and minutes else None,
    )
    return tagged(request, to_json(answer), 0)


async def _offer(request: Request, recipe: Recipe, region: str | None) -> tuple[Flavor | None, Money | None]:
    """The cheapest of the smallest flavors for a recipe, and the price of a minute of it."""
    catalogue = catalogue_of(request)
    if recipe.program is None:
        return None, None
    regions = [each.slug for each in catalogue.regions] if region is None else [region]
    prices = await listed_prices(request)
    for slug in regions:
        flavors = smallest_flavors(catalogue, recipe.program, slug)
        offers = [(flavor, price_per_minute(request, flavor, slug, prices)) for flavor in flavors]
        if offers:
            return min(offers, key=lambda offer: (offer[1] is None, offer[1].amount if offer[1] else 0))
    return None, None
