"""Writes of clusters, their partitions and their operations."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from uuid import UUID

import sqlalchemy as sa

from ipucloud.identity.roles import Role
from ipucloud.inventory.health.codes import Code
from ipucloud.kernel.ids import new_id
from ipucloud.operations.ending import preempt_all
from tests.api.support import PUBLIC_KEY, cluster_json, key
from tests.proof.writes.write import At, Body, Cases, Setup, Write, after, of_project, sent
from tests.support.factories import Project
from tests.support.partitions import make_partition
from tests.support.people import make_owned, make_person


async def _created(setup: Setup) -> At:
    """A cluster that was requested just now."""
    project = await setup.project()
    cluster = await setup.world.customer(project).create()
    return At(f"/v1/projects/{project.slug}/clusters/{cluster.target_id}", project.token.secret)


async def _creation(setup: Setup) -> At:
    """The operation that creates a cluster."""
    project = await setup.project()
    cluster = await setup.world.customer(project).create()
    return At(f"/v1/projects/{project.slug}/operations/{cluster.operation_id}", project.token.secret)


async def cluster_in_use(setup: Setup, flavor: str = "m2000-pod4") -> tuple[Project, str]:
    """A project, and the path of its cluster, which has a partition `training`."""
    project = await setup.project()
    cluster = await setup.world.customer(project).create(flavor=flavor)
    async with setup.world.database.begin() as connection:
        await connection.execute(
            sa.text(
                "UPDATE clusters SET state = 'active', ready_at = app_now(), endpoint_host = '10.0.0.9',"
                " endpoint_port = (SELECT coalesce(max(endpoint_port), 20000) + 1 FROM clusters) WHERE id = :id"
            ),
            {"id": cluster.target_id},
        )
        await preempt_all(
            connection, project_id=project.id, cluster_id=cluster.target_id, reason="A test takes its place."
        )
        await make_partition(connection, project.id, cluster.target_id)
    return project, f"/v1/projects/{project.slug}/clusters/{cluster.target_id}"


async def _in_use(setup: Setup, flavor: str = "m2000-pod4") -> At:
    project, path = await cluster_in_use(setup, flavor)
    return At(path, project.token.secret)


async def _in_use_with_keys(setup: Setup) -> At:
    await setup.world.execute("UPDATE vipu_controllers SET secure = true")
    return await _in_use(setup)


async def sign_ssh_key(setup: Setup) -> Write:
    project, path = await cluster_in_use(setup)
    answer = await setup.client.post(
        f"/v1/projects/{project.slug}/ssh-authority:rotate", headers={"Authorization": f"Bearer {project.token.secret}"}
    )
    await setup.world.execute(
        "UPDATE poplar_servers SET ssh_authority = :key WHERE project_id = :project",
        key=answer.raise_for_status().json()["public_key"],
        project=project.id,
    )
    async with setup.world.database.begin() as connection:
        person = await make_person(connection, project.id, Role.OPERATOR)
        login = await make_owned(connection, person, project.id, Role.OPERATOR)
    body = {"public_key": PUBLIC_KEY}
    return Write("POST", f"{path}:sign-ssh-key", login.secret, body, body | {"valid_seconds": 60}, key())


async def _suspended(setup: Setup) -> At:
    project = await setup.project()
    customer = setup.world.customer(project)
    cluster = (await customer.create()).target_id
    await setup.world.finish_create(cluster)
    await customer.suspend(cluster)
    await setup.world.finish_suspend(cluster)
    return At(f"/v1/projects/{project.slug}/clusters/{cluster}", project.token.secret)


async def _with_faulty_machine(setup: Setup) -> At:
    """A cluster in use, one machine of which has to be replaced."""
    project = await setup.project()
    cluster = (await setup.world.customer(project).create()).target_id
    await setup.world.finish_create(cluster)
    held = f"id IN (SELECT machine_id FROM allocations WHERE cluster_id = '{cluster}')"  # noqa: S608
    await setup.world.impair(Code.MAINTENANCE, held)
    return At(f"/v1/projects/{project.slug}/clusters/{cluster}", project.token.secret)


async def _with_scheduled_repair(setup: Setup) -> At:
    at = await _with_faulty_machine(setup)
    await setup.world.execute(
        "INSERT INTO scheduled_repairs (id, project_id, cluster_id, reason, hardware, starts_at, latest_at)"
        " SELECT :id, project_id, id, 'maintenance', '{}', '2125-01-01', '2127-01-01' FROM clusters WHERE id = :of",
        id=new_id(),
        of=UUID(at.path.rpartition("/")[2]),
    )
    return at


SOME_SERVERS = {"poplar_servers": ["another"]}
SMALLER, LARGER = {"flavor": "m2000-pod4"}, {"flavor": "m2000-pod16"}
POD8 = partial(_in_use, flavor="m2000-pod8")
"""Resized to a smaller size: whether a larger one takes neighbours or another block depends on other cases."""
JOB: Body = {"command": ["python3", "train.py"]}
SERVICE: Body = {"name": "chat", "command": ["python3", "app.py"], "port": 8000}
CREATE_JOB = sent(_in_use, "POST", "/jobs", JOB, {**JOB, "retries": 1})
CREATE_SERVICE = sent(_in_use, "POST", "/services", SERVICE, {**SERVICE, "port": 8001})
DEPLOY_SERVICE = sent(after(CREATE_SERVICE), "POST", "/chat:deploy", {"command": ["python3", "b.py"]}, {"port": 8001})
TRAINING = "/partitions/training"


async def _deployed(setup: Setup) -> At:
    """A service that has had two releases."""
    at = await after(DEPLOY_SERVICE)(setup)
    return replace(at, path=at.path.removesuffix(":deploy"))


NEXT_YEAR = {"starts_at": "2126-01-01T00:00:00Z"}, {"starts_at": "2126-02-01T00:00:00Z"}
WRITES: Cases = {
    "createCluster": sent(of_project, "POST", "/clusters", cluster_json(), cluster_json("ernie")),
    "deleteCluster": sent(_created, "DELETE"),
    "suspendCluster": sent(_in_use, "POST", ":suspend"),
    "resumeCluster": sent(_suspended, "POST", ":resume"),
    "repairCluster": sent(_with_faulty_machine, "POST", ":repair"),
    "rebootCluster": sent(_in_use, "POST", ":reboot", {}, SOME_SERVERS),
    "powerCycleCluster": sent(_in_use, "POST", ":power-cycle", {}, SOME_SERVERS),
    "rebuildCluster": sent(_in_use, "POST", ":rebuild", {"disk": "wipe"}, {"disk": "keep"}),
    "resizeCluster": sent(POD8, "POST", ":resize", SMALLER, LARGER),
    "estimateClusterResize": sent(POD8, "POST", ":estimate-resize", SMALLER, LARGER),
    "rescheduleRepair": sent(_with_scheduled_repair, "POST", ":reschedule-repair", *NEXT_YEAR),
    "updateCluster": sent(_created, "PATCH", "", {"tags": {"a": "b"}}, {"tags": {"a": "c"}}),
    "estimateCluster": sent(of_project, "POST", "/clusters:estimate", cluster_json(), cluster_json("ernie")),
    "cancelOperation": sent(_creation, "POST", ":cancel"),
    "createPartition": sent(
        _in_use, "POST", "/partitions", {"name": "inference", "size": 2}, {"name": "inference", "size": 4}
    ),
    "createJob": CREATE_JOB,
    "stopJob": sent(after(CREATE_JOB), "POST", "/1:stop"),
    "createService": CREATE_SERVICE,
    "deployService": DEPLOY_SERVICE,
    "rollbackService": sent(_deployed, "POST", ":rollback"),
    "stopService": sent(after(CREATE_SERVICE), "POST", "/chat:stop"),
    "resetPartition": sent(_in_use, "POST", f"{TRAINING}:reset", {"relocatable": False}, {"relocatable": True}),
    "removePartition": sent(_in_use, "DELETE", TRAINING),
    "rotateVipuKey": sent(
        _in_use_with_keys, "POST", "/vipu:rotate-key", {"end_server_key": False}, {"end_server_key": True}
    ),
    "signSshKey": sign_ssh_key,
}
