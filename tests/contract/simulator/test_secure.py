"""A secure controller: who has no key is nobody, and others' allocations do not exist."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import grpc
import pytest

from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_pb2 as pb
from ipucloud.wire import vipu_pb2_grpc as pb_grpc
from ipucloud.wire.vipu_keys import ACCESS_KEY, USER
from tests.support.site import ACCESS_KEY as KEY
from tests.support.site import SECURE, RunningSite, running_site
from tests.support.vipu import CALL_SECONDS, VipuDriver, code_of, sentence_of


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("secure"), options=["--machines-on", "--secure"]) as site:
        yield site


@pytest.fixture
def vipu(site: RunningSite) -> Iterator[VipuDriver]:
    """The controller with an allocation `a` for `alice` and one `b` for `bob`, and `root` who sees everything."""
    driver = VipuDriver(site.user_channel(), site.admin_channel())
    pod = site.region().pods[0]
    for number, name in enumerate("ab"):
        driver.allocate(name, pod.cluster_id or "", [pod.machines[number].name])
    for user, seen in (("alice", ["a"]), ("bob", ["b"]), ("root", [])):
        request = admin.CreateUserRequest(id=user, allocation_ids=seen, all_allocations=not seen)
        driver.admin.CreateUser(request, timeout=CALL_SECONDS)
    yield driver
    for name in "ab":
        driver.admin.RemovePartitions(admin.RemovePartitionsRequest(allocation_id=name), timeout=CALL_SECONDS)
        driver.admin.RemovePartitions(admin.RemovePartitionsRequest(allocation_id=name), timeout=CALL_SECONDS)
        driver.release(name)
    for user in driver.admin.ListUsers(admin.ListUsersRequest(), timeout=CALL_SECONDS).users:
        driver.admin.RemoveUser(admin.RemoveUserRequest(id=user.id), timeout=CALL_SECONDS)


class Person:
    """A user of the controller with an access key, or without."""

    def __init__(self, vipu: VipuDriver, user: str = "", secret: str = "") -> None:
        self._stub: pb_grpc.UserServiceStub = vipu.user
        self.metadata = [(USER, user), (ACCESS_KEY, secret)] if user else []

    def call(self, method: str, request: Any) -> Any:
        return getattr(self._stub, method)(request, timeout=CALL_SECONDS, metadata=self.metadata)

    def create(self, name: str, allocation: str = "") -> None:
        wanted = pb.PartitionRequirements(id=name, size=4, allocation_id=allocation)
        self.call("CreatePartition", pb.CreatePartitionRequest(requirements=wanted))

    def partitions(self, allocation: str = "") -> list[str]:
        listed = self.call("ListPartitions", pb.ListPartitionsRequest(allocation_id=allocation)).partitions
        return [partition.id for partition in listed]


def new_key(vipu: VipuDriver, user: str, name: str = "first") -> str:
    request = admin.CreateAccessKeyRequest(user_id=user, id=name)
    secret: str = vipu.admin.CreateAccessKey(request, timeout=CALL_SECONDS).secret
    return secret


def person(vipu: VipuDriver, user: str) -> Person:
    return Person(vipu, user, new_key(vipu, user))


def refusal(call: Callable[..., object], *arguments: Any) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as caught:
        call(*arguments)
    return code_of(caught.value), sentence_of(caught.value)


def test_nobody_is_let_in_without_a_valid_key(vipu: VipuDriver) -> None:
    secret = new_key(vipu, "alice")
    code, sentence = refusal(Person(vipu).partitions)
    assert code is grpc.StatusCode.UNAUTHENTICATED
    assert USER in sentence
    for user, key in (("alice", "wrong"), ("bob", secret), ("nobody", secret), ("alice", "")):
        assert refusal(Person(vipu, user, key).partitions)[0] is grpc.StatusCode.UNAUTHENTICATED
    assert Person(vipu, "alice", secret).partitions() == []
    assert vipu.version.GetVersion(pb.VersionRequest(), timeout=CALL_SECONDS).version


def test_what_others_have_does_not_exist(vipu: VipuDriver, site: RunningSite) -> None:
    alice, bob, root = (person(vipu, name) for name in ("alice", "bob", "root"))
    alice.create("p", "a")
    assert (alice.partitions(), bob.partitions(), root.partitions()) == (["p"], [], ["p"])
    for method, request in (
        ("GetPartitionStatus", pb.GetPartitionStatusRequest(partition_id="p")),
        ("GetPartitionIpuofConfig", pb.GetPartitionIpuofConfigRequest(partition_id="p")),
        ("ResetPartition", pb.ResetPartitionRequest(partition_id="p")),
        ("RemovePartition", pb.RemovePartitionRequest(partition_id="p", force=True)),
    ):
        code, sentence = refusal(bob.call, method, request)
        assert (code, sentence) == (grpc.StatusCode.NOT_FOUND, "partition 'p' does not exist")
    assert refusal(bob.partitions, "a") == (grpc.StatusCode.NOT_FOUND, "allocation 'a' does not exist")
    assert refusal(bob.create, "q", "a")[0] is grpc.StatusCode.NOT_FOUND
    agents = bob.call("ListIPUAttributes", pb.ListIPUAttributesRequest()).entries
    machines = site.region().pods[0].machines
    assert [entry.agent for entry in agents] == [machines[1].name]
    foreign = pb.ListIPUAttributesRequest(agents=[machines[0].name])
    assert refusal(bob.call, "ListIPUAttributes", foreign)[0] is grpc.StatusCode.NOT_FOUND
    assert root.partitions() == ["p"]


def test_an_unnamed_allocation_is_one_that_the_user_sees(vipu: VipuDriver) -> None:
    bob = person(vipu, "bob")
    bob.create("p")
    assert bob.partitions("b") == ["p"]
    code, sentence = refusal(bob.create, "q")
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "a has" not in sentence


def test_users_of_one_allocation_share_its_partitions(vipu: VipuDriver) -> None:
    alice, bob = person(vipu, "alice"), person(vipu, "bob")
    alice.create("p", "a")
    request = admin.SetUserAllocationsRequest(id="bob", allocation_ids=["a", "b"])
    vipu.admin.SetUserAllocations(request, timeout=CALL_SECONDS)
    assert bob.partitions() == ["p"]
    vipu.admin.SetUserAllocations(admin.SetUserAllocationsRequest(id="bob"), timeout=CALL_SECONDS)
    assert bob.partitions() == []


def test_a_key_is_replaced_without_a_gap_and_is_on_disk_only_as_a_digest(vipu: VipuDriver, site: RunningSite) -> None:
    first = person(vipu, "alice")
    second = Person(vipu, "alice", secret := new_key(vipu, "alice", "second"))
    assert first.partitions() == second.partitions() == []
    vipu.admin.RemoveAccessKey(admin.RemoveAccessKeyRequest(user_id="alice", id="first"), timeout=CALL_SECONDS)
    assert refusal(first.partitions)[0] is grpc.StatusCode.UNAUTHENTICATED
    assert second.partitions() == []
    stored = (site.data / "vipu-luxembourg-2.json").read_text()
    assert secret not in stored
    found = vipu.admin.GetUser(admin.GetUserRequest(id="alice"), timeout=CALL_SECONDS).user
    assert (list(found.allocation_ids), list(found.access_key_ids)) == (["a"], ["second"])


def test_keys_and_users_survive_a_kill(vipu: VipuDriver, site: RunningSite) -> None:
    alice = person(vipu, "alice")
    site.kill()
    site.start()
    assert (
        Person(VipuDriver(site.user_channel(), site.admin_channel()), *(v for _, v in alice.metadata)).partitions()
        == []
    )


def test_what_makes_no_sense_about_users_is_refused(vipu: VipuDriver) -> None:
    service = vipu.admin
    for call, request, code in (
        (service.CreateUser, admin.CreateUserRequest(id="alice"), grpc.StatusCode.ALREADY_EXISTS),
        (service.CreateUser, admin.CreateUserRequest(id="a b"), grpc.StatusCode.INVALID_ARGUMENT),
        (service.CreateUser, admin.CreateUserRequest(id="u", allocation_ids=["none"]), grpc.StatusCode.NOT_FOUND),
        (service.GetUser, admin.GetUserRequest(id="none"), grpc.StatusCode.NOT_FOUND),
        (service.RemoveUser, admin.RemoveUserRequest(id="none"), grpc.StatusCode.NOT_FOUND),
        (service.CreateAccessKey, admin.CreateAccessKeyRequest(user_id="none", id="k"), grpc.StatusCode.NOT_FOUND),
        (service.RemoveAccessKey, admin.RemoveAccessKeyRequest(user_id="bob", id="k"), grpc.StatusCode.NOT_FOUND),
    ):
        assert refusal(lambda call=call, request=request: call(request, timeout=CALL_SECONDS))[0] is code
    new_key(vipu, "bob")
    assert refusal(new_key, vipu, "bob")[0] is grpc.StatusCode.ALREADY_EXISTS


def test_a_caller_may_make_the_secret_and_send_only_its_digest(vipu: VipuDriver, site: RunningSite) -> None:
    secret = "of the caller's own making"
    request = admin.CreateAccessKeyRequest(user_id="alice", id="own", sha256=sha256(secret.encode()).hexdigest())
    assert vipu.admin.CreateAccessKey(request, timeout=CALL_SECONDS).secret == ""
    assert Person(vipu, "alice", secret).partitions() == []
    request.id, request.sha256 = "other", "no digest"
    assert refusal(vipu.admin.CreateAccessKey, request)[0] is grpc.StatusCode.INVALID_ARGUMENT


def test_a_controller_that_forgets_knows_its_administrator_and_nothing_else(tmp_path: Path) -> None:
    with running_site(tmp_path, machines=4, options=["--machines-on", *SECURE]) as site:
        vipu = VipuDriver(site.user_channel(), site.admin_channel())
        pod = site.region().pods[0]
        vipu.allocate("a", pod.cluster_id or "", [pod.machines[0].name])
        vipu.admin.CreateUser(admin.CreateUserRequest(id="alice", allocation_ids=["a"]), timeout=CALL_SECONDS)
        root = Person(vipu, "ipucloud", KEY)
        root.create("p", "a")
        assert (root.partitions(), vipu.allocations()) == (["p"], {"a": [pod.machines[0].name]})
        assert site.http().post("/v1/controllers/mars-1:forget").status_code == 404
        assert site.http().post("/v1/controllers/luxembourg-2:forget").status_code == 204
        for _ in range(2):
            assert (root.partitions(), vipu.allocations()) == ([], {})
            users = vipu.admin.ListUsers(admin.ListUsersRequest(), timeout=CALL_SECONDS).users
            assert [user.id for user in users] == ["ipucloud"]
            site.kill()
            site.start()
            vipu = VipuDriver(site.user_channel(), site.admin_channel())
            root = Person(vipu, "ipucloud", KEY)
