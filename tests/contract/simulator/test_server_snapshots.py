"""Snapshots of servers' disks over the site's HTTP interface, and servers made from them; kills on the way."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from ipucloud.wire.site import AUTHORITY_FILE, PREEMPTION_FILE, HostState
from tests.contract.simulator.outcomes import assert_refused
from tests.support.machine import Need, need, needs
from tests.support.openssh import KeyPair, OpenSsh, make_key
from tests.support.site import RunningSite, running_site
from tests.support.tenant import REGION, Tenant
from tests.support.waiting import eventually

pytestmark = needs(Need.OPENSSH)

_NAMES = count(1)
MANY = {f"srv/file-{number}": str(number) for number in range(3000)}
"""Files whose copy takes longer than anyone waits here."""
OURS = {
    ".config/rclone/rclone.conf": "[data]\ntype = s3\nsecret_access_key = s3cret\ndescription = Managed by ipucloud\n",
    ".aws/credentials": "[data]\n# Managed by ipucloud\naws_secret_access_key = s3cret\n",
    ".aws/config": "[profile data]\n# Managed by ipucloud\nregion = eu\n",
}
THEIRS = "[mine]\nsecret_access_key = customers\n"


class Servers:
    """Servers of a site and snapshots of them, by its calls, and their files as the site keeps them."""

    def __init__(self, site: RunningSite) -> None:
        self.site = site
        self.http: httpx.Client = site.http()
        self.generations = count(2)

    def tenant(self, number: int) -> Tenant:
        tenant = Tenant(self.site, name=f"tenant{number}", machines=0, host=f"lux2-h{number:03}")
        tenant.attach()
        return tenant

    def deployed(self, number: int, **spec: Any) -> Tenant:
        """A server that runs."""
        tenant = self.tenant(number)
        self.put(tenant, **spec).raise_for_status()
        tenant.wait_for(HostState.RUNNING)
        return tenant

    def put(self, tenant: Tenant, **spec: Any) -> httpx.Response:
        return self.http.put(f"/v1/hosts/{tenant.host}/server", json=tenant.server_spec([]) | spec)

    def rebuild(self, tenant: Tenant, disk: str, **spec: Any) -> httpx.Response:
        server = tenant.server_spec([]) | {"generation": next(self.generations)} | spec
        return self.http.post(f"/v1/hosts/{tenant.host}/server/rebuild", json={"server": server, "disk": disk})

    def disk(self, tenant: Tenant) -> Path:
        return self.site.data / "hosts" / tenant.host / "disk"

    def write(self, tenant: Tenant, files: dict[str, str]) -> None:
        for name, text in files.items():
            place = self.disk(tenant) / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)

    def put_snapshot(self, name: str, tenant: Tenant, region: str = REGION, **server: str) -> httpx.Response:
        of = {"host": tenant.host, "server": f"{tenant.name}-h1", "network": tenant.name} | server
        return self.http.put(f"/v1/snapshots/{name}", json={"region": region, "server": of})

    def snapshot(self, tenant: Tenant) -> str:
        """A new snapshot that is ready."""
        name = f"s{next(_NAMES)}"
        self.put_snapshot(name, tenant).raise_for_status()
        eventually(lambda: self.state(name) == "ready", f"{name} is ready")
        return name

    def state(self, snapshot: str) -> str:
        answer = self.http.get(f"/v1/snapshots/{snapshot}")
        return "none" if answer.status_code == 404 else str(answer.raise_for_status().json()["state"])

    def copied(self, snapshot: str) -> Path:
        return self.site.data / "snapshots" / snapshot


@pytest.fixture
def servers(shared_site: RunningSite, http: httpx.Client) -> Servers:
    assert http.get("/v1/networks").is_success
    return Servers(shared_site)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Servers]:
    """A site of one's own, to kill."""
    with running_site(tmp_path / "site", machines=2) as site:
        yield Servers(site)


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Servers]:
    """A site where a copy takes about twenty seconds, and where nothing else is waited for."""
    with running_site(tmp_path / "site", machines=2) as site:
        servers = Servers(site)
        servers.deployed(1)
        site.restart("--machines", "2", "--time-scale", "1.0")
        yield Servers(site)


def changed(servers: Servers, kind: str, name: str, **changes: Any) -> None:
    """Change the stored state of a site that does not run."""
    file = servers.site.data / "site.json"
    state = orjson.loads(file.read_bytes())
    state[kind][name] |= changes
    file.write_bytes(orjson.dumps(state))


def test_what_a_user_installs_is_on_another_server_and_only_its_keys_log_in(servers: Servers, tmp_path: Path) -> None:
    old, new = make_key(tmp_path, "old"), make_key(tmp_path, "new")
    first = servers.deployed(1, ssh_authorized_keys=[old.public_line])
    source = OpenSsh(first.ssh(), old, tmp_path / "known_1")
    source.ssh("mkdir -p /srv/app; echo weights > /srv/app/model; echo mine > /etc/app.conf; echo notes > notes.txt")
    snapshot = servers.snapshot(first)
    document = servers.http.get(f"/v1/snapshots/{snapshot}").json()
    assert (document["size_gib"], document["state"]) == (1, "ready")
    second = servers.deployed(2, image=snapshot, ssh_authorized_keys=[new.public_line])
    assert second.ssh().host_key != first.ssh().host_key
    target = OpenSsh(second.ssh(), new, tmp_path / "known_2")
    assert target.ssh("cat /srv/app/model /etc/app.conf notes.txt").stdout == b"weights\nmine\nnotes\n"
    target.ssh("echo changed > /srv/app/model")
    assert source.ssh("cat /srv/app/model").stdout == b"weights\n"
    assert OpenSsh(second.ssh(), old, tmp_path / "known_3").ssh("true").returncode == 255


def test_user_data_is_carried_out_on_the_new_server_as_on_a_fresh_one(servers: Servers, tmp_path: Path) -> None:
    need(Need.SANDBOX)
    key: KeyPair = make_key(tmp_path)

    def user_data(text: str) -> str:
        return f"#cloud-config\nhostname: {text}\nruncmd: ['echo {text} >> /srv/order; echo {text}']\n"

    def is_done(tenant: Tenant) -> bool:
        cloud_init = tenant.observe().cloud_init
        assert cloud_init is not None
        return cloud_init.status == "done"

    first = servers.deployed(1, user_data=user_data("first"))
    eventually(lambda: is_done(first), "the first user data is carried out")
    snapshot = servers.snapshot(first)
    assert not (servers.copied(snapshot) / "var" / "lib" / "cloud").exists()
    second = servers.deployed(2, image=snapshot, ssh_authorized_keys=[key.public_line], user_data=user_data("second"))
    eventually(lambda: is_done(second), "the second user data is carried out")
    login = OpenSsh(second.ssh(), key, tmp_path / "known")
    assert login.ssh("hostname; cat /srv/order").stdout == b"second\nfirst\nsecond\n"
    assert login.ssh("cat /var/log/cloud-init-output.log").stdout == b"second\n"


def test_what_belongs_to_one_server_is_in_no_copy(servers: Servers) -> None:
    tenant = servers.deployed(1)
    disk = servers.disk(tenant)
    own = {
        "tmp/scratch": "x",
        "volumes/data/weights": "x",
        "var/lib/cloud/instance/scripts/part-001": "x",
        "var/log/cloud-init-output.log": "x",
        "etc/hostname": "x",
        "etc/hosts": "x",
        AUTHORITY_FILE[1:]: "x",
        PREEMPTION_FILE[1:]: "x",
        "home/ubuntu/.ipuof.conf.d/tenant1_ipuof.conf": "{}",
        "home/ubuntu/.aws/.credentials.new": "x",
    }
    kept = {
        "data/set": "1",
        "var/log/app.log": "2",
        "etc/vipu/vipu-cli.hcl": "3",
        "home/ubuntu/.ipuof.conf.d/notes": "4",
        "home/ubuntu/.ssh/config": "5",
        "home/other/file": "6",
    }
    servers.write(tenant, own | kept)
    servers.write(tenant, {f"home/ubuntu/{name}": text + "\n" + THEIRS for name, text in OURS.items()})
    closed = disk / "home" / "ubuntu" / ".aws"
    closed.chmod(0o500)
    copy = servers.copied(servers.snapshot(tenant))
    closed.chmod(0o700)
    assert [name for name in own if (copy / name).exists()] == []
    assert {name: (copy / name).read_text() for name in kept} == kept
    for name in OURS:
        assert (copy / "home" / "ubuntu" / name).read_text() == THEIRS
    # With nothing of the customer's in it, such a file is not there.
    servers.write(tenant, {f"home/ubuntu/{name}": text for name, text in OURS.items()})
    copy = servers.copied(servers.snapshot(tenant))
    assert [name for name in OURS if (copy / "home" / "ubuntu" / name).exists()] == []
    assert (disk / "home" / "ubuntu" / ".aws" / "credentials").read_text() == OURS[".aws/credentials"]


def test_links_hide_no_access_key_and_lead_nowhere(servers: Servers, tmp_path: Path) -> None:
    tenant = servers.deployed(1)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "credentials").write_text(OURS[".aws/credentials"])
    home = servers.disk(tenant) / "home" / "ubuntu"
    credentials, rclone = OURS[".aws/credentials"], OURS[".config/rclone/rclone.conf"]
    servers.write(tenant, {"data/aws/credentials": credentials, "data/rclone": rclone, "data/cloud/kept": "x"})
    servers.write(tenant, {"data/cloud/instance/scripts/part-001": "x"})
    (home / ".aws").symlink_to("/data/aws")
    (home / ".config" / "rclone").mkdir(parents=True)
    (home / ".config" / "rclone" / "rclone.conf").symlink_to("../../../../data/rclone")
    (servers.disk(tenant) / "var" / "lib").mkdir(parents=True, exist_ok=True)
    (servers.disk(tenant) / "var" / "lib" / "cloud").symlink_to("/data/cloud")
    copy = servers.copied(servers.snapshot(tenant))
    assert not (copy / "data" / "aws" / "credentials").exists()
    assert (copy / "data" / "rclone").read_text() == ""
    assert [entry.name for entry in (copy / "data" / "cloud").iterdir()] == ["kept"]
    (home / ".aws").unlink()
    (home / ".aws").symlink_to(outside)
    servers.snapshot(tenant)
    assert (outside / "credentials").read_text() == OURS[".aws/credentials"]


def test_a_volume_on_the_server_is_not_copied(servers: Servers) -> None:
    tenant = servers.deployed(1)
    servers.http.put("/v1/volumes/vol", json={"region": REGION, "size_gib": 10}).raise_for_status()
    server = {"host": tenant.host, "server": "tenant1-h1", "network": "tenant1", "path": "/volumes/data"}
    attachment = {"revision": 1, "server": server}
    servers.http.put("/v1/volumes/vol/attachment", json=attachment).raise_for_status()
    servers.write(tenant, {"volumes/data/weights": "x", "srv/model": "y"})
    copy = servers.copied(servers.snapshot(tenant))
    assert not (copy / "volumes").exists()
    assert (copy / "srv" / "model").read_text() == "y"
    assert (servers.disk(tenant) / "volumes" / "data" / "weights").read_text() == "x"
    servers.http.put("/v1/volumes/vol/attachment", json={"revision": 2, "server": None}).raise_for_status()


def test_a_server_is_written_again_from_a_snapshot_with_and_without_its_homes(servers: Servers) -> None:
    tenant = servers.deployed(1)
    servers.write(tenant, {"home/ubuntu/note": "of the snapshot", "srv/model": "1"})
    snapshot = servers.snapshot(tenant)
    servers.write(tenant, {"home/ubuntu/note": "of today", "srv/model": "2", "srv/more": "x"})
    key = tenant.ssh().host_key
    disk = servers.disk(tenant)
    servers.rebuild(tenant, "keep", image=snapshot).raise_for_status()
    assert tenant.ssh().host_key == key
    assert ((disk / "home/ubuntu/note").read_text(), (disk / "srv/model").read_text()) == ("of today", "1")
    assert not (disk / "srv" / "more").exists()
    servers.rebuild(tenant, "wipe", image=snapshot).raise_for_status()
    assert tenant.ssh().host_key != key
    assert ((disk / "home/ubuntu/note").read_text(), (disk / "srv/model").read_text()) == ("of the snapshot", "1")
    assert not (disk.parent / "disk.new").exists()
    servers.rebuild(tenant, "wipe").raise_for_status()
    tenant.wait_for(HostState.RUNNING)
    assert not (disk / "srv" / "model").exists()


def test_a_server_that_is_off_is_copied_and_a_snapshot_outlives_it(servers: Servers) -> None:
    tenant = servers.deployed(1)
    servers.write(tenant, {"srv/model": "weights"})
    servers.http.post(f"/v1/hosts/{tenant.host}/power", json={"action": "off"}).raise_for_status()
    tenant.wait_for(HostState.OFF)
    snapshot = servers.snapshot(tenant)
    tenant.wipe()
    tenant.wait_for(HostState.CLEAN)
    copy = servers.deployed(2, image=snapshot)
    assert (servers.disk(copy) / "srv" / "model").read_text() == "weights"
    again = servers.snapshot(copy)
    third = servers.deployed(3, image=again)
    assert (servers.disk(third) / "srv" / "model").read_text() == "weights"


def test_what_cannot_be_made_is_refused(servers: Servers) -> None:
    tenant, clean = servers.deployed(1), servers.tenant(2)
    assert_refused(servers.put_snapshot("s0", tenant, host="nowhere"), 422, "nowhere")
    assert_refused(servers.put_snapshot("s0", tenant, server="other"), 422, "carries another server")
    assert_refused(servers.put_snapshot("s0", tenant, network="other"), 422, "is not in network")
    assert_refused(servers.put_snapshot("s0", tenant, "lab-1"), 422, "not in 'lab-1'")
    assert_refused(servers.put_snapshot("s0", clean), 422, "carries no server")
    both = {"region": REGION, "volume": "v", "server": {"host": "h", "server": "s", "network": "n"}}
    assert servers.http.put("/v1/snapshots/s0", json=both).status_code == 422
    assert servers.state("s0") == "none"
    snapshot, deleted = servers.snapshot(tenant), servers.snapshot(tenant)
    assert_refused(servers.put_snapshot(snapshot, tenant, host=clean.host), 409, "tenant1-h1")
    servers.http.delete(f"/v1/snapshots/{deleted}").raise_for_status()
    servers.http.put("/v1/volumes/base", json={"region": REGION, "size_gib": 10}).raise_for_status()
    of_volume = {"region": REGION, "volume": "base"}
    servers.http.put("/v1/snapshots/of-volume", json=of_volume).raise_for_status()
    eventually(lambda: servers.state("of-volume") == "ready", "it is copied")
    assert_refused(servers.put(clean, image=deleted), 422, "does not exist")
    assert_refused(servers.put(clean, image="of-volume"), 422, "is of a volume")
    assert_refused(servers.put(clean, image=snapshot, user="someone"), 422, "whose user is 'ubuntu'")
    assert_refused(servers.rebuild(tenant, "wipe", image=deleted), 422, "does not exist")
    assert (clean.observe().state, tenant.observe().state) == (HostState.CLEAN, HostState.RUNNING)
    volume = {"region": REGION, "size_gib": 10, "snapshot": snapshot}
    assert_refused(servers.http.put("/v1/volumes/of-server", json=volume), 422, "is of a server")
    # What was accepted once is accepted again, whatever became of its snapshot.
    servers.put(clean, image=snapshot).raise_for_status()
    clean.wait_for(HostState.RUNNING)
    servers.http.delete(f"/v1/snapshots/{snapshot}").raise_for_status()
    servers.put(clean, image=snapshot).raise_for_status()


@pytest.mark.parametrize("end", ["wipe", "rebuild", "fail"])
def test_a_copy_that_is_not_complete_goes_with_its_server(slow: Servers, end: str) -> None:
    tenant = Tenant(slow.site, name="tenant1", machines=0, host="lux2-h001")
    answer = slow.put_snapshot("s1", tenant).raise_for_status()
    assert answer.json()["state"] == "copying"
    other = slow.tenant(2)
    assert_refused(slow.put(other, image="s1"), 422, "not ")
    if end == "wipe":
        tenant.wipe()
    elif end == "rebuild":
        slow.rebuild(tenant, "keep").raise_for_status()
    else:
        slow.http.post(f"/v1/hosts/{tenant.host}:fail").raise_for_status()
    assert slow.state("s1") == "none"
    assert_refused(slow.put_snapshot("s1", tenant), 422, "was deleted")
    assert_refused(slow.put_snapshot("s2", tenant), 422, "carries no server")
    eventually(lambda: list((slow.site.data / "snapshots").iterdir()) == [], "it is wiped")


def test_a_copy_that_a_kill_ends_is_made_anew(own: Servers) -> None:
    tenant = own.deployed(1)
    own.write(tenant, {"srv/model": "weights", AUTHORITY_FILE[1:]: "x"})
    own.snapshot(tenant)
    own.put_snapshot("half", tenant).raise_for_status()
    eventually(lambda: own.state("half") == "ready", "it is copied")
    own.site.kill()
    copy = own.copied("half")
    copy.rename(copy.with_name("half.new"))
    (copy.with_name("half.new") / "srv" / "model").write_text("wei")
    changed(own, "snapshots", "half", copied=False)
    own.site.start()
    own = Servers(own.site)
    eventually(lambda: own.state("half") == "ready", "the copy is made")
    assert (copy / "srv" / "model").read_text() == "weights"
    assert not (copy / AUTHORITY_FILE[1:]).exists()
    assert own.http.get("/v1/snapshots/half").json()["size_gib"] == 1


@pytest.mark.parametrize("disk", [None, "keep", "wipe"])
def test_a_disk_whose_filling_a_kill_ends_is_filled_anew(own: Servers, disk: str | None) -> None:
    first, second = own.deployed(1), own.deployed(2)
    own.write(first, MANY | {"home/ubuntu/note": "of the snapshot"})
    snapshot = own.snapshot(first)
    own.write(second, {"home/ubuntu/note": "of today", "srv/old": "x"})
    if disk is None:
        second.wipe()
        second.wait_for(HostState.CLEAN)
        own.put(second, image=snapshot).raise_for_status()
    else:
        own.rebuild(second, disk, image=snapshot).raise_for_status()
    eventually((own.disk(second).parent / "disk.new").exists, "it is being filled")
    assert_refused(own.http.delete(f"/v1/snapshots/{snapshot}"), 409, "is being written")
    own.site.kill()
    # As if the kill had come when a part was in its place already.
    own.write(second, {"srv/file-1": "half"})
    own.site.start()
    own = Servers(own.site)
    second = Tenant(own.site, name="tenant2", machines=0, host="lux2-h002")
    second.wait_for(HostState.RUNNING)
    files = {f"srv/{file.name}": file.read_text() for file in (own.disk(second) / "srv").iterdir()}
    assert files == MANY
    note = "of today" if disk == "keep" else "of the snapshot"
    assert (own.disk(second) / "home" / "ubuntu" / "note").read_text() == note
    assert own.http.delete(f"/v1/snapshots/{snapshot}").status_code == 204


def test_a_server_that_is_deleted_or_fails_while_its_disk_is_filled(own: Servers) -> None:
    first, second = own.deployed(1), own.tenant(2)
    own.write(first, MANY)
    snapshot = own.snapshot(first)
    own.put(second, image=snapshot).raise_for_status()
    eventually((own.disk(second).parent / "disk.new").exists, "it is being filled")
    second.wipe()
    second.wait_for(HostState.CLEAN)
    assert not own.disk(second).parent.exists()
    own.put(second, image=snapshot).raise_for_status()
    eventually((own.disk(second).parent / "disk.new").exists, "it is being filled")
    own.http.post(f"/v1/hosts/{second.host}:fail").raise_for_status()
    own.http.post(f"/v1/hosts/{second.host}:repair").raise_for_status()
    second.wait_for(HostState.RUNNING)
    assert len(list((own.disk(second) / "srv").iterdir())) == len(MANY)
