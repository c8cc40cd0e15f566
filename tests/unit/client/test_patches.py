"""Patches, put together step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from kubewright.client import JsonPatch, MergePatch, StrategicMergePatch
from tests.unit.client.conftest import Item


def sent(patch: JsonPatch | MergePatch | StrategicMergePatch) -> Any:
    return msgspec.json.decode(msgspec.json.encode(patch.body))


def test_a_json_patch_has_every_operation_in_order() -> None:
    patch = (
        JsonPatch()
        .bound_to("7")
        .test("/spec/size", 0)
        .add("/spec/items/-", Item(name="x", size=0))
        .replace(("metadata", "annotations", "example.com/a~b"), None)
        .remove(("spec", "items", 0))
        .move("/a", "/b")
        .copy("/b", ["c"])
    )
    assert sent(patch) == [
        {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "test", "path": "/spec/size", "value": 0},
        {"op": "add", "path": "/spec/items/-", "value": {"name": "x", "size": 0}},
        {"op": "replace", "path": "/metadata/annotations/example.com~1a~0b", "value": None},
        {"op": "remove", "path": "/spec/items/0"},
        {"op": "move", "from": "/a", "path": "/b"},
        {"op": "copy", "from": "/b", "path": "/c"},
    ]


def test_a_step_changes_no_patch_but_makes_another() -> None:
    json, merge = JsonPatch().remove("/a"), MergePatch().set("/a/b", 1)
    json.remove("/b")
    merge.set("/a/c", 2)
    assert (sent(json), sent(merge)) == ([{"op": "remove", "path": "/a"}], {"a": {"b": 1}})


@pytest.mark.parametrize("kind", [MergePatch, StrategicMergePatch])
def test_a_patch_like_the_object_nests_what_is_set_and_nulls_what_is_removed(kind: Any) -> None:
    patch = kind().set("/spec/size", 0).set(("metadata", "labels", "a/b"), "x").remove("/spec/note").bound_to("7")
    assert sent(patch) == {
        "spec": {"size": 0, "note": None},
        "metadata": {"labels": {"a/b": "x"}, "resourceVersion": "7"},
    }
    assert sent(kind({"spec": {"size": 1}}).set("/spec/on", False)) == {"spec": {"size": 1, "on": False}}
    assert sent(kind().set(("data", "0"), "x")) == {"data": {"0": "x"}}


def test_a_strategic_patch_has_directives_for_items_and_wholes() -> None:
    patch = (
        StrategicMergePatch()
        .merge_item("/spec/containers", Item(name="a", size=1))
        .delete_item("/spec/containers", {"name": "b"})
        .replace("/spec/volumes", [{"name": "v"}, Item(name="w")])
    )
    assert sent(patch) == {
        "spec": {
            "containers": [{"name": "a", "size": 1}, {"$patch": "delete", "name": "b"}],
            "volumes": [{"name": "v"}, {"name": "w"}, {"$patch": "replace"}],
        }
    }


@pytest.mark.parametrize("value", [{"x": "y"}, ["a", "b"], "text"])
def test_a_strategic_patch_replaces_no_whole_that_a_server_would_drop(value: Any) -> None:
    """Of a map that is not there yet, real servers drop it all; in a list of strings the directive is refused."""
    with pytest.raises(
        TypeError, match=r"/spec/selector is no list of objects: JsonPatch\(\).add\('/spec/selector', …\)"
    ):
        StrategicMergePatch().replace("/spec/selector", value)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: JsonPatch().remove("spec.size"),
            ValueError,
            "'spec.size' is no JSON Pointer: write '/spec/size', or its",
        ),
        (lambda: MergePatch().set("", {}), ValueError, "an empty path is the whole object"),
        (
            lambda: MergePatch().set("/spec/items/0/size", 1),
            ValueError,
            "can't address item 0 of a list; use a JsonPatch",
        ),
        (
            lambda: MergePatch().set(("spec", "items", 0), 1),
            ValueError,
            "/spec/items/0: a merge patch can't address one item",
        ),
        (
            lambda: MergePatch().set("/spec", 1).set("/spec/size", 1),
            TypeError,
            "/spec/size: this patch already sets spec to 1",
        ),
        (
            lambda: StrategicMergePatch().set("/a", 1).merge_item("/a", {"name": "x"}),
            TypeError,
            "/a: this patch sets something there that is no list",
        ),
    ],
)
def test_a_path_that_can_not_be_meant_is_refused(
    make: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make()
