"""The JSONPath of printer columns."""

from __future__ import annotations

from typing import Any

import pytest

from kubewright.devcluster.jsonpath import JsonPath, JsonPathError

OBJECT = {
    "spec": {"replicas": 3, "a.b/c": "dotted", "list": ["x", "y", "z"], "empty": None},
    "status": {
        "conditions": [
            {"type": "Ready", "status": "True", "age": 3},
            {"type": "Stalled", "status": "False", "age": 1},
        ]
    },
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".spec.replicas", [3]),
        ("spec.replicas", [3]),
        ("{.spec.replicas}", [3]),
        ("$.spec.replicas", [3]),
        (".spec['replicas']", [3]),
        (".spec.a\\.b/c", ["dotted"]),
        (".spec.list[0]", ["x"]),
        (".spec.list[-1]", ["z"]),
        (".spec.list[7]", []),
        (".spec.list[*]", ["x", "y", "z"]),
        (".spec.list[1:]", ["y", "z"]),
        (".spec.list[:-1]", ["x", "y"]),
        (".spec.empty", [None]),
        (".spec.nothing.at.all", []),
        (".spec.replicas.deeper", []),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".status.conditions[?(@.type == 'Stalled')].status", ["False"]),
        ('.status.conditions[?(@.type!="Ready")].type', ["Stalled"]),
        (".status.conditions[?(@.age>2)].type", ["Ready"]),
        (".status.conditions[?(@.age)].type", ["Ready", "Stalled"]),
        (".status.conditions[?(@.type>2)].type", []),
        ("..type", ["Ready", "Stalled"]),
        (".", [OBJECT]),
    ],
)
def test_a_path_finds_the_values_in_order(path: str, found: list[Any]) -> None:
    assert JsonPath(path).find(OBJECT) == found


def test_the_first_value_is_none_where_there_is_none() -> None:
    assert JsonPath(".status.conditions[*].type").first(OBJECT) == "Ready"
    assert JsonPath(".nope").first(OBJECT) is None


@pytest.mark.parametrize("path", [".a[", ".a[b]", ".a[?(b)]", ".a b"])
def test_what_is_no_path_is_an_error_that_quotes_it(path: str) -> None:
    with pytest.raises(JsonPathError, match="is no JSONPath"):
        JsonPath(path)
