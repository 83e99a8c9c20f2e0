"""The table of roles in docs/security.md, and what the panel offers, is what the code allows."""

from __future__ import annotations

import json
import re
from pathlib import Path

from ipucloud.identity.roles import Permission, Role, allowed, scopes_of

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "security.md").read_text()
OFFERED = (ROOT / "panel" / "src" / "pages" / "tokens" / "scopes.ts").read_text()


def test_roles_and_permissions() -> None:
    head, *rows = re.findall(r"^\| (permission|`[a-z0-9:-]+`) \|(.*)\|$", PAGE, re.MULTILINE)
    roles = [Role(cell.strip()) for cell in head[1].split("|")]
    documented = {
        (Permission(name.strip("`")), role): cell.strip() == "yes"
        for name, cells in rows
        for role, cell in zip(roles, cells.split("|"), strict=True)
    }
    assert documented == {(permission, role): allowed(role, permission) for permission in Permission for role in Role}


def test_scopes_that_the_panel_offers() -> None:
    offered = {
        Role(role): json.loads(scopes) for role, scopes in re.findall(r"^  (\w+): (\[.*\]),$", OFFERED, re.MULTILINE)
    }
    of_projects = (Role.VIEWER, Role.OPERATOR, Role.BILLING, Role.OWNER)
    assert offered == {role: sorted(scopes_of(role)) for role in of_projects}
