"""What a run changed is carried over to a newer object, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.controller.replay import replayed
from kubewright.patch.shape import Shape

CONDITIONS = Shape(
    {
        "properties": {
            "conditions": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
            "tags": {"type": "array", "x-kubernetes-list-type": "set"},
        }
    }
)


def condition(type_: str, status: str = "True") -> dict[str, Any]:
    return {"type": type_, "status": status}


@pytest.mark.parametrize(
    ("live", "before", "after", "expected"),
    [
        pytest.param({"theirs": 2}, {"theirs": 1}, {"theirs": 1, "ours": 5}, {"theirs": 2, "ours": 5}, id="added"),
        pytest.param({"a": 1, "b": 3}, {"a": 1, "b": 2}, {"a": 9, "b": 2}, {"a": 9, "b": 3}, id="changed"),
        pytest.param({"a": 1, "b": 3}, {"a": 1, "b": 2}, {"b": 2}, {"b": 3}, id="removed"),
        pytest.param({}, {"gone": 1, "a": 1}, {"gone": 1, "a": 2}, {"a": 2}, id="what others removed stays removed"),
        pytest.param({"m": {"x": 7}}, {"m": {"x": 1}}, {"m": {"x": 1, "y": 2}}, {"m": {"x": 7, "y": 2}}, id="nested"),
        pytest.param({"l": [1, 2, 3]}, {"l": [1]}, {"l": [9]}, {"l": [9]}, id="other lists are the run's"),
        pytest.param({"tags": ["c", "a"]}, {"tags": ["a"]}, {"tags": ["a", "b"]}, {"tags": ["c", "a", "b"]}, id="sets"),
    ],
)
def test_only_the_step_is_carried_over(live: Any, before: Any, after: Any, expected: Any) -> None:
    assert replayed(live, before, after, CONDITIONS) == expected


def test_conditions_of_others_that_came_meanwhile_stay_and_ours_are_changed() -> None:
    live: Any = {"conditions": [condition("Theirs"), condition("Ours", "False"), condition("New")]}
    before: Any = {"conditions": [condition("Ours", "False"), condition("Theirs", "False"), condition("Dropped")]}
    after: Any = {"conditions": [condition("Ours"), condition("Theirs", "False")]}
    assert replayed(live, before, after, CONDITIONS) == {
        "conditions": [condition("Theirs"), condition("Ours"), condition("New")]
    }


STATUSES = st.dictionaries(
    st.sampled_from("abc"), st.integers(0, 3) | st.dictionaries(st.sampled_from("xy"), st.integers(0, 2))
)


@given(STATUSES, STATUSES)
def test_on_an_object_that_nobody_changed_it_is_the_runs_own_result(before: Any, after: Any) -> None:
    assert replayed(before, before, after, CONDITIONS) == after


@given(STATUSES, STATUSES)
def test_a_run_that_changed_nothing_changes_nothing(live: Any, status: Any) -> None:
    assert replayed(live, status, status, CONDITIONS) == live
