"""V-IPU controllers as the site's inventory gives them, in the terms of statements."""

from __future__ import annotations


def controller(alias: str) -> str:
    """The columns of a `VipuAddress`, in order; `alias` is the name of `vipu_controllers` in the statement."""
    columns = {
        "host": "host",
        "admin_port": "admin_port",
        "secure": "secure",
        "authority": "authority",
        "controller": "name",
        "cluster_test": "cluster_test",
        "version": "version",
    }
    return ", ".join(f"{alias}.{column} AS {field}" for field, column in columns.items())


def controller_of_cluster(cluster: str, alias: str) -> str:
    """A join with the controller of the machines that a cluster has, or had last; none before it had any.

    `cluster` is the name of `clusters` in the statement, `alias` the new one of `vipu_controllers`.
    """
    return f"""
      LEFT JOIN LATERAL (
        SELECT p.region, p.controller FROM allocations a JOIN machines m ON m.id = a.machine_id
          JOIN pods p ON p.id = m.pod_id
         WHERE a.project_id = {cluster}.project_id AND a.cluster_id = {cluster}.id
         ORDER BY a.created_at DESC LIMIT 1) AS {alias}_of ON true
      LEFT JOIN vipu_controllers {alias} ON {alias}.region = {alias}_of.region AND {alias}.name = {alias}_of.controller
    """  # noqa: S608  # our own text


def controller_of_pod(pod: str, alias: str) -> str:
    """A join with a pod's controller; `pod` is the name of `pods` in the statement."""
    return f"LEFT JOIN vipu_controllers {alias} ON {alias}.region = {pod}.region AND {alias}.name = {pod}.controller"


def users_at_controllers(region: str) -> str:
    """Whether the controllers of a region have users: all of them, or none. `region` is an expression."""
    return f"EXISTS (SELECT FROM vipu_controllers WHERE vipu_controllers.region = {region} AND secure)"
