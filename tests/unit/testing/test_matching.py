from __future__ import annotations

from typing import Any

import pytest

from kubewright.testing import ABSENT, ANYTHING, containing, like
from kubewright.testing.matching import difference

LIVE = {
    "spec": {"replicas": 2, "image": "postgres:16", "ports": [{"port": 1, "name": "a"}, {"port": 2}]},
    "status": {"conditions": [{"type": "A", "status": "True", "reason": "R"}, {"type": "B", "status": "False"}]},
}


@pytest.mark.parametrize(
    "expected",
    [
        {},
        {"spec": {"replicas": 2}},
        {"spec": {"replicas": ANYTHING, "paused": ABSENT}},
        {"spec": {"image": like(r":16$")}},
        {"spec": {"ports": [{"port": 1}, {"port": 2, "name": ABSENT}]}},
        {"status": {"conditions": containing({"type": "B", "status": "False"}, {"type": "A"})}},
    ],
)
def test_what_matches(expected: dict[str, Any]) -> None:
    assert difference(expected, LIVE) == ""


@pytest.mark.parametrize(
    ("expected", "less", "more"),
    [
        ({"spec": {"replicas": 3}}, ["  replicas: 3"], ["  replicas: 2"]),
        ({"spec": {"paused": True}}, ["  paused: true"], ["  paused: (absent)"]),
        ({"spec": {"paused": ANYTHING}}, ["  paused: ANYTHING"], ["  paused: (absent)"]),
        ({"spec": {"replicas": ABSENT}}, ["spec: {}"], ["spec:", "  replicas: 2"]),
        ({"spec": {"image": like("mysql")}}, ["  image: like('mysql')"], ["  image: postgres:16"]),
        ({"spec": {"ports": [{"port": 1}]}}, [], ["  - port: 2"]),
        ({"spec": {"ports": [{"port": 1}, {"port": 2}, {"port": 3}]}}, ["  - port: 3"], []),
        ({"spec": {"ports": {"a": 1}}}, ["    a: 1"], ["  - port: 1", "    name: a", "  - port: 2"]),
        (
            {"status": {"conditions": containing({"type": "A", "reason": "Q"})}},
            ["    reason: Q"],
            ["    reason: R"],
        ),
        ({"spec": {"replicas": containing(1)}}, ["  - 1"], ["  replicas: 2"]),
    ],
)
def test_what_differs_is_shown_and_nothing_else(expected: dict[str, Any], less: list[str], more: list[str]) -> None:
    lines = difference(expected, LIVE).splitlines()[2:]
    assert [line[1:] for line in lines if line.startswith("-")][-len(less) or 99 :] == less
    assert [line[1:] for line in lines if line.startswith("+")] == more
    assert not any("status" in line for line in lines if "spec" in expected)
