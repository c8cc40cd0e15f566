"""The books of writes other than apply; expectations are a real API server's (1.36) answers."""

from __future__ import annotations

from typing import Any

import pytest

from kubewright.patch.apply import ApplyConflict, track_update
from kubewright.patch.fields import FieldSet
from tests.unit.patch.things import EARLY, LATE, THING, V1, applied, books, edited, thing, updated


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
