"""What a reading changes in what is known of hardware."""

from __future__ import annotations

from ipucloud.inventory.expected.shown import Difference, Known, Shown, compare, digest_of
from ipucloud.inventory.expected.tables import Happened
from ipucloud.observation.identities import printable, shown_machines
from ipucloud.site.vipu_ports import Agent
from ipucloud.wire.redfish import RedfishStatus, RedfishSystem

BUILT = Shown("m0", "GC1", "IPU-M2000", "2.6.0", '{"bmc":"2.6.0"}', "pod", 0)


def known(shown: Shown = BUILT, *, missing: bool = False) -> dict[str, Known]:
    return {shown.name: Known(shown, missing)}


def test_what_is_new_or_as_before_or_not_shown_is_no_change() -> None:
    assert compare({}, [BUILT]) == Difference([BUILT], [], [])
    assert compare(known(), [BUILT]) == Difference([], [], [])
    assert digest_of([BUILT]) == digest_of([Shown(*BUILT)])
    # A controller that does not answer, or a BMC that lost its texts, moves and exchanges nothing.
    assert compare(known(), [Shown("m0", "GC1")]) == Difference([], [], [])


def test_each_change_is_named_with_both_values() -> None:
    now = Shown("m0", "GC2", "Bow-2000", "2.7.0", '{"bmc":"2.7.1"}', "pod", 3)
    comparison = compare(known(), [now])
    assert comparison.rows == [now]
    assert [(each.type, each.detail) for each in comparison.changes] == [
        (Happened.SERIAL_CHANGED, "serial GC1 became GC2"),
        (Happened.MODEL_CHANGED, "model IPU-M2000 became Bow-2000"),
        (Happened.FIRMWARE_CHANGED, "firmware 2.6.0 became 2.7.0"),
        (Happened.FIRMWARE_CHANGED, "firmware of bmc 2.6.0 became 2.7.1"),
        (Happened.MOVED, "pod pod slot 0 became pod pod slot 3"),
    ]


def test_what_is_missing_is_missing_once_and_comes_back() -> None:
    assert compare(known(), []).missing == ["m0"]
    assert compare(known(missing=True), []) == Difference([], [], [])
    assert compare(known(missing=True), [BUILT]) == Difference([BUILT], [], [])


def test_a_sites_texts_are_bounded_and_printable() -> None:
    assert (printable(" GC\x00\n1 "), printable("\t"), printable(None)) == ("GC1", None, None)
    assert len(printable("x" * 1000) or "") == 200
    system = RedfishSystem(
        Id="m0",
        Name="m0",
        Model="IPU-M2000",
        SerialNumber="\u0000",
        PowerState="On",
        Status=RedfishStatus(State="Enabled", Health="OK"),
        BiosVersion="2.6.0",
        Firmware={"gateway": "2.6.0", "bmc": "1", "": "0"},
    )
    agents = {"m0": Agent("m0", reachable=True, pod="pod", slot=0)}
    [shown] = shown_machines({"m0": system, "m\u0000": system}, agents)
    assert shown == Shown("m0", None, "IPU-M2000", "2.6.0", '{"bmc":"1","gateway":"2.6.0"}', "pod", 0)
