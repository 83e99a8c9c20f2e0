"""OpenID Connect providers: where a browser signs in and out, and who a provider says the person is.

The authorization code flow with PKCE (RFC 7636), state and nonce. A provider speaks for a person only with an ID token
that it signed for this client and this sign-in, and for an e-mail only if it verified that and the operator trusts it
with the domain. Every request has a time-out; an answer is read up to a limit.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

import orjson
import structlog

from ipucloud.config import OidcProvider
from ipucloud.identity import logout_tokens
from ipucloud.identity.logout_tokens import Logout, TokenRefused
from ipucloud.kernel.clock import Clock
from ipucloud.kernel.errors import EMAIL_NOT_VERIFIED, IDENTITY_REFUSED, PROVIDER_UNAVAILABLE, Problem

if TYPE_CHECKING:
    import httpx
    from joserfc.jwk import KeySet
    from joserfc.jwt import Token

log = structlog.get_logger(__name__)

_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Signatures with a public key: neither none nor HMAC, whose key would be the client's secret."""
_KEPT = 3600.0
"""Seconds that discovery and keys are used; unknown keys are looked up at once, `_AGAIN` apart."""
_AGAIN = 30.0
_LEEWAY = 60
_MOST = 262_144
_DISCOVERED = ("authorization_endpoint", "token_endpoint", "jwks_uri")


@dataclass(frozen=True, slots=True)
class Identity:
    """A person as a provider knows it: `issuer` and `subject` never change, the e-mail is verified.

    `sid` is the session there, if the provider says which it is.
    """

    issuer: str
    subject: str
    email: str
    sid: str | None = None


@dataclass(slots=True)
class _Known:
    """What is kept of a provider."""

    discovery: Mapping[str, Any] = field(default_factory=dict)
    discovered_at: float = float("-inf")
    keys: KeySet | None = None
    keys_at: float = float("-inf")


def nonce_of(browser: str) -> str:
    """The nonce of the sign-in with this secret of the browser's cookie."""
    return _derived("nonce", browser)


def _verifier_of(browser: str) -> str:
    return _derived("code verifier", browser)


def _derived(use: str, browser: str) -> str:
    return _base64url(hashlib.sha256(f"{use}\0{browser}".encode()).digest())


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Providers:
    """The providers of the settings, in their order."""

    def __init__(self, providers: tuple[OidcProvider, ...], clock: Clock) -> None:
        self.all = {provider.name: provider for provider in providers}
        self._clock = clock
        self._known = {name: _Known() for name in self.all}
        self._client: httpx.AsyncClient | None = None

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def authorization_url(self, provider: OidcProvider, *, state: str, browser: str, redirect_uri: str) -> str:
        """Where the browser goes. Raises `Problem` provider_unavailable."""
        endpoint = (await self._discovery(provider))["authorization_endpoint"]
        challenge = _base64url(hashlib.sha256(_verifier_of(browser).encode()).digest())
        parameters = {
            "response_type": "code",
            "client_id": provider.client_id,
            "redirect_uri": redirect_uri,
            "scope": "openid email",
            "state": state,
            "nonce": nonce_of(browser),
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return _with_query(endpoint, parameters)

    async def sign_out_url(self, issuer: str, hint: str, back: str | None) -> tuple[OidcProvider, str] | None:
        """The provider with this issuer, and where a browser signs out there (OpenID Connect RP-Initiated Logout 1.0).

        `hint`: the session or person there; `back`: where the browser may return to. None: the settings have the
        provider no more, it has no such page, or does not answer.
        """
        provider = next((each for each in self.all.values() if each.issuer == issuer), None)
        if provider is None:
            return None
        try:
            endpoint = (await self._discovery(provider)).get("end_session_endpoint")
        except Problem:
            return None
        if not _usable(endpoint, _schemes(provider)):
            return None
        returning = {} if back is None else {"post_logout_redirect_uri": back}
        return provider, _with_query(str(endpoint), {"client_id": provider.client_id, "logout_hint": hint, **returning})

    async def logout(self, provider: OidcProvider, token: str) -> Logout:
        """Who signed out at the provider. Raises `TokenRefused`, and `Problem` provider_unavailable."""
        decoded = await self._signed(provider, token, jti={"essential": True})
        now = self._clock.now().timestamp()
        return logout_tokens.read(provider.issuer, decoded.header, decoded.claims, now=now)

    async def identify(self, provider: OidcProvider, *, code: str, browser: str, redirect_uri: str) -> Identity:
        """Who signed in. Raises `Problem` provider_unavailable, identity_refused, email_not_verified."""
        discovery = await self._discovery(provider)
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": _verifier_of(browser),
        }
        tokens = await self._exchange(provider, discovery, form)
        claims = await self._verified(provider, str(tokens.get("id_token", "")), nonce_of(browser))
        subject, said = str(claims["sub"]), claims.get("sid")
        sid = said if isinstance(said, str) and said else None
        unsaid = provider.email_claim not in claims or "email_verified" not in claims
        if unsaid and not _vouched(provider, claims) and "userinfo_endpoint" in discovery:
            headers = {"Authorization": f"Bearer {tokens.get('access_token', '')}"}
            user_info = await self._json(provider, "GET", discovery["userinfo_endpoint"], headers=headers)
            if user_info.get("sub") != subject:
                raise _refused(provider, "its user information is about somebody else")
            claims = user_info  # as a whole: what one document says of its e-mail is not about another's
        return Identity(provider.issuer, subject, _email(provider, claims), sid)

    async def _exchange(
        self, provider: OidcProvider, discovery: Mapping[str, Any], form: dict[str, str]
    ) -> Mapping[str, Any]:
        import httpx

        try:
            secret = await asyncio.to_thread(provider.secret)
        except OSError as error:
            log.error("oidc_secret_unreadable", provider=provider.name, error=type(error).__name__)
            raise _unavailable(provider) from None
        methods = discovery.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        if "client_secret_basic" in methods:
            auth: httpx.BasicAuth | None = httpx.BasicAuth(_quoted(provider.client_id), _quoted(secret))
        else:
            auth, form = None, form | {"client_id": provider.client_id, "client_secret": secret}
        return await self._json(provider, "POST", discovery["token_endpoint"], data=form, auth=auth)

    async def _verified(self, provider: OidcProvider, token: str, nonce: str) -> Mapping[str, Any]:
        """The claims of an ID token of this client and sign-in."""
        try:
            nonce_rule = {"essential": True, "value": nonce}
            decoded = await self._signed(provider, token, sub={"essential": True}, nonce=nonce_rule)
        except TokenRefused as refused:
            raise _refused(provider, f"its ID token {refused}") from None
        return decoded.claims

    async def _signed(self, provider: OidcProvider, token: str, **rules: Any) -> Token:
        """A token that the provider signed for this client, with claims as all tokens and these rules have them.

        Raises `TokenRefused`, and `Problem` provider_unavailable.
        """
        from joserfc import jwt
        from joserfc.errors import JoseError

        registry = jwt.JWTClaimsRegistry(
            now=int(self._clock.now().timestamp()),
            leeway=_LEEWAY,
            iss={"essential": True, "value": provider.issuer},
            aud={"essential": True, "value": provider.client_id},
            exp={"essential": True},
            iat={"essential": True},
            **rules,
        )
        try:
            try:
                decoded = jwt.decode(token, await self._keys(provider), algorithms=_ALGORITHMS)
            except (JoseError, ValueError):  # perhaps of a newer key
                decoded = jwt.decode(token, await self._keys(provider, fresh=True), algorithms=_ALGORITHMS)
            registry.validate(decoded.claims)
        except (JoseError, ValueError, TypeError) as error:
            raise TokenRefused(f"is not valid ({type(error).__name__})") from None
        claims: Mapping[str, Any] = decoded.claims
        audience = claims["aud"]
        several = isinstance(audience, list) and len(audience) > 1
        if ("azp" in claims or several) and claims.get("azp") != provider.client_id:
            raise TokenRefused("is for another client")
        return decoded

    async def _keys(self, provider: OidcProvider, *, fresh: bool = False) -> KeySet:
        known = self._known[provider.name]
        age = self._clock.monotonic() - known.keys_at
        if known.keys is None or age > _KEPT or (fresh and age > _AGAIN):
            document = await self._json(provider, "GET", (await self._discovery(provider))["jwks_uri"])
            known.keys = _key_set(provider, document.get("keys"))
            known.keys_at = self._clock.monotonic()
        return known.keys

    async def _discovery(self, provider: OidcProvider) -> Mapping[str, Any]:
        known = self._known[provider.name]
        if self._clock.monotonic() - known.discovered_at > _KEPT:
            url = f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration"
            document = await self._json(provider, "GET", url)
            for name in (*_DISCOVERED, *({"userinfo_endpoint"} & document.keys())):
                if not _usable(document.get(name), _schemes(provider)):
                    raise _unavailable(provider, f"its discovery document has no usable {name}")
            if document.get("issuer") != provider.issuer:
                raise _unavailable(provider, "its discovery document names another issuer")
            known.discovery, known.discovered_at = document, self._clock.monotonic()
        return known.discovery

    async def _json(self, provider: OidcProvider, method: str, url: str, **options: Any) -> Mapping[str, Any]:
        """A JSON object. Raises `Problem` provider_unavailable; identity_refused for a refusal."""
        import httpx

        try:
            async with asyncio.timeout(provider.timeout):
                status, body = await self._fetch(provider, method, url, **options)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            log.warning("oidc_provider_unavailable", provider=provider.name, error=type(error).__name__)
            raise _unavailable(provider) from None
        if 400 <= status < 500 and status != 429 and method == "POST":
            raise _refused(provider, "it does not accept the code; each works once")
        try:
            document = orjson.loads(body)
        except orjson.JSONDecodeError:
            document = None
        if status != 200 or not isinstance(document, dict):
            log.warning("oidc_provider_unavailable", provider=provider.name, status=status)
            raise _unavailable(provider)
        return document

    async def _fetch(self, provider: OidcProvider, method: str, url: str, **options: Any) -> tuple[int, bytes]:
        import httpx

        if self._client is None:
            self._client = httpx.AsyncClient(follow_redirects=False, headers={"Accept": "application/json"})
        body = b""
        async with self._client.stream(method, url, timeout=provider.timeout, **options) as response:
            async for part in response.aiter_bytes():
                body += part
                if len(body) > _MOST:
                    raise httpx.DecodingError("the answer is too long")
        return response.status_code, body


def _key_set(provider: OidcProvider, keys: object) -> KeySet:
    """The keys that can be used: a provider publishes others too, for new algorithms or other clients."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from joserfc.errors import JoseError
    from joserfc.jwk import JWKRegistry, KeySet

    usable = []
    for position, key in enumerate(keys if isinstance(keys, list) else []):
        try:
            usable.append(JWKRegistry.import_key(key))
        except (JoseError, UnsupportedAlgorithm, ValueError, KeyError, TypeError) as error:
            log.info("oidc_key_ignored", provider=provider.name, position=position, error=type(error).__name__)
    if not usable:
        raise _unavailable(provider, "it publishes no key that can be used")
    return KeySet(usable)


def _vouched(provider: OidcProvider, claims: Mapping[str, Any]) -> bool:
    """Whether the operator says that an e-mail of this provider is its holder's, whatever the provider says."""
    return provider.emails_are_verified and provider.email_claim in claims


def _unverified(provider: OidcProvider, claims: Mapping[str, Any]) -> str | None:
    """Why the e-mail does not count as verified. `email_verified` is about `email`, and so about no other address."""
    claim, about = claims[provider.email_claim], claims.get("email", claims[provider.email_claim])
    if _vouched(provider, claims):
        return None
    if str(about).lower() != str(claim).lower():
        return f"its claims email and {provider.email_claim} are two addresses, and email_verified is about the first"
    verified = claims.get("email_verified")
    if verified is True or (isinstance(verified, str) and verified.lower() == "true"):
        return None
    return f"the claim email_verified is {'missing' if verified is None else 'not true'}"


def _email(provider: OidcProvider, claims: Mapping[str, Any]) -> str:
    """The e-mail that the provider verified, or for which the operator vouches."""
    from email_validator import EmailNotValidError, validate_email

    claim = claims.get(provider.email_claim)
    if not isinstance(claim, str):
        raise Problem(
            EMAIL_NOT_VERIFIED,
            f"{provider.title} does not send your e-mail (claim {provider.email_claim}). Ask the operator.",
        )
    if why := _unverified(provider, claims):
        raise Problem(
            EMAIL_NOT_VERIFIED,
            f"{provider.title} does not say that your e-mail is verified: {why}. Verify it there, or ask the operator,"
            " who can vouch for this provider (`emails_are_verified`).",
        )
    try:
        email = validate_email(claim, check_deliverability=False).normalized.lower()
    except EmailNotValidError:
        raise Problem(EMAIL_NOT_VERIFIED, f"What {provider.title} gives as your e-mail is none.") from None
    if not provider.trusted_with(email):
        raise Problem(
            EMAIL_NOT_VERIFIED,
            f"This service does not trust {provider.title} with the e-mail {email}. Ask the operator about its domain.",
        )
    return email


def _schemes(provider: OidcProvider) -> set[str]:
    """Those that addresses of the provider may have."""
    return {"https"} if provider.issuer.startswith("https://") else {"http", "https"}


def _with_query(url: str, parameters: Mapping[str, str]) -> str:
    return f"{url}{'&' if urlsplit(url).query else '?'}{urlencode(parameters)}"


def _usable(url: object, schemes: set[str]) -> bool:
    try:
        parts = urlsplit(url) if isinstance(url, str) else None
    except ValueError:  # such as http://[
        return False
    return parts is not None and bool(parts.hostname) and parts.scheme in schemes


def _quoted(text: str) -> str:
    """As RFC 6749, section 2.3.1, wants it before it becomes HTTP Basic; %20 is a space to every decoder, + is not."""
    return quote(text, safe="")


def _refused(provider: OidcProvider, why: str) -> Problem:
    return Problem(IDENTITY_REFUSED, f"The answer of {provider.title} is not accepted: {why}. Sign in again.")


def _unavailable(provider: OidcProvider, why: str = "it does not answer as it should, or not in time") -> Problem:
    return Problem(
        PROVIDER_UNAVAILABLE,
        f"{provider.title} cannot be used now: {why}. Try again later, or sign in with a password.",
        headers={"Retry-After": "10"},
    )
