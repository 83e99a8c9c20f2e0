"""Writes of clusters, their partitions and their operations."""

from __future__ import annotations

from uuid import UUID

import sqlalchemy as sa

from ipucloud.identity.roles import Role
from ipucloud.inventory.health.codes import Code
from ipucloud.kernel.ids import new_id
from ipucloud.operations.ending import preempt_all
from tests.api.support import PUBLIC_KEY, cluster_json, key
from tests.proof.writes.write import Cases, Setup, Write
from tests.support.factories import Project
from tests.support.partitions import make_partition
from tests.support.people import make_owned, make_person


async def create_cluster(setup: Setup) -> Write:
    project = await setup.project()
    path = f"/v1/projects/{project.slug}/clusters"
    return Write("POST", path, project.token.secret, cluster_json(), cluster_json("ernie"), key())


async def delete_cluster(setup: Setup) -> Write:
    project = await setup.project()
    cluster = await setup.world.customer(project).create()
    return Write("DELETE", f"/v1/projects/{project.slug}/clusters/{cluster.target_id}", project.token.secret)


async def update_cluster(setup: Setup) -> Write:
    project = await setup.project()
    cluster = await setup.world.customer(project).create()
    path = f"/v1/projects/{project.slug}/clusters/{cluster.target_id}"
    return Write("PATCH", path, project.token.secret, {"tags": {"a": "b"}}, {"tags": {"a": "c"}}, key())


async def estimate_cluster(setup: Setup) -> Write:
    project = await setup.project()
    path = f"/v1/projects/{project.slug}/clusters:estimate"
    return Write("POST", path, project.token.secret, cluster_json(), cluster_json("ernie"), key())


async def cancel_operation(setup: Setup) -> Write:
    project = await setup.project()
    cluster = await setup.world.customer(project).create()
    path = f"/v1/projects/{project.slug}/operations/{cluster.operation_id}:cancel"
    return Write("POST", path, project.token.secret, headers=key())


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


async def create_partition(setup: Setup) -> Write:
    project, path = await cluster_in_use(setup)
    body = {"name": "inference", "size": 2}
    return Write("POST", f"{path}/partitions", project.token.secret, body, body | {"size": 4}, key())


async def reset_partition(setup: Setup) -> Write:
    project, path = await cluster_in_use(setup)
    body = {"relocatable": False}
    return Write("POST", f"{path}/partitions/training:reset", project.token.secret, body, {"relocatable": True}, key())


async def remove_partition(setup: Setup) -> Write:
    project, path = await cluster_in_use(setup)
    return Write("DELETE", f"{path}/partitions/training", project.token.secret)


async def create_job(setup: Setup) -> Write:
    project, path = await cluster_in_use(setup)
    body = {"command": ["python3", "train.py"]}
    return Write("POST", f"{path}/jobs", project.token.secret, body, body | {"retries": 1}, key())


async def stop_job(setup: Setup) -> Write:
    project, path = await cluster_in_use(setup)
    await setup.id_of(f"{path}/jobs", {"command": ["python3", "train.py"]}, project.token.secret)
    return Write("POST", f"{path}/jobs/1:stop", project.token.secret, headers=key())


SERVICE = {"name": "chat", "command": ["python3", "app.py"], "port": 8000}


async def create_service(setup: Setup) -> Write:
    project, path = await cluster_in_use(setup)
    return Write("POST", f"{path}/services", project.token.secret, SERVICE, SERVICE | {"port": 8001}, key())


async def stop_service(setup: Setup) -> Write:
    project, path = await cluster_in_use(setup)
    await setup.id_of(f"{path}/services", SERVICE, project.token.secret)
    return Write("POST", f"{path}/services/chat:stop", project.token.secret, headers=key())


async def deploy_service(setup: Setup) -> Write:
    project, path = await cluster_in_use(setup)
    await setup.id_of(f"{path}/services", SERVICE, project.token.secret)
    body = {"command": ["python3", "b.py"]}
    return Write("POST", f"{path}/services/chat:deploy", project.token.secret, body, {"port": 8001}, key())


async def rollback_service(setup: Setup) -> Write:
    project, path = await cluster_in_use(setup)
    for verb in ("services", "services/chat:deploy"):
        body = SERVICE if verb == "services" else {"command": ["python3", "b.py"]}
        await setup.id_of(f"{path}/{verb}", body, project.token.secret)
    return Write("POST", f"{path}/services/chat:rollback", project.token.secret, headers=key())


async def rotate_vipu_key(setup: Setup) -> Write:
    project, path = await cluster_in_use(setup)
    await setup.world.execute("UPDATE vipu_controllers SET secure = true")
    body = {"end_server_key": False}
    return Write("POST", f"{path}/vipu:rotate-key", project.token.secret, body, {"end_server_key": True}, key())


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


async def suspend_cluster(setup: Setup) -> Write:
    project, path = await cluster_in_use(setup)
    return Write("POST", f"{path}:suspend", project.token.secret, headers=key())


async def resume_cluster(setup: Setup) -> Write:
    project = await setup.project()
    cluster = await setup.world.customer(project).create()
    await setup.world.finish_create(cluster.target_id)
    await setup.world.customer(project).suspend(cluster.target_id)
    await setup.world.finish_suspend(cluster.target_id)
    path = f"/v1/projects/{project.slug}/clusters/{cluster.target_id}:resume"
    return Write("POST", path, project.token.secret, headers=key())


async def reboot_cluster(setup: Setup) -> Write:
    return await _restart(setup, "reboot")


async def power_cycle_cluster(setup: Setup) -> Write:
    return await _restart(setup, "power-cycle")


async def _restart(setup: Setup, verb: str) -> Write:
    project, path = await cluster_in_use(setup)
    server = await setup.world.value("SELECT max(name) FROM poplar_servers WHERE state <> 'deleted'")
    return Write("POST", f"{path}:{verb}", project.token.secret, {}, {"poplar_servers": [server]}, key())


async def resize_cluster(setup: Setup) -> Write:
    return await _resize(setup, "resize")


async def estimate_resize(setup: Setup) -> Write:
    return await _resize(setup, "estimate-resize")


async def _resize(setup: Setup, verb: str) -> Write:
    """To a smaller size: whether a larger one takes neighbours or another block depends on what other cases hold."""
    project, path = await cluster_in_use(setup, flavor="m2000-pod8")
    body, other = {"flavor": "m2000-pod4"}, {"flavor": "m2000-pod16"}
    return Write("POST", f"{path}:{verb}", project.token.secret, body, other, key())


async def rebuild_cluster(setup: Setup) -> Write:
    project, path = await cluster_in_use(setup)
    return Write("POST", f"{path}:rebuild", project.token.secret, {"disk": "wipe"}, {"disk": "keep"}, key())


async def _with_faulty_machine(setup: Setup) -> tuple[Project, UUID]:
    """A project, and its cluster in use, one machine of which has to be replaced."""
    project = await setup.project()
    cluster = await setup.world.customer(project).create()
    await setup.world.finish_create(cluster.target_id)
    held = f"id IN (SELECT machine_id FROM allocations WHERE cluster_id = '{cluster.target_id}')"  # noqa: S608
    await setup.world.impair(Code.MAINTENANCE, held)
    return project, cluster.target_id


async def repair_cluster(setup: Setup) -> Write:
    project, cluster = await _with_faulty_machine(setup)
    path = f"/v1/projects/{project.slug}/clusters/{cluster}:repair"
    return Write("POST", path, project.token.secret, headers=key())


async def reschedule_repair(setup: Setup) -> Write:
    project, cluster = await _with_faulty_machine(setup)
    await setup.world.execute(
        "INSERT INTO scheduled_repairs (id, project_id, cluster_id, reason, hardware, starts_at, latest_at)"
        " VALUES (:id, :project, :cluster, 'maintenance', '{}', '2125-01-01', '2127-01-01')",
        id=new_id(),
        project=project.id,
        cluster=cluster,
    )
    path = f"/v1/projects/{project.slug}/clusters/{cluster}:reschedule-repair"
    body, other = {"starts_at": "2126-01-01T00:00:00Z"}, {"starts_at": "2126-02-01T00:00:00Z"}
    return Write("POST", path, project.token.secret, body, other, key())


WRITES: Cases = {
    "createCluster": create_cluster,
    "deleteCluster": delete_cluster,
    "suspendCluster": suspend_cluster,
    "resumeCluster": resume_cluster,
    "repairCluster": repair_cluster,
    "rebootCluster": reboot_cluster,
    "powerCycleCluster": power_cycle_cluster,
    "rebuildCluster": rebuild_cluster,
    "resizeCluster": resize_cluster,
    "estimateClusterResize": estimate_resize,
    "rescheduleRepair": reschedule_repair,
    "updateCluster": update_cluster,
    "estimateCluster": estimate_cluster,
    "cancelOperation": cancel_operation,
    "createPartition": create_partition,
    "createJob": create_job,
    "stopJob": stop_job,
    "createService": create_service,
    "deployService": deploy_service,
    "rollbackService": rollback_service,
    "stopService": stop_service,
    "resetPartition": reset_partition,
    "removePartition": remove_partition,
    "rotateVipuKey": rotate_vipu_key,
    "signSshKey": sign_ssh_key,
}
