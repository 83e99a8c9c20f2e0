"""The table of roles in docs/security.md is what the code allows."""

from __future__ import annotations

import re
from pathlib import Path

from ipucloud.identity.roles import Permission, Role, allowed

PAGE = (Path(__file__).parents[3] / "docs" / "security.md").read_text()


def test_roles_and_permissions() -> None:
    head, *rows = re.findall(r"^\| (permission|`[a-z0-9:-]+`) \|(.*)\|$", PAGE, re.MULTILINE)
    roles = [Role(cell.strip()) for cell in head[1].split("|")]
    documented = {
        (Permission(name.strip("`")), role): cell.strip() == "yes"
        for name, cells in rows
        for role, cell in zip(roles, cells.split("|"), strict=True)
    }
    assert documented == {(permission, role): allowed(role, permission) for permission in Permission for role in Role}
