"""A secure controller: who has no key is nobody, and others' allocations do not exist."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import grpc
import pytest

from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_admin_pb2_grpc as admin_grpc
from ipucloud.wire import vipu_pb2 as pb
from ipucloud.wire import vipu_pb2_grpc as pb_grpc
from ipucloud.wire.vipu_calls import ACCESS_KEY, USER
from tests.contract.simulator.outcomes import refusal
from tests.support.site import ACCESS_KEY as KEY
from tests.support.site import ADMINISTRATOR, SECURE, RunningSite, running_site
from tests.support.vipu import CALL_SECONDS, Caller, PodDriver, VipuDriver


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("secure"), options=["--machines-on", *SECURE]) as site:
        yield site


@pytest.fixture
def vipu(site: RunningSite) -> Iterator[VipuDriver]:
    """The controller with an allocation `a` for `alice` and one `b` for `bob`, and `root` who sees everything."""
    driver = PodDriver.at(site)
    for number, name in enumerate("ab"):
        driver.allocate(name, driver.cluster, [driver.pod[number]])
    for user, allocations in (("alice", ["a"]), ("bob", ["b"]), ("root", [])):
        request = admin.CreateUserRequest(id=user, allocation_ids=allocations, all_allocations=not allocations)
        driver.admin.CreateUser(request, timeout=CALL_SECONDS)
    yield driver
    for name in "ab":
        driver.admin.RemovePartitions(admin.RemovePartitionsRequest(allocation_id=name), timeout=CALL_SECONDS)
        driver.admin.RemovePartitions(admin.RemovePartitionsRequest(allocation_id=name), timeout=CALL_SECONDS)
        driver.release(name)
    for user in driver.admin.ListUsers(admin.ListUsersRequest(), timeout=CALL_SECONDS).users:
        if user.id != ADMINISTRATOR:
            driver.admin.RemoveUser(admin.RemoveUserRequest(id=user.id), timeout=CALL_SECONDS)


class Person(Caller):
    """A user of the controller with an access key, or without, at one of its endpoints."""

    def __init__(self, channel: grpc.Channel, user: str = "", secret: str = "") -> None:
        super().__init__(channel, *([(USER, user), (ACCESS_KEY, secret)] if user else []))

    def names(self) -> list[str]:
        return [name for _, name in self.partitions()]


def new_key(vipu: VipuDriver, user: str, name: str = "first") -> str:
    request = admin.CreateAccessKeyRequest(user_id=user, id=name)
    secret: str = vipu.admin.CreateAccessKey(request, timeout=CALL_SECONDS).secret
    return secret


def person(vipu: VipuDriver, site: RunningSite, user: str, allocation: str) -> Person:
    return Person(site.user_channel(allocation), user, new_key(vipu, user))


def test_nobody_is_let_in_without_a_valid_key(vipu: VipuDriver, site: RunningSite) -> None:
    secret, own = new_key(vipu, "alice"), site.user_channel("a")
    code, sentence = refusal(Person(own).partitions)
    assert code is grpc.StatusCode.UNAUTHENTICATED
    assert USER in sentence
    for user, key in (("alice", "wrong"), ("bob", secret), ("nobody", secret), ("alice", "")):
        assert refusal(Person(own, user, key).partitions)[0] is grpc.StatusCode.UNAUTHENTICATED
    assert Person(own, "alice", secret).names() == []
    assert pb_grpc.VersionServiceStub(own).GetVersion(pb.VersionRequest(), timeout=CALL_SECONDS).version


def test_an_endpoint_is_for_the_users_of_its_allocation(vipu: VipuDriver, site: RunningSite) -> None:
    alice, root = person(vipu, site, "alice", "a"), person(vipu, site, "root", "b")
    alice.create("p", "a")
    stranger = Person(site.user_channel("b"), *(value for _, value in alice.metadata))
    unknown = refusal(Person(site.user_channel("b"), "nobody", "wrong").partitions)
    assert refusal(stranger.partitions) == (unknown[0], unknown[1].replace("nobody", "alice"))
    assert (alice.names(), root.names()) == (["p"], [])
    assert refusal(root.partitions, "a") == (grpc.StatusCode.NOT_FOUND, "allocation 'a' does not exist")


def test_the_administration_wants_a_key_besides_the_certificate(vipu: VipuDriver, site: RunningSite) -> None:
    alice, endpoint = person(vipu, site, "alice", "a"), site.endpoint()
    keyless = grpc.secure_channel(f"{endpoint.host}:{endpoint.admin_port}", site.credentials())
    for channel, metadata in ((keyless, []), (site.channel(), alice.metadata)):
        administration, user = admin_grpc.AdminServiceStub(channel), pb_grpc.UserServiceStub(channel)
        for call, request in (
            (administration.ListAllocations, admin.ListAllocationsRequest()),
            (administration.CreateUser, admin.CreateUserRequest(id="mallory")),
            (user.ListPartitions, pb.ListPartitionsRequest()),
            (pb_grpc.VersionServiceStub(channel).GetVersion, pb.VersionRequest()),
        ):
            code, _ = refusal(call, request, timeout=CALL_SECONDS, metadata=metadata)
            assert code is grpc.StatusCode.UNAUTHENTICATED
    keyless.close()
    assert Person(site.channel(), "root", new_key(vipu, "root")).names() == []


def test_users_of_one_allocation_share_its_partitions(vipu: VipuDriver, site: RunningSite) -> None:
    alice, bob = person(vipu, site, "alice", "a"), person(vipu, site, "bob", "a")
    alice.create("p")
    assert refusal(bob.partitions)[0] is grpc.StatusCode.UNAUTHENTICATED
    request = admin.SetUserAllocationsRequest(id="bob", allocation_ids=["a", "b"])
    vipu.admin.SetUserAllocations(request, timeout=CALL_SECONDS)
    assert bob.names() == ["p"]
    vipu.admin.SetUserAllocations(admin.SetUserAllocationsRequest(id="bob"), timeout=CALL_SECONDS)
    assert refusal(bob.partitions)[0] is grpc.StatusCode.UNAUTHENTICATED


def test_a_key_is_replaced_without_a_gap_and_is_on_disk_only_as_a_digest(vipu: VipuDriver, site: RunningSite) -> None:
    first = person(vipu, site, "alice", "a")
    second = Person(site.user_channel("a"), "alice", secret := new_key(vipu, "alice", "second"))
    assert first.names() == second.names() == []
    vipu.admin.RemoveAccessKey(admin.RemoveAccessKeyRequest(user_id="alice", id="first"), timeout=CALL_SECONDS)
    assert refusal(first.partitions)[0] is grpc.StatusCode.UNAUTHENTICATED
    assert second.names() == []
    stored = (site.data / "vipu-luxembourg-2.json").read_text()
    assert secret not in stored
    user = vipu.admin.GetUser(admin.GetUserRequest(id="alice"), timeout=CALL_SECONDS).user
    assert (list(user.allocation_ids), list(user.access_key_ids)) == (["a"], ["second"])


def test_keys_and_users_survive_a_kill(vipu: VipuDriver, site: RunningSite) -> None:
    alice = person(vipu, site, "alice", "a")
    site.revive()
    assert Person(site.user_channel("a"), *(v for _, v in alice.metadata)).names() == []


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
    assert Person(site.user_channel("a"), "alice", secret).names() == []
    request.id, request.sha256 = "other", "no digest"
    assert refusal(vipu.admin.CreateAccessKey, request)[0] is grpc.StatusCode.INVALID_ARGUMENT


def test_a_controller_that_forgets_knows_its_administrator_and_nothing_else(tmp_path: Path) -> None:
    with running_site(tmp_path, machines=4, options=["--machines-on", *SECURE]) as site:
        vipu = PodDriver.at(site)
        machines = vipu.take(1)
        vipu.admin.CreateUser(admin.CreateUserRequest(id="alice", allocation_ids=["a"]), timeout=CALL_SECONDS)
        root = Person(site.channel(), ADMINISTRATOR, KEY)
        root.create("p", "a")
        assert (root.names(), vipu.allocations()) == (["p"], {"a": machines})
        assert site.http().post("/v1/controllers/mars-1:forget").status_code == 404
        assert site.http().post("/v1/controllers/luxembourg-2:forget").status_code == 204
        for _ in range(2):
            assert (root.names(), vipu.allocations()) == ([], {})
            users = vipu.admin.ListUsers(admin.ListUsersRequest(), timeout=CALL_SECONDS).users
            assert [user.id for user in users] == ["ipucloud"]
            site.revive()
            vipu = PodDriver.at(site)
            root = Person(site.channel(), ADMINISTRATOR, KEY)
