"""`ipucloud vipu`: the command of Poplar servers from outside, over real gRPC."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from ipucloud.wire import vipu_admin_pb2 as admin
from tests.support.site import ACCESS_KEY, ADMINISTRATOR, SECURE, running_site
from tests.support.tenant import REGION, Tenant
from tests.support.vipu import CALL_SECONDS
from tests.support.waiting import PATIENCE


def outside(
    tenant: Tenant, home: Path, *args: str, program: str = "vipu", **environment: str
) -> subprocess.CompletedProcess[str]:
    """`ipucloud vipu`, on this machine, in `home`, with the authority of the site's controller."""
    authority = str(tenant.site.authority_file(REGION))
    return subprocess.run(
        [sys.executable, "-m", "ipucloud.cli.main", program, *args],
        cwd=home,
        env=os.environ | {"HOME": str(home), "VIPU_CLI_API_CA_FILE": authority} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


@contextmanager
def tenants(folder: Path, *names: str, time_scale: float = 0.0, options: Sequence[str] = ()) -> Iterator[Tenant]:
    """A site with an allocation of a machine for each of these; the tenant is at the last."""
    options = ["--machines-on", *options]
    with running_site(folder / "site", machines=len(names), time_scale=time_scale, options=options) as site:
        tenant = Tenant(site, name=names[-1], machines=1)
        for name, machine in zip(names, tenant.vipu.pod, strict=True):
            tenant.vipu.allocate(name, tenant.vipu.cluster, [machine])
        yield tenant


def environment_of(tenant: Tenant, name: str) -> dict[str, str]:
    endpoint = tenant.site.user_endpoint(name)
    return {"VIPU_CLI_API_HOST": endpoint.host, "VIPU_CLI_API_PORT": str(endpoint.port)}


def test_the_same_command_works_from_outside(tmp_path: Path) -> None:
    with tenants(tmp_path, "stranger", "tenant") as tenant:
        tenant.vipu.create("p1", 4, allocation_id="stranger")
        _lead_a_life(tenant, tmp_path)


def _lead_a_life(tenant: Tenant, tmp_path: Path) -> None:
    """At an endpoint that has this tenant's alone: `p1` of the stranger is neither there nor in the way."""
    endpoint = tenant.site.user_endpoint("tenant")
    where = environment_of(tenant, "tenant")
    assert "p1" not in outside(tenant, tmp_path, "list", "partitions", **where).stdout
    created = outside(tenant, tmp_path, "create", "partition", "p1", "--size", "2", **where)
    assert (created.returncode, created.stdout) == (0, "create partition (p1): success.\n")
    options = ["--api-host", endpoint.host, "--api-port", str(endpoint.port)]
    configured = outside(tenant, tmp_path, *options, "get", "partition", "p1", "--ipuof-configs")
    assert json.loads(configured.stdout)["attributes"]["Partition Id"] == "p1"
    assert (tmp_path / ".ipuof.conf.d" / "p1_ipuof.conf").read_text() == configured.stdout
    own = outside(tenant, tmp_path, *options, "list", "allocations", "--showjson")
    assert [each["id"] for each in json.loads(own.stdout)["allocations"]] == ["tenant"]
    administration = ["--api-port", str(tenant.site.endpoint(REGION).admin_port), "list", "allocations"]
    refused = outside(tenant, tmp_path, *options, *administration)
    assert (refused.returncode, "needs a client certificate" in refused.stderr) == (1, True), refused.stderr
    removed = outside(tenant, tmp_path, "remove", "partition", "p1", **where)
    assert (removed.returncode, removed.stdout) == (0, "remove partition (p1): success.\n")
    assert not list((tmp_path / ".ipuof.conf.d").iterdir())
    assert [each.spec.allocation_id for each in tenant.vipu.every_partition()] == ["stranger"]
    nobody = outside(tenant, tmp_path, "list", "partitions", VIPU_CLI_API_HOST="127.0.0.1", VIPU_CLI_API_PORT="1")
    assert (nobody.returncode, nobody.stderr) == (
        1,
        "list partitions: failed: the V-IPU controller at 127.0.0.1:1 is unreachable.\n",
    )


def test_a_controller_that_takes_long_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    """At its real pace a partition takes a minute; the command gives up, the controller does not."""
    with tenants(tmp_path, "tenant", time_scale=1) as tenant:
        vipu = partial(outside, tenant, tmp_path, **environment_of(tenant, "tenant"))
        late = vipu("create", "partition", "p1", "--size", "4", "--timeout", "1")
        assert (late.returncode, late.stderr) == (
            1,
            "create partition (p1): failed: after 1 s the partition is not ready; it may still become ready.\n",
        )
        assert "PENDING" in vipu("get", "partition", "p1").stdout
        early = vipu("get", "partition", "p1", "--ipuof-configs")
        assert (early.returncode, "is not active" in early.stderr) == (1, True)
        accepted = vipu("remove", "partition", "p1", "--no-wait")
        assert (accepted.returncode, accepted.stdout) == (0, "remove partition (p1): success.\n")


def test_a_lost_machine_is_named(tmp_path: Path) -> None:
    with tenants(tmp_path, "tenant") as tenant:
        [agent] = tenant.vipu.allocations()["tenant"]
        tenant.vipu.create("p1", 4, allocation_id="tenant")
        vipu = partial(outside, tenant, tmp_path, **environment_of(tenant, "tenant"))
        tenant.http.post(f"/v1/machines/{agent}:fail").raise_for_status()
        kept = vipu("remove", "partition", "p1")
        assert kept.returncode == 1
        assert f"agent {agent} is unreachable; use --force to remove it anyway" in kept.stderr
        assert vipu("remove", "partition", "p1", "--force").returncode == 0


def test_a_secure_controller_wants_a_user_and_a_key(tmp_path: Path) -> None:
    with tenants(tmp_path, "mine", "theirs", options=SECURE) as tenant:
        service = tenant.vipu.admin
        service.CreateUser(admin.CreateUserRequest(id="ann", allocation_ids=["mine"]), timeout=CALL_SECONDS)
        key = admin.CreateAccessKeyRequest(user_id="ann", id="k")
        secret = service.CreateAccessKey(key, timeout=CALL_SECONDS).secret
        own, foreign = environment_of(tenant, "mine"), environment_of(tenant, "theirs")
        ann = {"VIPU_CLI_API_USER_ID": "ann", "VIPU_CLI_API_ACCESS_KEY": secret}
        for called_as in (own, foreign | ann):
            refused = outside(tenant, tmp_path, "list", "partitions", **called_as)
            assert (refused.returncode, "requires a user and an access key" in refused.stderr) == (1, True)
        assert outside(tenant, tmp_path, "create", "partition", "p1", "--size", "4", **own, **ann).returncode == 0
        elsewhere = ["create", "partition", "p2", "--size", "4", "--allocation", "theirs"]
        refusal = outside(tenant, tmp_path, *elsewhere, **own, **ann)
        assert (refusal.returncode, "'theirs' does not exist" in refusal.stderr) == (1, True)
        _switch_to_a_user(tenant, tmp_path)


def _switch_to_a_user(tenant: Tenant, folder: Path) -> None:
    """The published way: an operator makes the user, whose file or key is all that `vipu` needs."""
    administration = tenant.site.endpoint(REGION)
    created = outside(
        tenant,
        folder,
        *("create", "user", "alice", "--allocations", "mine"),
        program="vipu-admin",
        VIPU_CLI_API_HOST=administration.host,
        VIPU_CLI_API_ADMIN_PORT=str(administration.admin_port),
        VIPU_CLI_API_CLIENT_CERT_FILE=str(tenant.site.client_file(REGION)),
        VIPU_CLI_API_USER_ID=ADMINISTRATOR,
        VIPU_CLI_API_ACCESS_KEY=ACCESS_KEY,
    )
    assert created.returncode == 0, created.stderr
    key = created.stdout.removeprefix("create user (alice): success. Access key is '").removesuffix("'.\n")
    endpoint = tenant.site.user_endpoint("mine")
    where = ["-H", endpoint.host, "-P", str(endpoint.port)]
    for line in (
        ["list", "partitions", *where, "--api-user-id", "alice", "--api-access-key", key],
        ["--config", "alice.vipu-cli.hcl", "list", "partitions"],
    ):
        listed = outside(tenant, folder, *line)
        assert (listed.returncode, " p1 " in listed.stdout) == (0, True), listed.stderr
    plain = outside(
        tenant, folder, "list", "partitions", *where, "--plaintext", "--api-user-id", "alice", "--api-access-key", "no"
    )
    assert plain.returncode == 1
    assert "warning: the access key is sent unencrypted, as --plaintext asks for." in plain.stderr
    assert "it takes no plaintext" in plain.stderr
