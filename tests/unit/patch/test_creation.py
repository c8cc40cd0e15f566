"""Books of a new object: the one pass that makes them agrees with the comparison with nothing."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kubewright.patch.apply import track_update
from kubewright.patch.fields import NOTHING, FieldSet
from kubewright.patch.shape import Shape

NAMES = st.sampled_from(["a", "b", "c", "name"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["", "x", "<y>"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)
LEAVES = st.sampled_from(
    [{}, {"type": "string"}, {"type": "integer"}, {"x-kubernetes-int-or-string": True}, {"type": "object"}]
)


def composed(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    maps = st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(NAMES, inner, max_size=3)},
        optional={"x-kubernetes-map-type": st.just("atomic")},
    )
    keyed = st.fixed_dictionaries({"type": st.just("object"), "additionalProperties": inner})
    lists = st.fixed_dictionaries(
        {"type": st.just("array"), "items": inner},
        optional={"x-kubernetes-list-type": st.sampled_from(["set", "atomic"])},
    )
    list_maps = st.fixed_dictionaries(
        {
            "type": st.just("array"),
            "items": inner,
            "x-kubernetes-list-type": st.just("map"),
            "x-kubernetes-list-map-keys": st.sampled_from([["name"], ["name", "a"]]),
        }
    )
    return maps | keyed | lists | list_maps


SCHEMAS = st.recursive(LEAVES, composed, max_leaves=6)
METADATA = st.fixed_dictionaries(
    {"name": st.just("x"), "uid": st.just("u")},
    optional={
        "labels": st.dictionaries(NAMES, st.just("v"), max_size=2),
        "finalizers": st.lists(st.sampled_from(["a/b", "c/d"]), max_size=2),
        "ownerReferences": st.just([{"uid": "1", "name": "n"}]),
    },
)


@settings(max_examples=400, deadline=None)
@given(SCHEMAS, VALUES, METADATA, st.booleans())
def test_a_creator_owns_what_a_comparison_with_nothing_finds(
    schema: dict[str, Any], spec: Any, metadata: dict[str, Any], has_status: bool
) -> None:
    shape = Shape({"type": "object", "properties": {"spec": schema, "status": schema}})
    identity: dict[str, Any] = {"apiVersion": "g/v1", "kind": "K"}
    obj = {**identity, "metadata": metadata, "spec": spec, "status": spec}
    books: dict[str, Any] = {
        "manager": "m",
        "shape": shape,
        "api_version": "g/v1",
        "now": "2026-01-01T00:00:00Z",
        "ignored": FieldSet.of_names("status") if has_status else NOTHING,
    }
    for _ in range(2):  # what was remembered of the first is used for the second
        quick = track_update(None, obj, **books)
        slow = track_update(identity, obj, **books)
        assert quick == slow
        assert repr(quick) == repr(slow), "the same in another order"
