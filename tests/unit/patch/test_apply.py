"""Server-side apply; expectations are a real API server's (1.36) answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubewright.patch.apply import ApplyConflict, applied_fields, apply, equal_but_times, track_update
from kubewright.patch.errors import PatchError
from kubewright.patch.fields import digest
from kubewright.patch.shape import Shape
from tests.unit.patch.things import EARLY, LAST_APPLIED, LATE, SCHEMA, THING, V1, applied, books, edited, thing, updated

# Who owns what


def test_applying_owns_what_is_applied() -> None:
    result = applied(None, thing({"name": "a", "replicas": 1}, labels={"x": "y"}))
    assert result["metadata"]["managedFields"] == [
        {
            "apiVersion": V1,
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:metadata": {"f:labels": {"f:x": {}}}, "f:spec": {"f:name": {}, "f:replicas": {}}},
            "manager": "m",
            "operation": "Apply",
            "time": EARLY,
        }
    ]


def test_what_a_manager_will_own_is_known_beforehand() -> None:
    obj = thing({"ports": [{"port": 80}], "set": []}, labels={"x": "y"}, ownerReferences=[{"uid": "1", "name": "o"}])
    [entry] = applied(None, obj)["metadata"]["managedFields"]
    assert digest(applied_fields(obj, THING)) == digest(entry["fieldsV1"])


def test_applying_the_same_again_changes_nothing_at_all() -> None:
    first = applied(None, thing({"name": "a", "ports": [{"port": 80}]}))
    assert applied(first, thing({"name": "a", "ports": [{"port": 80}]}), now=LATE) is first


def test_co_owning_what_is_there_gets_an_entry_without_time() -> None:
    first = applied(None, thing({"name": "a"}))
    second = applied(first, thing({"name": "a"}), "other", now=LATE)
    assert books(second) == [
        ("other", "Apply", None, {"f:spec": {"f:name": {}}}),
        ("m", "Apply", EARLY, {"f:spec": {"f:name": {}}}),
    ]
    assert applied(second, thing({"name": "a"}), "other", now=LATE) is second


def test_a_change_moves_the_time_of_its_manager_alone() -> None:
    both = applied(applied(None, thing({"name": "a"})), thing({"replicas": 1}), "other")
    changed = applied(both, thing({"name": "b"}), now=LATE)
    assert [(manager, time) for manager, _, time, _ in books(changed)] == [("other", EARLY), ("m", LATE)]


def test_an_apply_of_nothing_leaves_no_entry() -> None:
    both = applied(applied(None, thing({"name": "a"})), thing({"replicas": 1}), "other")
    assert [manager for manager, *_ in books(applied(both, thing(), "other"))] == ["m"]


# Conflicts


def test_one_conflict_is_worded_on_one_line() -> None:
    live = applied(None, thing({"name": "a"}), "kubectl-client")
    with pytest.raises(ApplyConflict) as refused:
        applied(live, thing({"name": "b"}))
    assert str(refused.value) == 'Apply failed with 1 conflict: conflict with "kubectl-client": .spec.name'
    status = refused.value.status
    assert (status.code, status.reason) == (409, "Conflict")
    [cause] = refused.value.causes
    assert (cause.reason, cause.message, cause.field) == (
        "FieldManagerConflict",
        'conflict with "kubectl-client"',
        ".spec.name",
    )


def test_several_conflicts_are_grouped_by_manager() -> None:
    ports = [{"port": 81, "protocol": "UDP", "opts": {"a": "b"}}]
    live = applied(None, thing({"amap": {"a": "1"}, "ports": ports, "atom": [{"a": "1"}]}))
    live = edited(live, "upd", name="u")
    intent = {"amap": {"b": "1"}, "ports": [{**ports[0], "opts": {"a": "c"}}], "atom": [], "name": "x"}
    with pytest.raises(ApplyConflict) as refused:
        applied(live, thing(intent), "other")
    assert str(refused.value) == (
        'Apply failed with 4 conflicts: conflicts with "m":\n'
        "- .spec.amap\n"
        "- .spec.atom\n"
        '- .spec.ports[port=81,protocol="UDP"].opts.a\n'
        f'conflicts with "upd" using {V1}:\n'
        "- .spec.name"
    )
    assert refused.value.conflicts[-1] == (f'"upd" using {V1}', ".spec.name")


def test_a_subresources_manager_is_named_as_such() -> None:
    status = {**thing(), "status": {"phase": "x"}}
    options: dict[str, Any] = {"shape": THING, "api_version": V1, "now": EARLY, "subresource": "status"}
    live = apply(thing(uid="u"), status, manager="st", force=False, **options)
    with pytest.raises(ApplyConflict, match=r'conflict with "st" with subresource "status": \.status\.phase'):
        apply(live, {**status, "status": {"phase": "y"}}, manager="other", force=False, **options)


def test_force_takes_fields_away() -> None:
    live = applied(None, thing({"name": "a", "replicas": 1}))
    forced = applied(live, thing({"name": "b"}), "other", force=True, now=LATE)
    assert forced["spec"] == {"name": "b", "replicas": 1}
    assert books(forced) == [
        ("m", "Apply", EARLY, {"f:spec": {"f:replicas": {}}}),
        ("other", "Apply", LATE, {"f:spec": {"f:name": {}}}),
    ]


# Removal


def test_what_is_applied_no_more_goes() -> None:
    live = applied(None, thing({"name": "a", "set": ["a", "b"], "labels": {"a": "1"}, "ports": [{"port": 80}]}))
    assert applied(live, thing({"set": ["b"]}))["spec"] == {"set": ["b"]}


def test_what_others_own_stays() -> None:
    live = applied(None, thing({"name": "n", "set": ["a", "b"], "ports": [{"port": 80, "name": "x"}]}))
    other = {"name": "n", "set": ["a"], "ports": [{"port": 80, "opts": {"q": "r"}}]}
    live = applied(live, thing(other), "o")
    live = edited(live, "u", labels={"a": "1"})
    left = applied(live, thing({}))
    assert left["spec"] == {
        "name": "n",
        "set": ["a"],
        "ports": [{"port": 80, "opts": {"q": "r"}}],
        "labels": {"a": "1"},
    }
    assert ("m", "Apply", EARLY, {"f:spec": {}}) in books(left)


def test_what_nobody_owns_stays() -> None:
    live = applied(None, thing({"ports": [{"port": 80, "name": "x"}]}))
    live["spec"]["ports"][0]["protocol"] = "TCP"  # as defaulting does
    assert applied(live, thing({"ports": [{"port": 80}]}))["spec"] == {"ports": [{"port": 80, "protocol": "TCP"}]}


def test_a_map_that_stays_without_its_last_field_is_null() -> None:
    live = applied(None, thing({"nested": {"a": "1", "inner": {"c": "1"}}}))
    assert applied(live, thing({"nested": {"a": "1", "inner": {}}}))["spec"] == {"nested": {"a": "1", "inner": None}}


# Lists


def test_applied_members_keep_their_order_and_the_others_their_place() -> None:
    live = applied(None, thing({"set": ["a", "b", "c", "d"]}))
    live = applied(live, thing({"set": ["d", "x", "b"]}), "o")
    assert live["spec"]["set"] == ["a", "c", "d", "x", "b"]
    live = applied(live, thing({"set": ["y", "c", "b", "z"]}), "p")
    assert live["spec"]["set"] == ["a", "y", "c", "d", "x", "b", "z"]
    assert applied(live, thing({"set": ["d", "c"]}))["spec"]["set"] == ["y", "d", "x", "b", "z", "c"]


def test_items_of_a_list_map_merge_by_their_keys() -> None:
    live = applied(None, thing({"ports": [{"port": 80, "protocol": "TCP", "name": "x"}]}))
    merged = applied(live, thing({"ports": [{"port": 80, "opts": {"a": "b"}}]}), "o")
    assert merged["spec"]["ports"] == [{"port": 80, "protocol": "TCP", "name": "x", "opts": {"a": "b"}}]


def test_live_items_that_repeat_are_kept_but_not_merged_into() -> None:
    live = thing({"ports": [{"port": 80, "protocol": "TCP", "name": "x"}, {"port": 80, "protocol": "TCP"}]}, uid="u")
    merged = applied(live, thing({"ports": [{"port": 80, "protocol": "TCP", "name": "y"}]}), force=True)
    assert merged["spec"]["ports"] == [{"port": 80, "protocol": "TCP", "name": "y"}]


# What is refused


@pytest.mark.parametrize(
    ("obj", "code", "message"),
    [
        (thing({"foo": 1}), 500, ".spec.foo: field not declared in schema"),
        (thing({}, foo="x"), 500, ".metadata.foo: field not declared in schema"),
        (thing({"replicas": "x"}), 500, ".spec.replicas: expected numeric (int or float), got string"),
        (thing({"replicas": True}), 500, ".spec.replicas: expected numeric (int or float), got bool"),
        (thing({"name": 3}), 500, ".spec.name: expected string, got &value.valueUnstructured{Value:3}"),
        (thing({"flag": 1}), 500, ".spec.flag: expected boolean, got &{1}"),
        (thing({"labels": []}), 500, ".spec.labels: expected map, got &{[]}"),
        (thing({"ports": {}}), 500, ".spec.ports: expected list, got &{map[]}"),
        (
            thing({"set": 5, "flag": "x"}),
            500,
            "errors:\n  .spec.set: expected list, got &{5}\n  .spec.flag: expected boolean, got &{x}",
        ),
        (
            thing({"ports": [{"port": 80}, {"port": 80, "protocol": "TCP"}], "set": ["a", "a"]}),
            500,
            (
                'errors:\n  .spec.ports: duplicate entries for key [port=80,protocol="TCP"]\n'
                '  .spec.set: duplicate entries for key [="a"]'
            ),
        ),
        (
            {**thing(), "status": {"conditions": [{"status": "x"}]}},
            500,
            (
                '.status.conditions: element 0: associative list with keys has an element that omits all key fields ["type"] '
                "(and doesn't have default values for any key fields)"
            ),
        ),
        (
            thing({"ports": [None]}),
            500,
            ".spec.ports: element 0: associative list with keys may not have a null element",
        ),
        (
            thing({"set": [{"a": 1}]}),
            500,
            ".spec.set: element 0: associative list without keys has an element that's a map type",
        ),
        (
            thing({"set": [None]}),
            500,
            ".spec.set: element 0: associative list without keys has an element that's an explicit null",
        ),
        (
            thing({"atom": [{"a": 1}], "deep": {"k": {"z": 1}}}),
            500,
            (
                "errors:\n  .spec.atom[0].a: expected string, got &value.valueUnstructured{Value:1}\n"
                "  .spec.deep.k.z: field not declared in schema"
            ),
        ),
        (thing({}, managedFields=[]), 400, "metadata.managedFields must be nil"),
        ({**thing({}), "apiVersion": "t.example.com/v2"}, 400, "invalid object type: t.example.com/v2, Kind=Thing"),
        ({**thing({}), "kind": "X"}, 400, f"invalid object type: {V1}, Kind=X"),
        ({"metadata": {"name": "x"}}, 400, "invalid object type: /, Kind="),
    ],
)
def test_what_does_not_fit_the_schema_is_refused_in_the_servers_words(
    obj: dict[str, Any], code: int, message: str
) -> None:
    with pytest.raises(PatchError) as refused:
        applied(thing(uid="u"), obj)
    prefix = f"failed to create typed patch object (/x; {V1}, Kind=Thing): " if code == 500 else ""
    assert (refused.value.status.code, refused.value.status.message) == (code, prefix + message)


# Broken books, and owners of what is atomic now


def test_an_apply_to_broken_books_says_so() -> None:
    broken = thing({}, uid="u", managedFields=[{"manager": "x", "operation": "Foo"}])
    with pytest.raises(PatchError, match="failed to decode managed fields: operation must be `Apply` or `Update`"):
        applied(broken, thing({}))


def test_owners_inside_what_became_atomic_own_it_whole() -> None:
    live = applied(None, thing({"nested": {"a": "1", "inner": {"c": "1"}}, "set": ["a"]}))
    schema: dict[str, Any] = json.loads(json.dumps(SCHEMA))
    spec = schema["properties"]["spec"]["properties"]
    spec["nested"]["x-kubernetes-map-type"] = "atomic"
    spec["set"]["x-kubernetes-list-type"] = "atomic"
    now_atomic = Shape(schema)
    new = {**live, "spec": {**live["spec"], "name": "x"}}
    tracked = track_update(live, new, manager="u", shape=now_atomic, api_version=V1, now=LATE)
    assert books(tracked)[0][3] == {"f:spec": {"f:nested": {}, "f:set": {}}}


# From client-side apply


def test_kubectl_takes_over_what_it_last_applied_from_the_clients_side() -> None:
    last = json.dumps(thing({"name": "n", "replicas": 2}))
    client_side = thing({"name": "n", "replicas": 2}, annotations={LAST_APPLIED: last})
    live = updated(None, client_side, "kubectl-client-side-apply", now=EARLY)
    taken = applied(live, thing({"name": "m", "replicas": 3}), "kubectl", now=LATE)
    assert taken["spec"] == {"name": "m", "replicas": 3}
    assert taken["metadata"]["annotations"] == {
        LAST_APPLIED: '{"apiVersion":"t.example.com/v1","kind":"Thing","metadata":{"name":"x"},'
        '"spec":{"name":"m","replicas":3}}\n'
    }
    annotation: Any = {"f:annotations": {".": {}, f"f:{LAST_APPLIED}": {}}}
    assert books(taken) == [
        ("kubectl", "Apply", LATE, {"f:spec": {"f:name": {}, "f:replicas": {}}}),
        ("kubectl-client-side-apply", "Update", EARLY, {"f:metadata": annotation, "f:spec": {}}),
    ]


def test_kubectl_conflicts_over_what_others_changed_since() -> None:
    last = json.dumps(thing({"name": "n"}))
    live = updated(None, thing({"name": "n"}, annotations={LAST_APPLIED: last}), "kubectl-client-side-apply")
    live = edited(live, "x", flag=True)
    with pytest.raises(ApplyConflict) as refused:
        applied(live, thing({"name": "m", "flag": False}), "kubectl")
    assert refused.value.conflicts == [(f'"x" using {V1}', ".spec.flag")]


# Times


def test_writes_that_differ_in_times_only_are_none() -> None:
    live = applied(applied(None, thing({"name": "a"})), thing({"flag": True}), "o")
    entries: Any = [{**entry, "time": LATE} for entry in reversed(live["metadata"]["managedFields"])]
    later = {**live, "metadata": {**live["metadata"], "managedFields": entries}}
    assert equal_but_times(live, later)
    assert not equal_but_times(live, {**later, "spec": {"name": "b"}})
    assert not equal_but_times(live, {**live, "metadata": {**live["metadata"], "managedFields": entries[:1]}})
