"""JSON Patch as the API server (1.36) applies it; what it answers was recorded from one."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kubewright.patch import json_patch
from kubewright.patch.errors import PatchError

DOCUMENT: dict[str, Any] = {
    "metadata": {"name": "x", "finalizers": ["a/b", "c/d"]},
    "data": {"a": "1", "b": "2", "e~/x": "t"},
}
REFUSED = "the server rejected our request due to an error in our request"


def operation(op: str, path: str, **rest: Any) -> list[dict[str, Any]]:
    return [{"op": op, "path": path, **rest}]


@pytest.mark.parametrize(
    ("patch", "finalizers"),
    [
        (operation("add", "/metadata/finalizers/-", value="e/f"), ["a/b", "c/d", "e/f"]),
        (operation("add", "/metadata/finalizers/1", value="e/f"), ["a/b", "e/f", "c/d"]),
        (operation("add", "/metadata/finalizers/01", value="e/f"), ["a/b", "e/f", "c/d"]),
        (operation("add", "/metadata/finalizers/2", value="e/f"), ["a/b", "c/d", "e/f"]),
        (operation("add", "/metadata/finalizers/-1", value="e/f"), ["a/b", "c/d", "e/f"]),
        (operation("remove", "/metadata/finalizers/-1"), ["a/b"]),
        (operation("remove", "/metadata/finalizers/0"), ["c/d"]),
        (operation("replace", "/metadata/finalizers/1", value="e/f"), ["a/b", "e/f"]),
        (operation("replace", "/metadata/finalizers", value=[]), []),
        (operation("move", "/metadata/finalizers/0", **{"from": "/metadata/finalizers/1"}), ["c/d", "a/b"]),
        (operation("copy", "/metadata/finalizers/-", **{"from": "/data/a"}), ["a/b", "c/d", "1"]),
    ],
)
def test_lists_are_edited_in_place(patch: list[dict[str, Any]], finalizers: list[str]) -> None:
    before = copy.deepcopy(DOCUMENT)
    patched: Any = json_patch.apply(DOCUMENT, patch)
    assert patched["metadata"]["finalizers"] == finalizers
    assert before == DOCUMENT, "the document itself stays as it was"


@pytest.mark.parametrize(
    ("patch", "data"),
    [
        (operation("add", "/data/c", value="3"), {"a": "1", "b": "2", "e~/x": "t", "c": "3"}),
        (operation("add", "what stands before the first slash/data/c", value="3"), {**DOCUMENT["data"], "c": "3"}),
        (operation("remove", "/data/e~0~1x"), {"a": "1", "b": "2"}),
        (operation("move", "/data/c", **{"from": "/data/a"}), {"b": "2", "e~/x": "t", "c": "1"}),
        (operation("test", "/data/zz", value=None), DOCUMENT["data"]),
        (operation("test", "/data/e~0~1x", value="t"), DOCUMENT["data"]),
        ([], DOCUMENT["data"]),
    ],
)
def test_maps_are_edited_by_key(patch: list[dict[str, Any]], data: dict[str, Any]) -> None:
    patched: Any = json_patch.apply(DOCUMENT, patch)
    assert patched["data"] == data


def test_the_whole_document_can_be_replaced() -> None:
    assert json_patch.apply(DOCUMENT, operation("replace", "", value={"kind": "X"})) == {"kind": "X"}


@pytest.mark.parametrize(
    "patch",
    [
        operation("test", "/data/a", value="2"),
        operation("test", "/data/a"),
        operation("test", "/nope/zz", value=None),
        operation("test", "/metadata/finalizers/7", value=None),
        operation("test", "/metadata/finalizers/-", value="c/d"),
        operation("test", "", value={}),
        operation("test", "/data/a/b", value="x"),
        operation("remove", "/data/zz"),
        operation("remove", "/nope/zz"),
        operation("remove", "/metadata/finalizers/2"),
        operation("remove", "/metadata/finalizers/-"),
        operation("remove", "/metadata/finalizers/-3"),
        operation("remove", ""),
        operation("replace", "/data/zz", value="1"),
        operation("replace", "/metadata/finalizers/7", value="a/b"),
        operation("replace", "/data/a/b", value="1"),
        operation("add", "/nope/zz", value="1"),
        operation("add", "/metadata/finalizers/7", value="q/r"),
        operation("add", "/metadata/finalizers/-9", value="q/r"),
        operation("add", "/metadata/finalizers/x", value="q/r"),
        operation("add", "", value={}),
        operation("add", "data", value={}),
        operation("move", "/data/n", **{"from": "/data/zz"}),
        operation("move", "/nope/n", **{"from": "/data/a"}),
        operation("copy", "/data/n", **{"from": "/metadata/finalizers/5"}),
        operation("copy", "/metadata/finalizers/9", **{"from": "/metadata/finalizers/0"}),
    ],
)
def test_an_operation_that_does_not_apply_is_refused_without_saying_why(patch: list[dict[str, Any]]) -> None:
    with pytest.raises(PatchError) as refused:
        json_patch.apply(DOCUMENT, patch)
    status = refused.value.status
    assert (status.code, status.reason, status.message) == (422, "Invalid", REFUSED)
    assert repr(patch[0]["path"]) in str(refused.value), "our own text says where"


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (None, "error decoding patch: unexpected end of JSON input"),
        ({}, "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        ("x", "error decoding patch: json: cannot unmarshal string into Go value of type []handlers.jsonPatchOp"),
        ([1], "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"),
        (
            [{"op": 1, "path": "/data/a"}],
            "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
        ),
        (
            [{"op": "add", "value": {}}],
            (
                """invalid operation {"op":"add","value":{}}: failed to decode 'path': """
                "operation missing path field: missing value"
            ),
        ),
        (
            [{"op": "add", "path": "/data/n"}],
            (
                """invalid operation {"op":"add","path":"/data/n"}: failed to decode 'value': """
                "operation, missing value field: missing value"
            ),
        ),
        ([{"op": "zap", "path": "/data/n"}], 'invalid operation {"op":"zap","path":"/data/n"}: unsupported operation'),
        (
            [{"op": "move", "path": "/data/n"}],
            (
                """invalid operation {"op":"move","path":"/data/n"}: failed to decode 'from': """
                "operation, missing from field: missing value"
            ),
        ),
    ],
)
def test_operations_that_can_not_be_read_are_refused_in_the_servers_words(patch: Any, message: str) -> None:
    with pytest.raises(PatchError) as refused:
        json_patch.apply(DOCUMENT, patch)
    status = refused.value.status
    assert (status.code, status.reason, status.message) == (400, "BadRequest", message)


def test_there_is_a_limit_to_the_number_of_operations() -> None:
    with pytest.raises(PatchError) as refused:
        json_patch.apply(DOCUMENT, operation("test", "/data/a", value="1") * 10_001)
    assert refused.value.status.code == 413
    assert refused.value.status.message == (
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
    )


def test_true_is_not_one() -> None:
    with pytest.raises(PatchError):
        json_patch.apply({"a": {"b": True}}, operation("test", "/a/b", value=1))
    with pytest.raises(PatchError):
        json_patch.apply({"a": [{"b": 1}]}, operation("test", "/a", value=[{"b": True}]))
