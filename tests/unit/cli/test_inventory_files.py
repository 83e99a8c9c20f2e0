"""Expected inventories as files: what is read, and where a fault is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ipucloud.cli.inventory_files import InventoryFile
from ipucloud.client.errors import ApiError, FieldError, UsageError

HEADER = "kind,name,serial,pod,slot\n"


def read(folder: Path, text: str, name: str = "inventory.csv") -> InventoryFile:
    path = folder / name
    path.write_bytes(text.encode())
    return InventoryFile(path)


def test_csv_and_json_say_the_same(tmp_path: Path) -> None:
    item = {"kind": "machine", "name": "m0", "serial": "GC1", "pod": "p0", "slot": 0}
    host = {"kind": "host", "name": "h0"}
    csv = read(tmp_path, "\ufeffKind, name,serial,pod,slot\r\nmachine,m0, GC1 ,p0,0\r\n\r\nhost,h0\r\n")
    assert csv.items == [item, host]
    exported = [item | {"rack": None, "model": None, "firmware": None}, host | {"serial": ""}]
    assert read(tmp_path, json.dumps(exported), "a.json").items == [item, host]
    assert read(tmp_path, json.dumps({"items": exported}), "a.JSON").items == [item, host]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "line 1: the header must name columns once"),
        ("kind,serial\nmachine,GC1\n", "line 1: the header"),
        ("kind,name,colour\nmachine,m0,red\n", "It has colour."),
        ("kind,name,name\nmachine,m0,m1\n", "line 1: the header"),
        (HEADER, "names no machine or host"),
        (HEADER + "machine,m0,GC1,p0,0\nrobot,m1\n", "line 3: kind: 'robot' is neither machine nor host."),
        (HEADER + "machine,,GC1\n", "line 2: name: it is empty."),
        (HEADER + "machine,m0,GC1,p0,first\n", "line 2: slot: 'first' is not a number from 0 to 15."),
        (HEADER + "machine,m0,GC1,p0,0,more\n", "line 2: it has more fields than the header."),
        (HEADER + 'machine,"m0\n', "line 2: unexpected end of data."),
    ],
)
def test_a_fault_of_a_csv_file_has_its_line(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(UsageError) as refused:
        read(tmp_path, text)
    assert fault in str(refused.value)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", "is not JSON"),
        ('{"machines": []}', "expected a list of objects"),
        ("[1]", "expected a list of objects"),
        ('[{"kind": ["machine"], "name": "m0"}]', "item 1: kind: ['machine'] is neither machine nor host."),
        ('[{"kind": "machine", "name": "m0", "colour": "red"}]', "item 1: colour is not one of"),
        ('[{"kind": "machine", "name": "m0"}, {"name": "m1"}]', "item 2: kind: '' is neither machine nor host."),
    ],
)
def test_a_fault_of_a_json_file_has_its_item(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(UsageError) as refused:
        read(tmp_path, text, "inventory.json")
    assert fault in str(refused.value)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        InventoryFile(tmp_path / "absent.csv")
    (tmp_path / "latin.csv").write_bytes(HEADER.encode() + b"machine,m\xe4\n")
    with pytest.raises(UsageError, match="is not UTF-8"):
        InventoryFile(tmp_path / "latin.csv")


def test_many_faults_are_counted(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        read(tmp_path, HEADER + "robot,m0\n" * 25)
    assert str(refused.value).splitlines()[-1] == "  and 5 more"


def test_a_refusal_of_the_service_names_lines(tmp_path: Path) -> None:
    file = read(tmp_path, HEADER + "machine,m0,GC1\n\nmachine,m1,GC1\n")
    twice = [FieldError(f"/items/{place}/serial", "duplicate", "Twice.") for place in range(2)]
    explained = file.explained(ApiError(422, "validation_failed", "Correct it.", errors=twice))
    assert str(explained).splitlines()[1:] == ["  line 2: serial: Twice.", "  line 4: serial: Twice."]
    for pointer in ("/region", "/items/7/serial", "?limit"):
        other = ApiError(422, "validation_failed", "Correct it.", errors=[FieldError(pointer, "x", "y")])
        assert file.explained(other) is other
