"""Objects that are written like others before them are taken apart by that, with the same result as by reading them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kubewright.api import DecodeError, Resource, resource, resource_info
from kubewright.cache import Entry, EntryParser, IndexBy
from kubewright.cache.layout import Layout, Timeless
from kubewright.cache.recent import Once

UID = "0d1c7a52-5a4e-4a0e-9a63-000000000001"
INDEXES = [IndexBy.label("tier"), IndexBy.label("idx"), IndexBy.path(".spec.engine"), IndexBy.path(".spec.ports[*]")]


@resource("example.com/v1")
class Widget(Resource):
    spec: dict[str, str] | None = None


INFO = resource_info(Widget)


def parser_of(indexes: list[IndexBy]) -> EntryParser:
    parser = EntryParser(INFO)
    for index in indexes:
        assert parser.read_along(index) is not None
    return parser


def managers(time: str = "2026-01-01T00:00:00Z", field: str = "f:a", **other: Any) -> list[dict[str, Any]]:
    first = {"manager": "op", "operation": "Apply", "time": time, "fieldsV1": {field: {}}}
    return [first, {"manager": "kubelet", "operation": "Update", "time": "2026-01-01T00:00:00Z", **other}]


FITTING = [
    {"manager": "op", "operation": "Apply", "time": "a", "subresource": "st", "fieldsV1": {"f:a": {}}},
    managers()[1],
]
"""As long as `managers`, with another member where those have the end of a time."""

NASTY: st.SearchStrategy[Any] = st.sampled_from(
    [
        {"managedFields": []},
        {"a": 1, "managedFields": managers()},
        {"a": {"b": 1, "managedFields": managers()}},
        {"a": 1, "metadata": {"name": "inner", "managedFields": managers()}},
        '{"managedFields":[]}',
        ',"managedFields":[',
        '},"',
        None,
    ]
)
MANAGED = st.sampled_from(
    [
        *([managers(), managers("2027-01-01T00:00:00Z")] * 5),
        *(
            managers("short"),
            managers('a","manager":"x'),
            managers(field="f:b"),
            FITTING,
            managers(subresource="status"),
            [],
            None,
        ),
    ]
)


def mostly(usual: Any, *others: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from([*[usual] * 2 * len(others), *others])


METADATA = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["n", "a-longer-name", "é\\"]),
        "resourceVersion": mostly("1", "23456", "x"),
        "uid": mostly(UID, UID[:-1] + "2", "short", "é" * 18),
        "labels": mostly(
            {"tier": "t"}, {"tier": "u", "idx": ""}, {"tier": 1}, {"tier": True}, {"tier": None}, {}, None
        ),
    },
    optional={
        "annotations": st.dictionaries(st.sampled_from(["a", "managedFields"]), NASTY, max_size=1),
        "finalizers": mostly(["a"], ["b"], [], None),
        "deletionTimestamp": mostly(None, "2026-01-01T00:00:00Z"),
        "generation": st.integers(0, 3),
        "namespace": st.sampled_from(["ns", "other"]),
        "ownerReferences": mostly([], [{"uid": "o"}], [{"uid": "o", "controller": True}, {"uid": UID}], None),
        "managedFields": MANAGED,
    },
)
OBJECTS = st.lists(
    st.tuples(
        METADATA,
        st.dictionaries(st.sampled_from(["spec", "status", "managedFields"]), NASTY, max_size=2),
        mostly("sorted", "managers last", "metadata last"),
        mostly({"apiVersion": "example.com/v1", "kind": "Widget"}, {}, {"kind": "Widget"}),
        mostly(False, True),
    ),
    min_size=2,
    max_size=8,
)


def written(metadata: dict[str, Any], body: dict[str, Any], order: str, head: dict[str, Any], spaces: bool) -> bytes:
    metadata = dict(sorted(metadata.items()))
    if order == "managers last" and "managedFields" in metadata:
        metadata["managedFields"] = metadata.pop("managedFields")
    whole = (
        {**head, **body, "metadata": metadata} if order == "metadata last" else {**head, "metadata": metadata, **body}
    )
    text = msgspec.json.encode(whole)
    return msgspec.json.format(text, indent=1) if spaces else text


def said(entry: Entry) -> object:
    return (
        *(entry.key, entry.uid, entry.resource_version, entry.generation, entry.marks, entry.values),
        msgspec.json.decode(entry.raw),
    )


def alike(*metadata: dict[str, Any]) -> list[Any]:
    """Objects that differ in these."""
    usual = {"annotations": {}, "name": "n", "resourceVersion": "1", "uid": UID, "managedFields": managers()}
    head = {"apiVersion": "example.com/v1", "kind": "Widget"}
    return [({**usual, **each}, {"spec": {}}, "sorted", head, False) for each in metadata]


@example(alike({}, {"managedFields": FITTING}), [])
@example(alike({"labels": {"tier": 1}}, {"labels": {"tier": True}}), INDEXES[:1])
@settings(deadline=None, max_examples=400)
@given(OBJECTS, st.lists(st.sampled_from(INDEXES), unique=True))
def test_what_was_read_before_makes_no_difference(objects: list[Any], indexes: list[IndexBy]) -> None:
    parser = parser_of(indexes)
    for parts in [*objects, *objects]:
        raw = written(*parts)
        try:
            expected = said(parser_of(indexes).parse(raw))
        except DecodeError:
            with pytest.raises(DecodeError):
                parser.parse_all([msgspec.Raw(raw)])
            continue
        (entry,) = parser.parse_all([msgspec.Raw(raw)])
        assert said(entry) == expected
        assert len(entry.raw) < len(raw) + 60


def never(raw: bytes) -> Entry:
    raise AssertionError(f"read in another way: {raw!r}")


@pytest.mark.parametrize("order", ["sorted", "managers last"])
@pytest.mark.parametrize("head", [{}, {"apiVersion": "example.com/v1", "kind": "Widget"}])
@pytest.mark.parametrize("other", [{}, {"ownerReferences": [{"uid": "o"}, {"uid": "p"}]}, {"labels": None}])
def test_objects_as_servers_write_them_are_taken_apart(order: str, head: dict[str, Any], other: dict[str, Any]) -> None:
    index = IndexBy.label("tier")
    start = b'{"apiVersion":"example.com/v1","kind":"Widget",'
    layout = Layout(INFO, [index], start, never, lambda values: values, Once(lambda: 8), lambda: 8)
    parser = parser_of([index])
    for number, time in enumerate(["2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"]):
        metadata = {"name": f"n{number}", "resourceVersion": "1", "uid": UID, "labels": {"tier": "t"}, "generation": 1}
        metadata |= {"managedFields": managers(time), **other}
        raw = written(metadata, {"spec": {"managedFields": []}, "status": {}}, order, head, False)
        entry = parser.parse(raw)
        if not number:
            layout.learn(Timeless(msgspec.json.encode(managers(time))), (), entry.marks)
        assert [said(each) for each in layout.parse([msgspec.Raw(raw)])] == [said(entry)]
