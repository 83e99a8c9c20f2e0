"""What controllers answer: names that are not trusted, links and users that cannot be, and releases."""

from __future__ import annotations

import re

import pytest

from ipucloud.kernel.vipu import PARTITION_ID
from ipucloud.site.vipu_answers import InvalidAnswer, links, partition_details, user
from ipucloud.site.vipu_ports import unsupported
from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_pb2 as wire

STRANGE = ["", "..", "a b", "x" * 37, "<script>alert(1)</script>", "grün", "a\nb", "c1-1\x00", "../../etc/passwd", "٣"]


def listed(*names: str) -> list[wire.Partition]:
    return [
        wire.Partition(
            id=name,
            ready_state=wire.PS_ACTIVE,
            spec=wire.PartitionSpec(allocation_id="c1", ipus=[wire.PartitionIpu(topology_id=place)]),
        )
        for place, name in enumerate(names)
    ]


@pytest.mark.parametrize("strange", STRANGE)
def test_a_strange_name_hides_nothing_and_shows_nothing_of_itself(strange: str) -> None:
    shown = [each.id for each in partition_details(listed("c1", strange, "training"), "c1")]
    assert (shown[0], shown[2]) == ("c1", "training")
    assert re.fullmatch(PARTITION_ID, shown[1], re.ASCII)
    assert shown[1].startswith("_")
    assert shown[1] != partition_details(listed(f"{strange} "), "c1")[0].id


def test_one_name_twice_is_no_answer() -> None:
    for names in (("p", "p"), ("a b", "a b")):
        with pytest.raises(InvalidAnswer):
            partition_details(listed(*names), "c1")


def test_links_and_users_that_cannot_be_are_no_answer() -> None:
    good = admin.Link(from_agent="a", to_agent="b", kind=admin.LINK_NEXT, state=admin.LS_UP)
    assert links([good])[0].ends == ("a", "b")
    for bad in (
        [good, good],
        [admin.Link(from_agent="a", to_agent="b", kind=7, state=admin.LS_UP)],  # type: ignore[arg-type]
        [admin.Link(from_agent="a", to_agent="b", kind=admin.LINK_NEXT)],
        [admin.Link(from_agent="<a>", to_agent="b", kind=admin.LINK_NEXT, state=admin.LS_UP)],
    ):
        with pytest.raises(InvalidAnswer):
            links(bad)
    for message in (admin.User(id="other"), admin.User(id="c1", access_key_ids=["a b"])):
        with pytest.raises(InvalidAnswer):
            user(message, "c1")


@pytest.mark.parametrize("version", ["1.14", "1.14.0", "v1.18.0", "1.99.3-rc1", "1.100.0", "1.18.0+build7", None])
def test_a_release_that_is_worked_with(version: str | None) -> None:
    assert unsupported(version) is None


@pytest.mark.parametrize("version", ["1.13.9", "1.9.0", "2.0.0", "0.18", "11.18", "1", "1.18x", "latest", ""])
def test_a_release_that_is_not_worked_with(version: str) -> None:
    assert f"V-IPU {version}, which this release of ipucloud does not support" in str(unsupported(version))
