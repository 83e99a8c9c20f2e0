"""The public keys of proofs of bills."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.reads import principal
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import IF_NONE_MATCH
from ipucloud.api.v1.catalogue import listing
from ipucloud.billing.proofs.sign import proof_keys
from ipucloud.contract.invoices import ProofKeyPage
from ipucloud.identity.roles import Permission
from ipucloud.kernel.sealing import read_keys

routes = router()


@routes.get(
    "/v1/billing/proof-keys",
    **operation(
        "listProofKeys",
        "List the public keys of proofs",
        Permission.CATALOGUE_READ,
        gives=ProofKeyPage,
        headers=(IF_NONE_MATCH,),
    ),
)
async def list_proof_keys(request: Request) -> Response:
    """List the keys that have signed months, and the one that signs now, newest first.

    The list is empty when nothing is signed because the service has no key.
    """
    await principal(request)
    services = services_of(request)
    secret = services.settings.secrets_key
    async with services.database.read() as connection:
        keys = await proof_keys(connection, None if secret is None else read_keys(secret.get_secret_value()))
    return listing(request, keys)
