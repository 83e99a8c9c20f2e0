"""An OpenID Connect provider as a process of its own: Authlib's, over HTTP, with PKCE.

Whoever asks is signed in at once as the person of `PUT /person`. `PUT /faults` makes it misbehave: `claims` replaces
claims of ID tokens (null leaves one out), `discovery` members of that document, `userinfo` adds such an endpoint with
this answer, `foreign_key` signs with a key that it does not publish, `status` answers the token endpoint with that,
`hang` never answers it, `keys` are published before its own. `POST /logout-token` signs one with these claims.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import flask
import httpx
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import grants
from authlib.oauth2.rfc7636 import CodeChallenge
from joserfc import jwt
from joserfc.jwk import KeySet, OctKey, RSAKey
from werkzeug.serving import make_server

from tests.support.waiting import PATIENCE

CLIENT_ID, CLIENT_SECRET = "ipucloud", "s3cret+of/the client"
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"


class Code:
    """An authorization code, with what it was asked for."""

    def __init__(self, code: str, query: Any, person: dict[str, Any]) -> None:
        self.code, self.person = code, person
        self.redirect_uri, self.scope, self.nonce = query["redirect_uri"], query["scope"], query["nonce"]
        self.code_challenge = query["code_challenge"]
        self.code_challenge_method = query["code_challenge_method"]

    def get_redirect_uri(self) -> str:
        return cast("str", self.redirect_uri)

    def get_scope(self) -> str:
        return cast("str", self.scope)


class Client:
    """The one client."""

    client_id = CLIENT_ID

    def get_client_id(self) -> str:
        return CLIENT_ID

    def check_client_secret(self, secret: str) -> bool:
        return secret == CLIENT_SECRET

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return (method, endpoint) == ("client_secret_basic", "token")

    def check_redirect_uri(self, uri: str) -> bool:
        return uri.endswith("/sign-in/callback")

    def check_response_type(self, kind: str) -> bool:
        return kind == "code"

    def check_grant_type(self, kind: str) -> bool:
        return kind == "authorization_code"

    def get_allowed_scope(self, scope: str) -> str:
        return scope

    def get_default_redirect_uri(self) -> None:
        return None


def make_app() -> flask.Flask:  # noqa: C901  # its routes
    app = flask.Flask(__name__)
    key, foreign = (RSAKey.generate_key(2048, {"kid": "first", "use": "sig"}) for _ in range(2))
    codes: dict[str, Code] = {}
    state: dict[str, Any] = {"person": {}, "faults": {}}

    class CodeGrant(grants.AuthorizationCodeGrant):  # type: ignore[misc]  # Authlib has no types
        TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_basic",)

        def save_authorization_code(self, code: str, request: Any) -> None:
            codes[code] = Code(code, flask.request.args, dict(state["person"]))

        def query_authorization_code(self, code: str, client: Client) -> Code | None:
            return codes.get(code)

        def delete_authorization_code(self, grant: Code) -> None:
            del codes[grant.code]

        def authenticate_user(self, grant: Code) -> dict[str, Any]:
            return grant.person

    server = AuthorizationServer(app, query_client=lambda _: Client(), save_token=lambda _token, _request: None)
    server.register_grant(CodeGrant, [CodeChallenge(required=True)])

    def issuer() -> str:
        return flask.request.host_url.rstrip("/")

    @app.get("/.well-known/openid-configuration")
    def discovery() -> Any:
        more = {"userinfo_endpoint": f"{issuer()}/userinfo"} if "userinfo" in state["faults"] else {}
        more |= state["faults"].get("discovery", {})
        return {
            "issuer": issuer(),
            "authorization_endpoint": f"{issuer()}/authorize",
            "token_endpoint": f"{issuer()}/token",
            "jwks_uri": f"{issuer()}/keys",
            "end_session_endpoint": f"{issuer()}/logout",
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        } | more

    @app.get("/keys")
    def keys() -> Any:
        return {"keys": [*state["faults"].get("keys", []), *KeySet([key]).as_dict(private=False)["keys"]]}

    @app.get("/authorize")
    def authorize() -> Any:
        grant = server.get_consent_grant(end_user=state["person"])
        return server.create_authorization_response(grant=grant, grant_user=state["person"])

    @app.post("/token")
    def token() -> Any:
        faults = state["faults"]
        if faults.get("hang"):
            threading.Event().wait()
        if "status" in faults:
            return {"error": "server_error"}, faults["status"]
        grant = codes.get(flask.request.form.get("code", ""))
        response = server.create_token_response()
        if response.status_code == 200 and grant is not None:
            now = int(time.time())
            claims = {"iss": issuer(), "aud": CLIENT_ID, "iat": now, "exp": now + 300, "nonce": grant.nonce}
            claims |= {**grant.person, **faults.get("claims", {})}
            response.set_data(flask.json.dumps(response.get_json() | {"id_token": signed(claims, {})}))
        return response

    @app.post("/logout-token")
    def logout_token() -> Any:
        now, asked = int(time.time()), flask.request.get_json()
        claims = {"iss": issuer(), "aud": CLIENT_ID, "iat": now, "exp": now + 120, "jti": str(uuid4())}
        claims |= {"events": {LOGOUT_EVENT: {}}, **asked["claims"]}
        return signed(claims, {"typ": "logout+jwt", **asked["header"]})

    def signed(claims: dict[str, Any], header: dict[str, Any]) -> str:
        claims = {name: value for name, value in claims.items() if value is not None}
        header = {"alg": "RS256", "kid": "first", **header}
        header = {name: value for name, value in header.items() if value is not None}
        signing: Any = foreign if state["faults"].get("foreign_key") else key
        if header["alg"] == "HS256":
            signing = OctKey.import_key(CLIENT_SECRET)
        return jwt.encode(header, claims, signing, algorithms=["RS256", "HS256"], default_type=None)

    @app.get("/userinfo")
    def userinfo() -> Any:
        return state["faults"]["userinfo"]

    @app.put("/<what>")
    def put(what: str) -> Any:
        state[what] = flask.request.get_json()
        return "", 204

    return app


class RunningProvider:
    """The process, as a test drives it."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer

    def settings(self, **more: object) -> dict[str, object]:
        """The provider in `IPUCLOUD_OIDC_PROVIDERS`."""
        usual = {
            "name": "sso",
            "title": "Example Sign-On",
            "issuer": self.issuer,
            "client_id": CLIENT_ID,
            "client_secret": CLIENT_SECRET,
            "email_domains": ["example.com"],
        }
        return usual | more

    def person(self, subject: str, email: str, *, verified: bool = True, sid: str | None = None) -> None:
        """Who is signed in at the provider from now on, in which session; it behaves."""
        self._put("person", {"sub": subject, "email": email, "email_verified": verified, "sid": sid})
        self.faults()

    def logout_token(self, header: dict[str, object] | None = None, **claims: object) -> str:
        """What the provider sends when somebody signs out there; None leaves a claim out."""
        asked = {"claims": claims, "header": header or {}}
        return httpx.post(f"{self.issuer}/logout-token", json=asked, timeout=PATIENCE).raise_for_status().text

    def faults(self, **faults: object) -> None:
        self._put("faults", faults)

    def visit(self, url: str) -> dict[str, str]:
        """What a browser brings back from the provider: `code` and `state`."""
        response = httpx.get(url, timeout=PATIENCE)
        assert response.status_code == 302, response.text
        query = parse_qs(urlsplit(response.headers["location"]).query)
        return {name: values[0] for name, values in query.items()}

    def _put(self, what: str, value: object) -> None:
        httpx.put(f"{self.issuer}/{what}", json=value, timeout=PATIENCE).raise_for_status()


@contextmanager
def oidc_provider() -> Iterator[RunningProvider]:
    """A provider that runs until the end of the block."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        fd = listener.fileno()
        command = [sys.executable, "-W", "ignore", "-m", __name__, str(fd)]
        process = subprocess.Popen(command, pass_fds=[fd], stderr=subprocess.DEVNULL)
        port = listener.getsockname()[1]
    try:
        yield RunningProvider(f"http://127.0.0.1:{port}")
    finally:
        process.kill()
        process.wait()


def main(fd: int) -> None:
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    make_server("127.0.0.1", 0, make_app(), threaded=True, fd=fd).serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]))
