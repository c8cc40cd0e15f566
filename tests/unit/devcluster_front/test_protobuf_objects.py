"""Objects out of protobuf, held to what a real 1.36 server answers for the same object in both forms."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubewright.devcluster.protobuf_objects import load_protobuf

RECORDED: list[dict[str, Any]] = msgspec.json.decode(
    Path(__file__).with_name("data").joinpath("protobuf_objects.json").read_bytes()
)

NAMESPACE = bytes.fromhex(
    "6b3873000a0f0a02763112094e616d657370616365121a0a120a02783212001a0022002a0032003800420012001a020a001a002200"
)
"""What ``kubectl create namespace x2`` sends."""


def without_nulls(value: Any) -> Any:
    """The server's JSON says null where an object has nothing; for us the field is not there."""
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    return [without_nulls(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded["object"]["kind"])
def test_both_forms_of_an_object_are_the_same(recorded: dict[str, Any]) -> None:
    assert load_protobuf(base64.b64decode(recorded["protobuf"])) == without_nulls(recorded["object"])


def test_what_was_not_set_is_not_there() -> None:
    assert load_protobuf(NAMESPACE) == {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "x2"},
        "spec": {},
        "status": {},
    }


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"{}", "does not appear to be a protobuf message"),
        (NAMESPACE[:-30], "unexpected EOF"),
        (NAMESPACE.replace(b"Namespace", b"Namespacf"), 'no kind "Namespacf" is registered for version "v1"'),
        (b"k8s\x00\x0b", "illegal wireType 3"),
        (b"k8s\x00\x08\x01", "wrong wireType"),
    ],
)
def test_what_is_no_such_object_is_an_error(body: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        load_protobuf(body)


def test_a_custom_resource_has_no_protobuf_form() -> None:
    identity = b"\x0a\x13apps.example.com/v1\x12\x08Database"
    with pytest.raises(ValueError, match='no kind "Database" is registered'):
        load_protobuf(b"k8s\x00\x0a" + bytes([len(identity)]) + identity)
