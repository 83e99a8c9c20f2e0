"""V-IPU controllers as the site's inventory gives them."""

from __future__ import annotations


def controller(region: str) -> str:
    """The columns of a `VipuAddress`, in order; `region` is the name of `site_regions` in the statement."""
    columns = {
        "host": "vipu_host",
        "admin_port": "vipu_admin_port",
        "secure": "vipu_secure",
        "authority": "vipu_authority",
        "controller": "region",
        "cluster_test": "vipu_cluster_test",
        "version": "vipu_version",
    }
    return ", ".join(f"{region}.{column} AS {field}" for field, column in columns.items())
