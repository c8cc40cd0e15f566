"""Objects of kinds that have no class."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from kubewright.api import (
    DecodeError,
    MissingField,
    ObjectMeta,
    Unstructured,
    convert,
    decode,
    encode,
    resource_info,
    to_dict,
    unstructured,
)

Widget = unstructured("example.com/v1", "Widget", plural="widgets")
MANIFEST: dict[str, Any] = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "a", "namespace": "ns"},
    "spec": {"size": 0, "off": False, "none": None, "empty": [], "items": [{"name": "x"}]},
    "data": None,
}


@pytest.fixture
def widget() -> Unstructured:
    return convert(MANIFEST, Widget)


def test_all_json_goes_through_unchanged(widget: Unstructured) -> None:
    assert to_dict(widget) == MANIFEST
    assert to_dict(decode(encode(widget), Widget)) == MANIFEST
    assert list(to_dict(widget))[:2] == ["apiVersion", "kind"]


def test_an_object_shares_nothing_with_the_manifest_it_was_made_of() -> None:
    before = copy.deepcopy(MANIFEST)
    made = convert(MANIFEST, Widget)
    made["spec", "items", 0, "name"] = "y"
    written = to_dict(made)
    made["spec", "size"] = 1
    assert before == MANIFEST
    assert written["spec"]["size"] == 0


def test_the_same_kind_is_the_same_class() -> None:
    assert unstructured("example.com/v1", "Widget", plural="widgets") is Widget
    assert unstructured("example.com/v1", "Widget", plural="widgets", scope="Cluster") is not Widget
    assert Widget.__name__ == "Widget"
    assert resource_info(Widget).api_version == "example.com/v1"
    assert resource_info(unstructured("v1", "Node", plural="nodes", scope="Cluster")).group == ""


def test_metadata_is_typed(widget: Unstructured) -> None:
    assert (widget.name, widget.namespace) == ("a", "ns")
    widget.metadata.labels = {"app": "x"}
    assert to_dict(widget)["metadata"]["labels"] == {"app": "x"}


def test_fields_are_read_by_their_path(widget: Unstructured) -> None:
    assert widget["spec"]["size"] == widget["spec", "size"] == 0
    assert widget["spec", "items", 0, "name"] == "x"
    assert widget["spec", "items", -1, "name"] == "x"
    assert widget.get("spec", "items", 3, "name") is None
    assert widget.get("spec", "nothing", default=5) == 5
    assert widget.get("spec", "none", default=5) is None, "it is there, and null"
    assert ("spec", "none") in widget
    assert ("spec", "nothing") not in widget
    assert ("spec", "size", "x") not in widget
    assert list(widget) == ["spec", "data"]


def test_assigning_makes_the_maps_on_the_way(widget: Unstructured) -> None:
    widget["spec", "new", "deep"] = 1
    widget["data", "key"] = "v"  # where null was
    widget["spec", "items", 0, "name"] = "y"
    widget["status"] = {}
    assert widget["spec", "new"] == {"deep": 1}
    assert widget["data"] == {"key": "v"}
    assert widget["spec", "items"] == [{"name": "y"}]
    del widget["spec", "items", 0]
    del widget["status"]
    assert widget["spec", "items"] == []
    assert "status" not in widget


@pytest.mark.parametrize(
    ("mistake", "error", "message"),
    [
        (
            lambda obj: obj["spec", "sise"],
            MissingField,
            "Widget ns/a: spec has no sise; it has: size, off, none, empty, ",
        ),
        (lambda obj: obj["sepc"], MissingField, "Widget ns/a has no sepc; it has: spec, data$"),
        (lambda obj: obj["spec", "items", 1], MissingField, r"spec.items has no item 1; it has 1$"),
        (
            lambda obj: obj["spec", "items", "x"],
            TypeError,
            r"spec.items is not a map but \[.*\]: there is no \['x'\] in it",
        ),
        (lambda obj: obj["spec", 0], TypeError, "spec is not a list but {.*: there is no "),
        (lambda obj: obj["spec", "items", 0, "name", "x"], TypeError, r"spec.items\[0\].name is not a map but 'x'"),
        (lambda obj: obj.get("spec", "size", "x"), TypeError, "spec.size is not a map but 0"),
        (lambda obj: obj["metadata", "name"], MissingField, r"give and read it as \.metadata"),
        (lambda obj: obj[()], TypeError, "an empty path names no field"),
        (lambda obj: obj.__setitem__("metadata", {}), TypeError, r"metadata of Widget ns/a can't be set .*\.metadata"),
        (lambda obj: obj.__setitem__("kind", "X"), TypeError, "it belongs to the class"),
        (lambda obj: obj.__setitem__(("spec", "items", 1), {}), MissingField, "spec.items has no item 1"),
        (lambda obj: obj.__setitem__(("spec", "size", "x"), 1), TypeError, "spec.size is not a map but 0"),
        (lambda obj: obj.__delitem__(("spec", "sise")), MissingField, "spec has no sise"),
        (lambda obj: obj.spec, AttributeError, r"a kind without a class, .* such as obj\['spec'\]"),
        (
            lambda _: Widget(content={"metadata": {}}),
            ValueError,
            r"metadata is not part of .* content: give and read it as",
        ),
        (lambda _: decode(b'{"metadata":{"name":1}}', Widget), DecodeError, r"not a Widget: .* at `\$.metadata.name`"),
        (lambda _: decode(b"[]", Widget), DecodeError, "not a Widget: Expected `object`, got `list`"),
        (lambda _: decode(b"{", Widget), DecodeError, "not a Widget"),
        (lambda _: convert({"metadata": 1}, Widget), DecodeError, "not a Widget"),
        (lambda _: Widget(metadata=ObjectMeta()).name, ValueError, "this Widget has no metadata.name yet"),
        (lambda _: resource_info(Unstructured), TypeError, r"use what unstructured\(\) gives"),
        (
            lambda _: unstructured("example.com/v1", "Widget", plural="Widgets"),
            ValueError,
            "plural of Widget is 'Widgets'",
        ),
        (lambda _: unstructured("Example/v1", "Widget", plural="widgets"), ValueError, "group of Widget is 'Example'"),
    ],
)
def test_a_mistake_is_told_with_object_and_path(
    widget: Unstructured, mistake: Callable[[Unstructured], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as raised:
        mistake(widget)
    assert not str(raised.value).startswith(("'", '"'))
