"""Snapshots of volumes over the site's HTTP interface, and volumes made from them; kills at every point of a copy."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import asyncssh
import httpx
import orjson
import pytest

from tests.contract.simulator.outcomes import assert_refused
from tests.support.site import RunningSite, running_site
from tests.support.tenant import REGION, Tenant
from tests.support.waiting import PATIENCE, eventually

_NAMES = count(1)
MANY = {f"file-{number}": str(number) for number in range(2000)}
"""Files whose copy takes longer than anyone waits here."""


class Storage:
    """Volumes and snapshots of a site, by its calls, and their files as the site keeps them."""

    def __init__(self, site: RunningSite) -> None:
        self.site = site
        self.http: httpx.Client = site.http()

    def volume(self, gib: int = 10, **files: str) -> str:
        """A new volume with these files."""
        name = f"v{next(_NAMES)}"
        self.put_volume(name, size_gib=gib).raise_for_status()
        for file, text in files.items():
            (self.files(name) / file).write_text(text)
        return name

    def put_volume(self, name: str, **spec: Any) -> httpx.Response:
        return self.http.put(f"/v1/volumes/{name}", json={"region": REGION, "size_gib": 10} | spec)

    def snapshot(self, volume: str) -> str:
        """A new snapshot that is ready."""
        name = f"s{next(_NAMES)}"
        self.put_snapshot(name, volume).raise_for_status()
        eventually(lambda: self.state(name) == "ready", f"{name} is ready")
        return name

    def put_snapshot(self, name: str, volume: str, region: str = REGION) -> httpx.Response:
        return self.http.put(f"/v1/snapshots/{name}", json={"region": region, "volume": volume})

    def state(self, snapshot: str) -> str:
        answer = self.http.get(f"/v1/snapshots/{snapshot}")
        return "none" if answer.status_code == 404 else str(answer.raise_for_status().json()["state"])

    def give_up(self, path: str, **body: Any) -> None:
        """Ask for something that takes a while, and wait for no answer."""
        impatient = self.site.http(timeout=httpx.Timeout(PATIENCE, read=0.01))
        with pytest.raises(httpx.ReadTimeout):
            impatient.put(path, json={"region": REGION} | body)

    def files(self, volume: str) -> Path:
        return self.site.data / "volumes" / volume

    def restored(self, snapshot: str, **spec: Any) -> Path:
        """The files of a new volume that is made from a snapshot."""
        name = f"v{next(_NAMES)}"
        self.put_volume(name, snapshot=snapshot, **spec).raise_for_status()
        return self.files(name)

    def unfinished(self) -> set[str]:
        """What lies where snapshots and volumes are filled."""
        folders = (self.site.data / "snapshots", self.site.data / "volumes")
        return {place.name for folder in folders if folder.is_dir() for place in folder.iterdir() if place.suffix}


@pytest.fixture
def storage(shared_site: RunningSite, http: httpx.Client) -> Storage:
    return Storage(shared_site)


def test_a_snapshot_has_the_files_as_they_were_and_so_has_a_volume_made_from_it(storage: Storage) -> None:
    volume = storage.volume(10, model="weights")
    snapshot = f"s{next(_NAMES)}"
    answer = storage.put_snapshot(snapshot, volume).raise_for_status()
    (storage.files(volume) / "model").write_text("later")
    (storage.files(volume) / "more").write_text("later")
    spec = {"region": REGION, "volume": volume, "server": None}
    assert answer.json() == {"name": snapshot, "spec": spec, "size_gib": 10, "state": "ready"}
    restored = storage.restored(snapshot)
    assert [(file.name, file.read_text()) for file in restored.iterdir()] == [("model", "weights")]
    (restored / "model").write_text("changed")
    assert (storage.restored(snapshot) / "model").read_text() == "weights"
    assert storage.unfinished() == set()


def test_a_volume_made_from_a_snapshot_may_be_larger_and_not_smaller(storage: Storage) -> None:
    snapshot = storage.snapshot(storage.volume(10, model="weights"))
    assert (storage.restored(snapshot, size_gib=20) / "model").read_text() == "weights"
    assert_refused(storage.put_volume("small", size_gib=9, snapshot=snapshot), 422, "10 GiB")
    assert storage.http.get("/v1/volumes/small").status_code == 404
    # It says nothing about a volume that exists: that grows as ever.
    name = storage.volume(5)
    grown = storage.put_volume(name, size_gib=6, snapshot=snapshot).raise_for_status().json()
    assert (grown["spec"]["size_gib"], grown["spec"]["snapshot"]) == (6, None)
    assert list(storage.files(name).iterdir()) == []


def test_what_cannot_be_made_is_refused(storage: Storage) -> None:
    volume, other = storage.volume(), storage.volume()
    snapshot = storage.snapshot(volume)
    assert storage.put_snapshot(snapshot, volume).raise_for_status().json()["state"] == "ready"
    assert_refused(storage.put_snapshot(snapshot, other), 409, volume)
    assert_refused(storage.put_snapshot("s0", "nowhere"), 422, "nowhere")
    assert_refused(storage.put_snapshot("s0", volume, "lab-1"), 422, "lies in")
    assert_refused(storage.put_snapshot("S_0", volume), 422, "not the name")
    assert storage.state("s0") == "none"
    assert_refused(storage.put_volume("v0", snapshot="nowhere"), 422, "nowhere")
    assert_refused(storage.put_volume("v0", snapshot=snapshot, region="lab-1"), 422, "does not exist in")
    assert storage.http.get("/v1/volumes/v0").status_code == 404
    assert storage.unfinished() == set()


def test_the_name_of_a_deleted_snapshot_is_never_used_again(storage: Storage) -> None:
    volume = storage.volume(10, model="weights")
    snapshot = storage.snapshot(volume)
    restored = storage.restored(snapshot)
    assert storage.http.delete(f"/v1/snapshots/{snapshot}").status_code == 204
    assert not (storage.site.data / "snapshots" / snapshot).exists()
    assert storage.http.delete(f"/v1/snapshots/{snapshot}").status_code == 404
    assert storage.http.delete("/v1/snapshots/never").status_code == 404
    for name in (snapshot, "never"):
        assert_refused(storage.put_snapshot(name, volume), 422, "was deleted")
        assert_refused(storage.put_volume("v0", snapshot=name), 422, "does not exist")
    assert (restored / "model").read_text() == "weights"


def test_a_ready_snapshot_outlives_its_volume(storage: Storage) -> None:
    volume = storage.volume(10, model="weights")
    snapshot = storage.snapshot(volume)
    storage.http.delete(f"/v1/volumes/{volume}").raise_for_status()
    assert (storage.restored(snapshot) / "model").read_text() == "weights"
    # What was asked for once may be asked for again.
    assert storage.put_snapshot(snapshot, volume).raise_for_status().json()["state"] == "ready"


def test_an_attached_volume_is_copied_where_its_server_has_it(storage: Storage) -> None:
    tenant = Tenant(storage.site, machines=1)
    key = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode().strip()
    tenant.deploy([key])
    tenant.ssh()
    volume = storage.volume(10, model="weights")
    server = {"host": tenant.host, "server": "tenant-h1", "network": "tenant", "path": "/volumes/data"}
    attachment = f"/v1/volumes/{volume}/attachment"
    storage.http.put(attachment, json={"revision": 1, "server": server}).raise_for_status()
    assert not storage.files(volume).exists()
    folder = storage.site.data / "hosts" / tenant.host / "disk" / "volumes"
    (folder / "data" / "log").write_text("epoch 1")
    restored = storage.restored(storage.snapshot(volume))
    assert {file.name: file.read_text() for file in restored.iterdir()} == {"model": "weights", "log": "epoch 1"}
    # A customer who puts a link in the place of the folder gets nothing of what it leads to.
    shutil.rmtree(folder / "data")
    (folder / "data").symlink_to(storage.site.data)
    assert list(storage.restored(storage.snapshot(volume)).iterdir()) == []
    storage.http.put(attachment, json={"revision": 2, "server": None}).raise_for_status()


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Storage]:
    """A site where a copy takes about twenty seconds."""
    with running_site(tmp_path / "site", machines=2, time_scale=1.0) as site:
        yield Storage(site)


def test_a_copy_takes_its_time_and_its_volume_takes_it_along(slow: Storage) -> None:
    volume, kept = slow.volume(10, model="weights"), slow.volume()
    assert slow.put_snapshot("s1", volume).raise_for_status().json()["state"] == "copying"
    assert slow.put_snapshot("s2", kept).raise_for_status().json()["state"] == "copying"
    assert_refused(slow.put_volume("v0", snapshot="s1"), 422, "is not ready")
    slow.http.delete(f"/v1/volumes/{volume}").raise_for_status()
    assert (slow.state("s1"), slow.state("s2")) == ("none", "copying")
    assert_refused(slow.put_snapshot("s1", volume), 422, "was deleted")
    slow.http.delete("/v1/snapshots/s2").raise_for_status()
    assert slow.state("s2") == "none"
    eventually(lambda: list((slow.site.data / "snapshots").iterdir()) == [], "both are wiped")


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Storage]:
    """A site of one's own, to kill."""
    with running_site(tmp_path / "site", machines=2) as site:
        yield Storage(site)


def revive(storage: Storage) -> Storage:
    storage.site.start()
    return Storage(storage.site)


def changed(storage: Storage, **kinds: dict[str, dict[str, Any]]) -> None:
    """Change the stored state of a site that does not run."""
    file = storage.site.data / "site.json"
    state = orjson.loads(file.read_bytes())
    for kind, records in kinds.items():
        for name, changes in records.items():
            if name in state[kind]:
                state[kind][name] |= changes
    file.write_bytes(orjson.dumps(state))


def test_a_copy_that_a_kill_ends_is_made_anew(own: Storage) -> None:
    volume = own.volume(10, **MANY)
    own.give_up("/v1/snapshots/s1", volume=volume)
    eventually((own.site.data / "snapshots").exists, "the copy has begun")
    own.site.kill()
    own = revive(own)
    eventually(lambda: own.state("s1") == "ready", "the copy is made")
    assert {file.name for file in own.restored("s1").iterdir()} == set(MANY)
    assert own.unfinished() == set()


def test_nobody_sees_a_volume_before_it_has_its_files(storage: Storage) -> None:
    snapshot = storage.snapshot(storage.volume(10, **MANY))
    storage.give_up("/v1/volumes/filled", size_gib=10, snapshot=snapshot)
    eventually(lambda: storage.http.get("/v1/volumes/filled").status_code == 200, "it is there")
    assert {file.name for file in storage.files("filled").iterdir()} == set(MANY)
    # Who asks again, for a larger one, waits for the same files.
    storage.give_up("/v1/volumes/larger", size_gib=10, snapshot=snapshot)
    assert storage.put_volume("larger", size_gib=12, snapshot=snapshot).raise_for_status().json()["spec"] == {
        "region": REGION,
        "size_gib": 12,
        "snapshot": snapshot,
    }
    assert {file.name for file in storage.files("larger").iterdir()} == set(MANY)


def test_what_is_deleted_while_a_volume_is_filled_leaves_nothing(storage: Storage) -> None:
    snapshot = storage.snapshot(storage.volume(10, **MANY))
    storage.give_up("/v1/volumes/unwanted", size_gib=10, snapshot=snapshot)
    # As a rule the copy is under way at this point; what is right does not depend on it.
    assert storage.http.delete("/v1/volumes/unwanted").status_code in {204, 404}
    assert_refused(storage.put_volume("unwanted", snapshot=snapshot), 422, "was deleted")
    eventually(lambda: not storage.unfinished() and not storage.files("unwanted").exists(), "what was filled is wiped")
    storage.give_up("/v1/volumes/orphan", size_gib=10, snapshot=snapshot)
    storage.http.delete(f"/v1/snapshots/{snapshot}").raise_for_status()
    eventually(lambda: not storage.unfinished(), "what was filled is wiped")
    if storage.http.get("/v1/volumes/orphan").status_code == 200:
        assert {file.name for file in storage.files("orphan").iterdir()} == set(MANY)
    else:
        assert_refused(storage.put_volume("orphan", snapshot=snapshot), 422, "does not exist")


def test_what_a_kill_left_half_done_is_never_taken_for_a_whole(own: Storage) -> None:
    volume = own.volume(10, model="weights")
    for name in ("half", "whole", "wiped"):
        own.put_snapshot(name, volume).raise_for_status()
    own.site.kill()
    snapshots, volumes = own.site.data / "snapshots", own.site.data / "volumes"
    (snapshots / "half").rename(snapshots / "half.new")
    (snapshots / "half.new" / "model").write_text("wei")
    (volumes / "asked.new").mkdir()
    (volumes / "asked.new" / "model").write_text("wei")
    unfinished = {"copied": False}
    changed(own, snapshots={"half": unfinished, "whole": unfinished, "wiped": {"deleted": True}})
    (own.files(volume) / "model").write_text("later")
    own = revive(own)
    eventually(lambda: own.state("half") == "ready", "the copy is made")
    # This one was complete before the kill, and is not made again.
    assert (own.restored("whole") / "model").read_text() == "weights"
    assert (own.restored("half") / "model").read_text() == "later"
    assert own.http.get("/v1/volumes/asked").status_code == 404
    own.put_volume("asked").raise_for_status()
    assert list(own.files("asked").iterdir()) == []
    assert not (snapshots / "wiped").exists()
    assert own.unfinished() == set()


def test_a_volume_that_was_recorded_before_the_kill_has_its_files(own: Storage) -> None:
    snapshot = own.snapshot(own.volume(10, model="weights"))
    own.put_volume("made", snapshot=snapshot).raise_for_status()
    own.site.kill()
    # The record is written before the folder is moved to its place.
    own.files("made").rename(own.site.data / "volumes" / "made.new")
    own = revive(own)
    assert (own.files("made") / "model").read_text() == "weights"
    assert own.unfinished() == set()


def test_a_copy_whose_volume_went_while_the_site_was_down_is_gone(own: Storage) -> None:
    volume = own.volume()
    own.put_snapshot("s1", volume).raise_for_status()
    own.site.kill()
    (own.site.data / "snapshots" / "s1").rename(own.site.data / "snapshots" / "s1.new")
    changed(own, snapshots={"s1": {"copied": False}}, volumes={volume: {"deleted": True}})
    own = revive(own)
    assert own.state("s1") == "none"
    assert_refused(own.put_snapshot("s1", own.volume()), 422, "was deleted")
    assert own.unfinished() == set()


def test_a_state_from_before_there_were_snapshots_is_read(own: Storage) -> None:
    volume = own.volume(10, model="weights")
    own.site.kill()
    file = own.site.data / "site.json"
    state = orjson.loads(file.read_bytes())
    del state["snapshots"]
    del state["volumes"][volume]["spec"]["snapshot"]
    file.write_bytes(orjson.dumps(state))
    own = revive(own)
    assert (own.restored(own.snapshot(volume)) / "model").read_text() == "weights"
