"""Server-side apply, and the books of other writes; expectations are a real API server's (1.36) answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.patch.apply import ApplyConflict, applied_fields, apply, equal_but_times, track_update
from kubewright.patch.errors import PatchError
from kubewright.patch.fields import FieldSet, digest
from kubewright.patch.shape import Shape

SCHEMA: dict[str, Any] = json.loads((Path(__file__).parent / "recorded" / "schema.json").read_bytes())
THING = Shape(SCHEMA)
V1 = "t.example.com/v1"
EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def thing(spec: Any = None, **metadata: Any) -> dict[str, Any]:
    obj: dict[str, Any] = {"apiVersion": V1, "kind": "Thing", "metadata": {"name": "x", **metadata}}
    return obj if spec is None else {**obj, "spec": spec}


def applied(
    live: dict[str, Any] | None, obj: dict[str, Any], manager: str = "m", *, force: bool = False, now: str = EARLY
) -> dict[str, Any]:
    result: dict[str, Any] = apply(live, obj, manager=manager, force=force, shape=THING, api_version=V1, now=now)
    result["metadata"].setdefault("uid", "u")
    return result


def updated(
    old: dict[str, Any] | None, new: dict[str, Any], manager: str = "u", *, now: str = LATE, subresource: str = ""
) -> dict[str, Any]:
    result: dict[str, Any] = track_update(
        old, new, manager=manager, shape=THING, api_version=V1, now=now, subresource=subresource
    )
    result["metadata"].setdefault("uid", "u")
    return result


def edited(obj: dict[str, Any], manager: str = "u", *, now: str = LATE, **spec: Any) -> dict[str, Any]:
    """The object after an update that sets fields of the spec, or with None removes them."""
    merged = {key: value for key, value in {**obj.get("spec", {}), **spec}.items() if value is not None}
    return updated(obj, {**obj, "spec": merged}, manager, now=now)


def books(obj: dict[str, Any]) -> list[tuple[str, str, str | None, Any]]:
    return [
        (entry["manager"], entry["operation"], entry.get("time"), entry["fieldsV1"])
        for entry in obj["metadata"].get("managedFields", [])
    ]


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


# Updates


def test_an_update_owns_what_it_adds_and_what_it_modifies() -> None:
    created = updated(None, thing({"name": "n", "labels": {"a": "1"}, "ports": [{"port": 80}]}), "c", now=EARLY)
    fields: Any = {
        "f:spec": {
            ".": {},
            "f:labels": {".": {}, "f:a": {}},
            "f:name": {},
            "f:ports": {".": {}, 'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}}},
        }
    }
    assert books(created) == [("c", "Update", EARLY, fields)]
    changed = edited(created, name="m")
    del fields["f:spec"]["f:name"]
    assert books(changed) == [("c", "Update", EARLY, fields), ("u", "Update", LATE, {"f:spec": {"f:name": {}}})]


def test_an_update_that_changes_nothing_leaves_the_books() -> None:
    live = applied(None, thing({"name": "a"}))
    assert updated(live, dict(live)) == live


def test_an_update_that_only_removes_takes_from_the_books_and_adds_nothing() -> None:
    live = edited(applied(None, thing({"name": "a", "replicas": 1})), flag=True, now=EARLY)
    less = edited(live, "z", name=None, flag=None)
    assert books(less) == [("m", "Apply", EARLY, {"f:spec": {"f:replicas": {}}})]


def test_a_later_update_of_the_same_manager_adds_to_its_entry() -> None:
    live = edited(updated(None, thing({}), now=EARLY), name="a")
    assert books(live) == [("u", "Update", LATE, {"f:spec": {".": {}, "f:name": {}}})]


def test_appliers_and_updaters_of_one_name_are_two() -> None:
    live = edited(applied(None, thing({"name": "a"})), "m", flag=True)
    assert [(manager, operation) for manager, operation, *_ in books(live)] == [("m", "Apply"), ("m", "Update")]


def test_a_manager_without_a_name_is_unknown() -> None:
    assert books(updated(None, thing({"name": "a"}), ""))[0][0] == "unknown"


def test_what_an_endpoint_does_not_write_is_not_owned() -> None:
    status = FieldSet.of_names("status")
    options: dict[str, Any] = {"manager": "u", "shape": THING, "api_version": V1, "now": EARLY}
    new = {**thing({"name": "a"}, uid="u"), "status": {"phase": "x"}}
    assert books(track_update(None, new, ignored=status, **options))[0][3] == {"f:spec": {".": {}, "f:name": {}}}
    assert books(track_update(None, new, only=status, subresource="status", **options))[0][3] == {
        "f:status": {".": {}, "f:phase": {}}
    }


def test_what_an_object_starts_from_is_nobodys() -> None:
    options: dict[str, Any] = {"manager": "u", "shape": THING, "api_version": V1, "now": EARLY}
    tracked = track_update(thing({"nested": {}}), thing({"nested": {"a": "1"}, "name": "x"}), **options)
    assert books(tracked)[0][3] == {"f:spec": {"f:name": {}, "f:nested": {"f:a": {}}}}


def test_the_oldest_updaters_are_put_together() -> None:
    live = updated(None, thing({"labels": {}}), "c", now=EARLY)
    for number in range(12):
        labels = {**live["spec"]["labels"], f"k{number:02}": "1"}
        live = edited(live, f"u{number:02}", labels=labels, now=EARLY)
    names = [manager for manager, *_ in books(live)]
    assert names == ["ancient-changes", *(f"u{number:02}" for number in range(3, 12))]
    assert books(live)[0][3] == {"f:spec": {".": {}, "f:labels": {".": {}, "f:k00": {}, "f:k01": {}, "f:k02": {}}}}


# Books that are missing, edited or broken


def test_what_was_there_before_the_first_apply_belongs_to_a_manager_of_that_name() -> None:
    live = thing({"name": "a", "labels": {"a": "1"}}, uid="u")
    with pytest.raises(ApplyConflict, match=f'conflict with "before-first-apply" using {V1}: .spec.name'):
        applied(live, thing({"name": "b"}))
    forced = applied(live, thing({"name": "b"}), force=True)
    assert books(forced) == [
        ("m", "Apply", EARLY, {"f:spec": {"f:name": {}}}),
        ("before-first-apply", "Update", EARLY, {"f:spec": {".": {}, "f:labels": {".": {}, "f:a": {}}}}),
    ]


def test_an_object_without_books_gets_none_by_an_update() -> None:
    assert "managedFields" not in edited(thing({"name": "a"}, uid="u"), name="b")["metadata"]


def test_books_can_be_cleared_and_edited_by_an_update() -> None:
    live = edited(applied(None, thing({"name": "a"})), flag=True)
    cleared = updated(live, {**live, "metadata": {**live["metadata"], "managedFields": [{}]}})
    assert "managedFields" not in cleared["metadata"]
    first = [entry for entry in live["metadata"]["managedFields"] if entry["manager"] == "m"]
    one = updated(live, {**live, "metadata": {**live["metadata"], "managedFields": first}})
    assert [manager for manager, *_ in books(one)] == ["m"]


def test_an_empty_list_and_broken_books_in_an_update_are_overlooked() -> None:
    live = applied(None, thing({"name": "a"}))
    for given_books in ([], [{"manager": "x", "operation": "Foo"}], [{"manager": "x", "operation": "Apply"}]):
        new = {**live, "metadata": {**live["metadata"], "managedFields": given_books}}
        assert updated(live, new) == live


def test_books_are_not_edited_through_a_subresource() -> None:
    live = applied(None, thing({"name": "a"}))
    new = {**live, "metadata": {**live["metadata"], "managedFields": [{}]}}
    assert books(updated(live, new, subresource="status")) == books(live)


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


# Any sequence

PORT: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"port": st.integers(1, 3), "protocol": st.just("TCP")}, optional={"name": st.just("n")}
)
PORTS: st.SearchStrategy[Any] = st.lists(PORT, unique_by=lambda port: int(port["port"]), max_size=3)
SPECS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from("ab"),
        "set": st.lists(st.sampled_from("abc"), unique=True),
        "ports": PORTS,
        "labels": st.dictionaries(st.sampled_from("ab"), st.sampled_from("12"), max_size=2),
        "amap": st.fixed_dictionaries({}, optional={"a": st.sampled_from("12")}),
        "free": st.dictionaries(st.sampled_from("ab"), st.lists(st.integers(0, 1), max_size=2), max_size=2),
    },
)
STEPS = st.lists(st.tuples(st.sampled_from(["m", "o", "update"]), SPECS), max_size=5)


@given(STEPS, SPECS.map(lambda spec: {"name": "a", **spec}))  # who applies nothing but empty lists owns nothing
def test_applying_twice_is_applying_once(steps: list[tuple[str, dict[str, Any]]], spec: dict[str, Any]) -> None:
    live: dict[str, Any] = thing({}, uid="u")
    for manager, other in steps:
        if manager == "update":
            live = updated(live, {**live, "spec": other})
        else:
            live = applied(live, thing(other), manager, force=True)
    once = applied(live, thing(spec), "m", force=True)
    twice = applied(once, thing(spec), "m", force=True, now=LATE)
    assert applied(twice, thing(spec), "m", now=LATE) is twice
    for key, value in spec.items():
        if not isinstance(value, list | dict) or key == "amap":
            assert twice["spec"][key] == value
    entries: Any = twice["metadata"].get("managedFields", [])
    for entry in entries:
        if (entry["manager"], entry["operation"]) == ("m", "Apply"):
            assert digest(entry["fieldsV1"]) == digest(applied_fields(thing(spec), THING))


@given(SPECS, SPECS)
def test_one_managers_object_is_what_it_last_applied(first: dict[str, Any], second: dict[str, Any]) -> None:
    live = applied(applied(None, thing(first)), thing(second))

    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            inside = {key: filled(item) for key, item in value.items()}
            return {key: item for key, item in inside.items() if item not in (None, {}, [])}
        return value

    assert filled(live.get("spec") or {}) == filled(second)
