"""When two values are the same JSON."""

from __future__ import annotations

import pytest

from kubewright.api import JSON
from kubewright.patch.values import same


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({"x": 1, "y": [{"k": "true"}]}, {"y": [{"k": "true"}], "x": 1.0}),
        ({"x": True, "y": 1}, {"y": 1, "x": True}),
        ([1, 2.0], [1.0, 2]),
    ],
)
def test_neither_the_order_of_keys_nor_how_a_number_is_written_is_a_difference(a: JSON, b: JSON) -> None:
    assert same(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({"x": 1, "y": True}, {"y": 1, "x": 1}),
        ([{"deep": [0]}], [{"deep": [False]}]),
        ({"x": [1]}, {"x": [1, 1]}),
        (True, 1),
    ],
)
def test_true_is_not_one(a: JSON, b: JSON) -> None:
    assert not same(a, b)
