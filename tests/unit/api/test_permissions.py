"""Who may do what, as a table: each route needs the permission that the table has for it, and no role has more."""

from __future__ import annotations

from itertools import product

from starlette.routing import Route

from ipucloud.api.nouns import every_route
from ipucloud.api.routing import ApiRoute
from ipucloud.api.v1.terminals import TerminalRoute
from ipucloud.extras.scim.routing import ScimRoute
from ipucloud.extras.service_proxy.routes import ServiceRoute
from ipucloud.identity.roles import PERMISSIONS, Permission, Rights, Role, allowed, scopes_of
from tests.api.operations import APP, OPERATIONS
from tests.api.policy import BY_CLUSTER, NEEDED, OF_EVERYBODY, OF_ITSELF, OPEN_TO_ALL, POLICY, ROLES

PROBES = {"livez", "readyz"}
PAGES = {"/", "/errors", "/errors/{code}", "/openapi.json", "/docs", "/docs/start.js", "/docs/{name}"}
PAGES |= {"/livez", "/readyz", "/oidc/back-channel-logout/{provider}"}
APART = {
    ScimRoute: Permission.PERSON_PROVISION,
    ServiceRoute: Permission.CLUSTER_WRITE,
    TerminalRoute: Permission.CLUSTER_WRITE,
}
"""Routes that the document does not have, which need one permission each."""


def test_each_route_needs_the_permission_of_the_table() -> None:
    needed: dict[object, Permission | None] = {}
    for route in every_route(APP.routes):
        if isinstance(route, ApiRoute):
            assert needed.setdefault(route.operation_id, route.permission) is route.permission
        elif isinstance(route, ScimRoute | ServiceRoute | TerminalRoute):
            assert needed.setdefault(type(route), route.permission) is route.permission
        else:
            assert isinstance(route, Route)
            needed[route.path] = None
    table: dict[object, Permission | None] = dict.fromkeys(OPEN_TO_ALL - PROBES | PAGES)
    assert needed == table | APART | NEEDED


def test_each_route_shows_tokens_of_clusters_what_the_table_says() -> None:
    routes = [each for each in every_route(APP.routes) if isinstance(each, ApiRoute) and each.permission is not None]
    in_path = {each.operation_id for each in routes if each.path.startswith("/v1/projects/{project}/clusters/{cluster")}
    declared = {each.operation_id for each in routes if each.by_cluster}
    assert in_path | declared == BY_CLUSTER | OF_EVERYBODY | OF_ITSELF - {"signOut"}


def test_every_operation_has_a_row() -> None:
    assert OPERATIONS.keys() == POLICY.keys() | OPEN_TO_ALL


def test_a_role_has_the_permissions_of_the_table_and_no_others() -> None:
    assert PERMISSIONS == ROLES
    assert ROLES.keys() == set(Permission) == scopes_of(Role.ADMIN)
    for permission, role in product(Permission, Role):
        having = role in ROLES[permission]
        assert allowed(role, permission) is having
        assert (permission in scopes_of(role)) is having
        assert Rights(role).allow(permission) is having
        assert Rights(role, frozenset(set(Permission) - {permission})).allow(permission) is False
        assert Rights(role, frozenset({permission})).scopes == ({permission} if having else set())
