"""For operators: how machines were validated, and hardware cleaned between clusters."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from ipucloud.admin.cleanings import LIST_CLEANINGS
from ipucloud.admin.validations import LIST_VALIDATIONS
from ipucloud.api.routing import operation, router
from ipucloud.api.v1.operator.lists import keyed_list
from ipucloud.contract.operator_cleanings import CleaningList, CleaningPage
from ipucloud.contract.operator_validations import ValidationList, ValidationPage
from ipucloud.identity.roles import Permission

routes = router()


@routes.get(
    "/v1/operator/cleanings",
    **operation("listCleanings", "List cleanings", Permission.PLATFORM_READ, gives=CleaningPage),
)
async def list_cleanings(request: Request, query: CleaningList) -> Response:
    """List what was observed of machines and hosts between two clusters, oldest first.

    Hardware that a clean-up could not clean has no entry until it was cleaned; until then no cluster gets it.
    """
    return await keyed_list(request, LIST_CLEANINGS, query)


@routes.get(
    "/v1/operator/validations",
    **operation("listValidations", "List validations", Permission.PLATFORM_READ, gives=ValidationPage),
)
async def list_validations(request: Request, query: ValidationList) -> Response:
    """List the machines that wait for a validation or are being validated, oldest first; or the past ones."""
    return await keyed_list(request, LIST_VALIDATIONS, query)
