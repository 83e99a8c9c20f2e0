"""Proofs of invoices, and the keys that sign them."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ipucloud.api.reads import principal, read_one
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import IF_NONE_MATCH, ProjectRef
from ipucloud.api.v1.billing_invoice_formats import Number
from ipucloud.api.v1.billing_invoices import GET
from ipucloud.api.v1.catalogue import listing
from ipucloud.billing.invoices.queries import document_of
from ipucloud.contract.invoices import ProofKeyPage
from ipucloud.extras.proofs.file import pieces_of, proof_of
from ipucloud.extras.proofs.sign import proof_keys
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import NOT_CONFIGURED, STATE_CONFLICT, not_found
from ipucloud.kernel.sealing import read_keys

routes = router()
PROOF = "application/vnd.ipucloud.invoice-proof+json"


@routes.get(
    "/v1/projects/{project}/billing/invoices/{number:invoice}/proof",
    **operation(
        "getInvoiceProof",
        "Download the proof of an invoice",
        Permission.BILLING_READ,
        errors=(STATE_CONFLICT, NOT_CONFIGURED),
        files=(PROOF,),
    ),
)
async def get_invoice_proof(request: Request, project: ProjectRef, number: Number) -> Response:
    """Return a file that proves the invoice without the service: its facts, prices, charges, and what was signed.

    `ipucloud billing verify` checks it, and so does the script `verify_bill.py`.
    """
    await read_one(request, GET, project, number=number)
    return await _proof(request, number)


@routes.get(
    "/v1/billing/invoices/{number:invoice}/proof",
    **operation(
        "getAccountInvoiceProof",
        "Download the proof of any invoice",
        Permission.ACCOUNT_READ,
        errors=(STATE_CONFLICT, NOT_CONFIGURED),
        files=(PROOF,),
    ),
)
async def get_account_invoice_proof(request: Request, number: Number) -> Response:
    """Return the file that proves the invoice; to a payer, only those of its account."""
    caller = await principal(request)
    async with services_of(request).database.read() as connection:
        if await document_of(connection, number, account_id=caller.account) is None:
            raise not_found()
    return await _proof(request, number)


async def _proof(request: Request, number: str) -> Response:
    """Sent while it is read: no connection is held meanwhile, and sealed charges do not change."""
    services = services_of(request)
    secret = services.settings.secrets_key
    async with services.database.read() as connection:
        keys = None if secret is None else read_keys(secret.get_secret_value())
        proof = await proof_of(connection, number, keys)
    headers = {"Content-Disposition": f'attachment; filename="{number}.proof"', "Cache-Control": "private, no-cache"}
    return StreamingResponse(pieces_of(services.database, proof), 200, headers, PROOF)


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
