"""The quick proof and the long way agree: what is proved right is what the long way finds right."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kubewright.schema.acceptance import Acceptance
from kubewright.schema.defaulting import default_value, drop_nulls
from kubewright.schema.filling import filling
from kubewright.schema.list_types import duplicates
from kubewright.schema.node import Definitions, Node
from kubewright.schema.pruning import prune
from kubewright.schema.shortcut import Shortcut
from kubewright.schema.structural import Structural
from kubewright.schema.validation import validate

NAMES = st.sampled_from(["a", "b", "if", "x-y"])
TEXTS = st.sampled_from(["", "a", "ab", "é", "2020-01-01T00:00:00Z", "5"])
NUMBERS = st.sampled_from([0, 1, -1, 3, 2**31, 2**31 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 0.5, 1.0, 1e17])
SCALARS: st.SearchStrategy[Any] = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)


def optional(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=keywords)


def merged(*parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(*parts).map(lambda found: {key: value for part in found for key, value in part.items()})


LIMITS = st.sampled_from([0, 1, -1, 3, 0.5, -1.5, 2**53, 2**31, 2**63])
NUMERIC = optional(
    minimum=LIMITS,
    maximum=LIMITS,
    exclusiveMinimum=st.booleans(),
    exclusiveMaximum=st.booleans(),
    multipleOf=st.sampled_from([1, 2, 0.5]),
    format=st.sampled_from(["int32", "int64", "float", "double"]),
    enum=st.lists(NUMBERS, min_size=1, max_size=3),
)
TEXTUAL = optional(
    minLength=st.integers(0, 2),
    maxLength=st.integers(0, 2),
    pattern=st.sampled_from(["^a", "b$"]),
    format=st.sampled_from(["date-time", "byte"]),
    enum=st.lists(TEXTS, min_size=1, max_size=3),
)
ANY_NODE = optional(
    nullable=st.booleans(),
    default=SCALARS,
    anyOf=st.sampled_from([[{"type": "integer"}, {"type": "string"}], [{"minimum": 1}, {"maxLength": 1}]]),
)
LEAVES = st.one_of(
    merged(st.just({"type": "integer"}), NUMERIC, ANY_NODE),
    merged(st.just({"type": "number"}), NUMERIC, ANY_NODE),
    merged(st.just({"type": "string"}), TEXTUAL, ANY_NODE),
    merged(st.just({"type": "boolean"}), ANY_NODE),
    merged(st.just({"x-kubernetes-int-or-string": True}), TEXTUAL, ANY_NODE),
    merged(st.just({"x-kubernetes-preserve-unknown-fields": True}), optional(type=st.just("object")), ANY_NODE),
)


def composed(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    nullable = optional(nullable=st.booleans(), default=st.sampled_from([{}, []]))
    fields = st.dictionaries(NAMES, inner, max_size=3).flatmap(
        lambda found: st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "properties": st.just(found),
                "required": st.lists(NAMES, unique=True, max_size=1),
            },
            optional={"x-kubernetes-preserve-unknown-fields": st.booleans(), "maxProperties": st.just(1)},
        )
    )
    maps = st.fixed_dictionaries({"type": st.just("object"), "additionalProperties": inner | st.just(True)})
    lists = st.fixed_dictionaries(
        {"type": st.just("array"), "items": inner},
        optional={"minItems": st.integers(0, 2), "maxItems": st.integers(0, 2)},
    )
    sets = st.builds(lambda found: {**found, "x-kubernetes-list-type": "set"}, lists)
    keyed = st.builds(
        lambda found, keys: {**found, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys},
        lists,
        st.lists(NAMES, min_size=1, max_size=2, unique=True),
    )
    return merged(fields | maps | lists | sets | keyed, nullable)


SCHEMAS = st.recursive(LEAVES, composed, max_leaves=6)


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that fit a schema more often than chance would have it."""
    if schema.get("x-kubernetes-int-or-string"):
        return st.integers(0, 3) | TEXTS
    kind = schema.get("type")
    enum = schema.get("enum")
    if enum:
        return st.sampled_from(enum) | SCALARS
    if kind == "object" and "properties" in schema:
        fields = {name: fitting(inner) for name, inner in schema["properties"].items()}
        return st.fixed_dictionaries({}, optional=fields)
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return st.dictionaries(NAMES, fitting(schema["additionalProperties"]), max_size=2)
    if kind == "array":
        return st.lists(fitting(schema["items"]), max_size=3)
    return {"integer": st.integers(0, 3), "number": NUMBERS, "string": TEXTS, "boolean": st.booleans()}.get(
        str(kind), VALUES
    )


def node_of(schema: dict[str, Any]) -> Node:
    return Definitions().node({"type": "object", "properties": {"spec": schema, "status": {"type": "object"}}})


def the_long_way(obj: dict[str, Any], root: Node) -> tuple[Any, list[Any]]:
    pruned, unknown = prune(obj, root, root=True)
    filled = default_value(drop_nulls(pruned, root), root)
    return filled, [*unknown, *validate(filled, root), *duplicates(filled, root)]


def object_with(spec: Any) -> dict[str, Any]:
    return {"apiVersion": "g/v1", "kind": "K", "metadata": {"name": "n"}, "spec": spec}


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_what_is_proved_right_is_right_and_filled_the_same(data: st.DataObject) -> None:
    schema = data.draw(SCHEMAS)
    obj = object_with(data.draw(fitting(schema) | VALUES))
    root = node_of(schema)
    try:
        acceptance = Acceptance(root)
    except ValueError:
        assume(False)
        return
    if not acceptance.accepts(obj):
        return
    fill = filling(root)
    filled = fill(obj) if fill else obj
    expected, problems = the_long_way(obj, root)
    assert not problems
    assert filled == expected
    assert list(filled["spec"] if isinstance(filled["spec"], dict) else []) == list(
        expected["spec"] if isinstance(expected["spec"], dict) else []
    )


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "format": "int32", "minimum": 0, "maximum": 100},
                "colour": {"type": "string", "enum": ["red", "green"], "default": "red"},
                "label": {"type": "string", "pattern": "^[a-z]*$", "maxLength": 10},
                "note": {"type": "string", "nullable": True},
                "port": {
                    "x-kubernetes-int-or-string": True,
                    "anyOf": [{"type": "integer"}, {"type": "string"}],
                },
                "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                "parts": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": {"type": "string"}, "count": {"type": "integer", "default": 1}},
                    },
                },
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            },
        },
        "status": {"type": "object", "properties": {"ready": {"type": "integer"}}},
    },
}
RIGHT = {
    "size": 3,
    "label": "abc",
    "note": None,
    "port": "http",
    "tags": ["a", "b"],
    "parts": [{"name": "x"}, {"name": "y", "count": 2}],
    "free": {"a": [None, {"b": 1.5}]},
}


def test_an_ordinary_object_is_proved_right() -> None:
    assert Acceptance(Definitions().node(SCHEMA)).accepts(object_with(RIGHT))


@pytest.mark.parametrize(
    "changes",
    [
        {"size": 101},
        {"size": "3"},
        {"size": True},
        {"size": None},
        {"colour": "blue"},
        {"label": "ABC"},
        {"label": "abcdefghijk"},
        {"port": 1.5},
        {"tags": ["a", "a"]},
        {"parts": [{"name": "x"}, {"name": "x"}]},
        {"parts": [{"count": 1}]},
        {"parts": [None]},
        {"free": None},
        {"other": 1},
    ],
)
def test_what_is_wrong_is_not_proved_right(changes: dict[str, Any]) -> None:
    assert not Acceptance(Definitions().node(SCHEMA)).accepts(object_with({**RIGHT, **changes}))


def test_answers_do_not_change_when_the_shortcut_is_taken() -> None:
    structural = Structural(SCHEMA)
    wrong = object_with({**RIGHT, "size": 101})
    first = [str(error) for error in structural.validate(wrong)]
    for _ in range(20):
        obj = object_with(dict(RIGHT))
        pruned, unknown = structural.prune(obj)
        filled = structural.default(pruned)
        assert (unknown, structural.validate(filled)) == ([], [])
        assert filled["spec"]["colour"] == "red"
        assert [part["count"] for part in filled["spec"]["parts"]] == [1, 2]
        assert "colour" not in obj["spec"]
    assert [str(error) for error in structural.validate(wrong)] == first


def test_a_proof_holds_for_the_parts_that_it_was_about_only() -> None:
    shortcut = Shortcut(Definitions().node({**SCHEMA, "required": ["spec"]}))
    obj = object_with({**RIGHT, "colour": "red", "parts": []})
    while not shortcut.accepts(obj):
        pass
    assert shortcut.filled(obj) is obj
    assert shortcut.proves({**obj, "metadata": {"name": "other"}})
    assert not shortcut.proves({**obj, "status": {"ready": "no"}})
    assert not shortcut.proves({key: value for key, value in obj.items() if key != "spec"})
