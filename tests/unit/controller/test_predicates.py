from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright import Resource, resource
from kubewright.api import resource_info
from kubewright.cache import Change, EntryParser, Event
from kubewright.controller import (
    Predicate,
    annotations_changed,
    any_change,
    appeared,
    changed,
    default_predicate,
    deletion,
    edited,
    finalizers_changed,
    generation_changed,
    labels_changed,
    predicate,
    resource_version_changed,
    selected,
)
from kubewright.kinds import core_v1


@resource("example.com/v1")
class Thing(Resource):
    spec: dict[str, Any] | None = None
    status: dict[str, Any] | None = None


_parser = EntryParser(resource_info(Thing))


def event(old: dict[str, Any] | None, new: dict[str, Any] | None) -> Event[Thing]:
    """``old`` and ``new`` are objects, without what every one of them has."""

    def entry(body: dict[str, Any] | None, version: str) -> Any:
        if body is None:
            return None
        metadata = {"name": "t", "namespace": "default", "uid": "1", "resourceVersion": version, "generation": 1}
        return _parser.parse(msgspec.json.encode({**body, "metadata": metadata | body.get("metadata", {})}))

    return Event(Thing, Change(entry(old, "1"), entry(new, "2")))


def meta(**metadata: Any) -> dict[str, Any]:
    return {"metadata": metadata}


PLAIN: dict[str, Any] = {}


@pytest.mark.parametrize(
    ("passes", "change"),
    [
        (generation_changed, meta(generation=2)),
        (labels_changed, meta(labels={"a": "b"})),
        (annotations_changed, meta(annotations={"a": "b"})),
        (finalizers_changed, meta(finalizers=["example.com/x"])),
        (deletion, meta(deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["example.com/x"])),
        (changed(".spec.replicas"), {"spec": {"replicas": 3}}),
        (changed(".spec"), {"spec": {"replicas": 3}}),
        (changed(".spec.other", '.metadata.labels["example.com/a"]'), meta(labels={"example.com/a": "b"})),
        (changed(".spec.list[1].name"), {"spec": {"list": [{}, {"name": "x"}]}}),
    ],
)
def test_each_passes_the_change_it_is_named_for_and_no_change_of_status(
    passes: Predicate, change: dict[str, Any]
) -> None:
    assert passes(event(PLAIN, change))
    assert not passes(event(change, change))
    assert not passes(event(change, {**change, "status": {"phase": "Running"}}))
    assert passes(event(change, None))


def test_what_is_new_passes_all_that_ask_for_a_change() -> None:
    for passes in (generation_changed, labels_changed, finalizers_changed, changed(".spec"), edited, appeared):
        assert passes(event(None, PLAIN))
    assert not deletion(event(None, PLAIN))
    assert not appeared(event(PLAIN, PLAIN))


def test_a_write_changes_the_resource_version_and_nothing_else_does() -> None:
    same = event(PLAIN, PLAIN)
    assert resource_version_changed(same)
    assert not resource_version_changed(Event(Thing, Change(same.change.old, same.change.old)))
    assert any_change(same)


def test_edits_are_what_a_person_changes() -> None:
    assert not edited(event(PLAIN, {"status": {"phase": "Running"}}))
    for change in (meta(generation=2), meta(labels={"a": "b"}), meta(annotations={"a": "b"}), meta(finalizers=["a/b"])):
        assert edited(event(PLAIN, change))


def test_a_custom_resource_with_a_status_is_filtered_by_default_and_no_other_kind() -> None:
    assert default_predicate(resource_info(Thing)) is edited
    assert default_predicate(resource_info(core_v1.Pod)) is any_change


def test_who_leaves_a_selection_is_heard_of_once_more() -> None:
    red, blue = meta(labels={"colour": "red"}), meta(labels={"colour": "blue"})
    for passes in (selected("colour=red"), selected({"colour": "red"})):
        assert passes(event(None, red))
        assert passes(event(red, blue))
        assert not passes(event(blue, blue))


@given(st.booleans(), st.booleans())
def test_they_combine_with_each_other_and_with_plain_functions(first: bool, second: bool) -> None:
    nothing = event(PLAIN, PLAIN)

    def plain(_event: Event[Any]) -> bool:
        return second

    combined = predicate(lambda _event: first)
    assert (combined & plain)(nothing) is (first and second)
    assert (plain & combined)(nothing) is (first and second)
    assert (combined | plain)(nothing) is (first or second)
    assert (plain | combined)(nothing) is (first or second)
    assert (~combined)(nothing) is (not first)
    assert (combined & ~predicate(plain))(nothing) is (first and not second)


def test_a_combination_says_what_it_is() -> None:
    assert repr(generation_changed | ~labels_changed & changed(".spec")) == (
        "(generation_changed | (~labels_changed & changed('.spec')))"
    )


@pytest.mark.parametrize("path", ["spec.replicas", ".spec..x", ".spec[", ".spec[a]", "", "."])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="is no path of fields: write it as .spec.replicas"):
        changed(path)


def test_a_change_of_no_field_is_refused() -> None:
    with pytest.raises(ValueError, match="of which fields"):
        changed()


@pytest.mark.parametrize("other", [None, 5, changed])
def test_only_predicates_combine(other: Any) -> None:
    for combine in (edited.__and__, edited.__or__, edited.__rand__, edited.__ror__):
        with pytest.raises(TypeError, match=r"edited.*: (.* is no predicate: give a function|changed .*: call it)"):
            combine(other)
    with pytest.raises(TypeError, match="predicate: .*"):
        predicate(other)
