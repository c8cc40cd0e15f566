"""Edits of random documents by classes that know a random part of them: nothing unknown is lost, no update either."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterator
from types import new_class
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubewright.api import (
    JSON,
    Conflict,
    Model,
    Resource,
    Unstructured,
    convert,
    field,
    resource,
    to_dict,
    unstructured,
)
from kubewright.client import Client
from tests.unit.client.one_object import OneObject

Schema = dict[str, Any]
"""Field → type: ``int``, ``str``, ``bool`` or ``JSON``; ``[scalar]``, ``{"*": schema}`` (a map of objects), ``[schema]``
(a list of objects) or a schema."""

FIELDS = ["a", "b", "c"]
UNKNOWN = ["u", "v"]
SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    int: st.integers(-1, 1),
    str: st.sampled_from(["", "x", "y/~"]),
    bool: st.booleans(),
}
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 1) | st.sampled_from(["", "x"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["name", "k", "a/b"]), inner, max_size=2)
    ),
    max_leaves=4,
)
LEAVES = st.sampled_from([int, str, bool, JSON, [int], [str]])
SCHEMAS: st.SearchStrategy[Schema] = st.recursive(
    st.dictionaries(st.sampled_from(FIELDS), LEAVES, min_size=1, max_size=3),
    lambda inner: st.dictionaries(
        st.sampled_from(FIELDS),
        LEAVES | inner.map(lambda schema: [{"name": str, **schema}]) | inner | inner.map(lambda schema: {"*": schema}),
        min_size=1,
        max_size=3,
    ),
    max_leaves=6,
)


def model(schema: Schema) -> type[Model]:
    """The class that knows what ``schema`` says."""
    annotations: dict[str, Any] = {name: _annotation(kind) | None for name, kind in schema.items()}
    namespace = {"__annotations__": annotations, "__module__": __name__, **dict.fromkeys(schema)}
    return cast("type[Model]", new_class("Part", (Model,), {}, lambda body: body.update(namespace)))


def _annotation(kind: Any) -> Any:
    if isinstance(kind, list):
        return list[_annotation(kind[0])]  # type: ignore[misc]  # made at run time
    if isinstance(kind, dict):
        return dict[str, model(kind["*"])] if "*" in kind else model(kind)  # type: ignore[misc]
    return kind


@st.composite
def documents(draw: st.DrawFn, schema: Schema, *, unknown: bool) -> dict[str, Any]:
    document = {name: draw(_values(kind, unknown=unknown)) for name, kind in schema.items() if draw(st.booleans())}
    if unknown:
        document |= draw(st.dictionaries(st.sampled_from(UNKNOWN), ANY, max_size=2))
    return document


def _values(kind: Any, *, unknown: bool) -> st.SearchStrategy[Any]:
    if kind is JSON:
        return ANY.filter(lambda value: value is not None)  # None is "not there" to a class
    if isinstance(kind, list) and isinstance(kind[0], dict):
        items = documents(kind[0], unknown=unknown)
        named = st.lists(st.sampled_from("pqrs"), max_size=3, unique=True).flatmap(
            lambda names: st.tuples(*[items.map(lambda item, name=name: {**item, "name": name}) for name in names])  # type: ignore[misc]
        )
        return st.one_of(named.map(list), named.map(list), st.lists(items, max_size=2))
    if isinstance(kind, list):
        return st.lists(SCALARS[kind[0]], max_size=3)
    if isinstance(kind, dict):
        if "*" in kind:
            return st.dictionaries(st.sampled_from(["k", "l/m"]), documents(kind["*"], unknown=unknown), max_size=2)
        return documents(kind, unknown=unknown)
    return SCALARS[kind]


@st.composite
def edited(draw: st.DrawFn, kind: Any, value: Any) -> Any:
    """``value`` (only what is known) after an edit: parts kept, cleared, replaced, moved, and edits inside."""
    if isinstance(kind, dict) and isinstance(value, dict):
        return draw(_edited_map(kind, value))
    if isinstance(kind, list) and isinstance(kind[0], dict) and isinstance(value, list):
        kept = [_still_named(item, draw(edited(kind[0], item))) for item in value if draw(st.integers(0, 3))]
        if draw(st.booleans()):
            kept = draw(st.permutations(kept))
        if draw(st.booleans()):
            kept = [*kept, {"name": "new"}]
        return kept
    return draw(_values(kind, unknown=False))


def _still_named(item: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """An item with another name would be another item."""
    return {**after, "name": item["name"]} if "name" in item else after


@st.composite
def _edited_map(draw: st.DrawFn, kind: Schema, value: dict[str, Any]) -> dict[str, Any]:
    after = {}
    for name in kind if "*" not in kind else [*value, *draw(st.lists(st.just("n"), max_size=1))]:
        part = kind.get("*", kind.get(name))
        step = draw(st.sampled_from(["edit", "edit", "edit", "keep", "keep", "clear", "new"]))
        if step == "new" or (step == "edit" and name not in value):
            after[name] = draw(_values(part, unknown=False))
        elif step == "edit":
            after[name] = draw(edited(part, value[name]))
        elif step == "keep" and name in value:
            after[name] = value[name]
    return after


def known(document: Any, kind: Any) -> Any:
    """What the class sees."""
    if isinstance(kind, list) and isinstance(document, list):
        return [known(item, kind[0]) for item in document]
    if isinstance(kind, dict) and isinstance(document, dict):
        if "*" in kind:
            return {name: known(value, kind["*"]) for name, value in document.items()}
        return {name: known(document[name], part) for name, part in kind.items() if name in document}
    return document


def unknown_fields(before: Any, after: Any, kind: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of the fields of ``before`` that the class does not know and that have a place in ``after``.

    Items of lists are followed where their names tell them apart.
    """
    if isinstance(kind, dict) and isinstance(before, dict) and isinstance(after, dict):
        for name, value in before.items():
            if "*" in kind or name in kind:
                if name in after:
                    yield from unknown_fields(value, after[name], kind.get("*", kind.get(name)), (*path, name))
            else:
                yield (*path, name)
    elif isinstance(kind, list) and isinstance(kind[0], dict) and _told_apart(before) and _told_apart(after):
        there = {item["name"]: item for item in after}
        for item in before:
            if item["name"] in there:
                yield from unknown_fields(item, there[item["name"]], kind[0], (*path, {"name": item["name"]}))


def _told_apart(items: list[Any]) -> bool:
    names = [item.get("name") for item in items]
    return None not in names and len(set(names)) == len(names)


def at(document: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        if isinstance(step, dict):
            document = next(item for item in document if item.get("name") == step["name"])
        else:
            document = document[step]
    return document


def thing(schema: Schema) -> type[Resource]:
    spec = model(schema)
    namespace = {
        "__annotations__": {"spec": spec, "status": spec},
        "__module__": __name__,
        "spec": field(default_factory=spec),
        "status": field(default_factory=spec),
    }
    made = cast("type[Resource]", new_class("Thing", (Resource,), {}, lambda body: body.update(namespace)))
    return resource("example.com/v1")(made)


PROPERTIES = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@PROPERTIES
@given(schema=SCHEMAS, data=st.data(), overtaken=st.integers(0, 4), part=st.sampled_from(["spec", "status"]))
def test_an_edit_makes_what_was_meant_and_loses_nothing(
    schema: Schema, data: st.DataObject, overtaken: int, part: str
) -> None:
    before = data.draw(documents(schema, unknown=True), label="before")
    after = data.draw(edited(schema, known(before, schema)), label="after")
    kind = thing(schema)

    def interfere(document: dict[str, Any]) -> None:
        document.setdefault(part, {})["theirs"] = document[part].get("theirs", 0) + 1

    server = OneObject({part: before, "extra": [{"x": None}]}, [interfere] * overtaken)
    wanted: Any = convert({part: after}, kind)
    runs = 0

    def change(obj: Any) -> None:
        nonlocal runs
        runs += 1
        setattr(obj, part, copy.deepcopy(getattr(wanted, part)))

    subresource = "status" if part == "status" else None
    asyncio.run(Client(server).edit(kind, "a", change, namespace="ns", subresource=subresource))

    stored = server.document
    assert to_dict(convert(stored, kind))[part] == to_dict(wanted)[part]
    for path in unknown_fields(before, after, schema):
        assert at(stored[part], path) == at(before, path), f"{path} was lost"
    assert stored["extra"] == [{"x": None}]
    assert stored[part].get("theirs", 0) == min(overtaken, len(server.patches)), "an update was lost"
    assert runs == max(1, len(server.patches))
    if to_dict(convert({part: before}, kind))[part] == to_dict(wanted)[part]:
        assert not server.patches, "nothing was changed"
    assert all(operations[0]["path"] == "/metadata/resourceVersion" for operations in server.patches)


THING = unstructured("example.com/v1", "Thing", plural="things")
OBJECTS = st.dictionaries(st.sampled_from(["a", "b", "list"]), ANY | st.lists(ANY, max_size=3), max_size=3)


@PROPERTIES
@given(before=OBJECTS, after=OBJECTS, overtaken=st.integers(0, 4))
def test_an_edit_without_a_class_makes_exactly_what_was_meant(
    before: dict[str, Any], after: dict[str, Any], overtaken: int
) -> None:
    def interfere(document: dict[str, Any]) -> None:
        document["theirs"] = document.get("theirs", 0) + 1

    server = OneObject({"spec": before, "status": {"kept": None}}, [interfere] * overtaken)

    def change(obj: Unstructured) -> None:
        obj["spec"] = after
        obj["status"] = "the main resource does not write it"

    asyncio.run(Client(server).edit(THING, "a", change, namespace="ns"))
    theirs = {"theirs": len(server.patches[:overtaken])} if server.patches[:overtaken] else {}
    assert repr(_sorted(server.document)) == repr(_sorted({"spec": after, "status": {"kept": None}, **theirs}))


def _sorted(value: Any) -> Any:
    """So that what is printed is the same for the same JSON, and tells 1 from True."""
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def test_an_edit_that_is_overtaken_every_time_says_so() -> None:
    def interfere(document: dict[str, Any]) -> None:
        document["spec"]["theirs"] += 1

    server = OneObject({"spec": {"theirs": 0}}, [interfere] * 5)

    def change(obj: Unstructured) -> None:
        obj["spec", "ours"] = True

    with pytest.raises(Conflict, match="the object has been modified"):
        asyncio.run(Client(server).edit(THING, "a", change, namespace="ns"))
    assert server.document == {"spec": {"theirs": 5}}
