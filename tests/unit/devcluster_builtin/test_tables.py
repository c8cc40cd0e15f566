"""Tables: cells as real servers print them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from kubewright.api import Column
from kubewright.devcluster.ages import duration
from kubewright.devcluster.objects import Object
from kubewright.devcluster.tables import table

from .recorded import document, recorded, served

CREATED = ("Age", "Created At")


def printed(resource: Any, obj: Object, now: datetime, **options: Any) -> Object:
    result = table(
        resource, [obj], include=options.pop("include", "Metadata"), now=now, list_meta={"resourceVersion": "7"}
    )
    assert result["kind"] == "Table"
    row: Object = result["rows"][0]
    return row


@pytest.mark.parametrize("case", recorded("tables"), ids=lambda case: f"{case['apiVersion']}-{case['kind']}")
def test_a_built_in_kind_has_the_columns_and_cells_of_a_real_server(case: Any) -> None:
    resource = served(case)
    now = datetime.fromisoformat(case["now"])
    columns = table(resource, [], include="None", now=now, list_meta={})["columnDefinitions"]
    assert [[each["name"], each["type"], each["format"], each["priority"]] for each in columns] == case["columns"]
    names = [each["name"] for each in columns]
    for recorded_row in case["rows"]:
        row = printed(resource, recorded_row["object"], now)
        cells = [row["cells"], recorded_row["cells"]]
        if "Age" in names:  # it moved on while the answers were recorded
            cells = [[*each[: names.index("Age")], *each[names.index("Age") + 1 :]] for each in cells]
        assert cells[0] == cells[1]
        assert row.get("conditions") == recorded_row.get("conditions")


def custom(columns: tuple[Column, ...]) -> Any:
    resource = served({"apiVersion": "v1", "kind": "ConfigMap"})
    return replace(resource, info=_with_columns(resource.info, columns), definition_name="")


def _with_columns(info: Any, columns: tuple[Column, ...]) -> Any:
    import msgspec

    return msgspec.structs.replace(info, columns=columns)


def declared() -> tuple[Column, ...]:
    return tuple(
        Column(
            each["name"],
            each["jsonPath"],
            each["type"],
            description=each.get("description"),
            format=each.get("format"),
            priority=each.get("priority", 0),
        )
        for each in document("custom_columns")["columns"]
    )


@pytest.mark.parametrize("case", recorded("custom_columns"), ids=lambda case: case["object"]["metadata"]["name"])
def test_a_custom_column_shows_the_first_value_of_its_type(case: Any) -> None:
    resource = custom(declared())
    created = datetime.fromisoformat(case["object"]["metadata"]["creationTimestamp"])
    names = ["Name", *(each["name"] for each in document("custom_columns")["columns"])]
    ours = dict(zip(names, printed(resource, case["object"], created)["cells"], strict=True))
    theirs = dict(zip(names, case["cells"], strict=True))
    del theirs["Age"]
    assert {name: ours[name] for name in theirs} == theirs


def test_a_custom_kind_without_columns_shows_its_age() -> None:
    obj: Object = {"metadata": {"name": "x", "creationTimestamp": "2026-01-01T00:00:00Z"}}
    now = datetime.fromisoformat("2026-01-01T00:05:00Z")
    assert printed(custom(()), obj, now)["cells"] == ["x", "5m"]


def test_columns_for_wide_output_have_a_priority() -> None:
    columns = table(
        custom((Column("A", ".a", priority=1, description="what A is"),)),
        [],
        include="None",
        now=datetime.fromisoformat("2026-01-01T00:00:00Z"),
        list_meta={},
    )["columnDefinitions"]
    assert columns[1] == {"name": "A", "type": "string", "format": "", "description": "what A is", "priority": 1}


def test_a_row_carries_as_much_of_the_object_as_was_asked_for() -> None:
    obj: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": "b"}}
    now = datetime.fromisoformat("2026-01-01T00:00:00Z")
    resource = served(obj)
    assert printed(resource, obj, now, include="Object")["object"] == obj
    in_a_list = {"metadata": {"name": "x"}, "data": {"a": "b"}}
    assert printed(resource, in_a_list, now, include="Object")["object"] == obj
    assert printed(resource, obj, now, include="None")["object"] is None
    assert printed(resource, obj, now)["object"] == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"name": "x"},
    }


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "<invalid>"),
        (-0.5, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (310, "5m10s"),
        (600, "10m"),
        (179 * 60, "179m"),
        (180 * 60, "3h"),
        (200 * 60, "3h20m"),
        (8 * 3600, "8h"),
        (47 * 3600, "47h"),
        (48 * 3600, "2d"),
        (53 * 3600, "2d5h"),
        (8 * 86400, "8d"),
        (729 * 86400, "729d"),
        (730 * 86400, "2y"),
        (800 * 86400, "2y70d"),
        (8 * 365 * 86400, "8y"),
    ],
)
def test_a_duration_has_two_units_at_most(seconds: float, text: str) -> None:
    assert duration(timedelta(seconds=seconds)) == text
