from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import pytest

from kubewright.api import (
    Condition,
    DecodeError,
    Int32,
    Model,
    Resource,
    convert,
    declared_types,
    decode,
    encode,
    field,
    resource,
    resource_info,
    split_list,
    to_dict,
)
from kubewright.api.markers import ListMap, Maximum, Minimum, Pattern


class Volume(Model):
    size: Annotated[str, Pattern(r"^[0-9]+Gi$")]
    storage_class_name: str | None = None


class WidgetSpec(Model):
    replicas: Annotated[Int32, Minimum(1), Maximum(10)]
    colour: Literal["red", "green"] = "red"
    paused: bool = False
    tags: list[str]
    notes: dict[str, str] = field(default_factory=dict)
    volume: Volume | None = None
    cluster_ip: str | None = field(default=None, name="clusterIP")


class WidgetStatus(Model):
    ready_replicas: int | None = None
    conditions: Annotated[list[Condition], ListMap("type")] = field(default_factory=list)


@resource("example.com/v1", short_names=["wd"])
class Widget(Resource):
    spec: WidgetSpec
    status: WidgetStatus = field(default_factory=WidgetStatus)


class Tree(Model):
    children: list[Tree] = field(default_factory=list)


def test_none_is_absent_and_every_other_value_is_written() -> None:
    spec = WidgetSpec(replicas=0, tags=[])
    assert msgspec.json.decode(encode(spec)) == {
        "replicas": 0,
        "colour": "red",
        "paused": False,
        "tags": [],
        "notes": {},
    }


def test_a_default_container_is_not_shared_between_objects() -> None:
    first, second = WidgetSpec(replicas=1, tags=[]), WidgetSpec(replicas=1, tags=[])
    first.notes["a"] = "b"
    assert second.notes == {}


def test_an_explicit_wire_name_wins_over_the_derived_one() -> None:
    spec = convert({"replicas": 1, "tags": [], "clusterIP": "10.0.0.1"}, WidgetSpec)
    assert spec.cluster_ip == "10.0.0.1"
    assert to_dict(spec)["clusterIP"] == "10.0.0.1"


def test_a_resource_is_written_with_its_api_version_and_kind_first() -> None:
    widget = decode(b'{"metadata":{"name":"a"},"spec":{"replicas":1,"tags":[]}}', Widget)
    assert encode(widget).startswith(b'{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}')
    assert list(to_dict(widget))[:2] == ["apiVersion", "kind"]


def test_constraints_never_make_an_object_undecodable() -> None:
    widget = decode(b'{"spec":{"replicas":99,"colour":"mauve","tags":[],"volume":{"size":"1"}}}', Widget)
    assert (widget.spec.replicas, widget.spec.colour) == (99, "mauve")


def test_null_lists_and_maps_decode_as_empty_ones() -> None:
    widget = decode(b'{"spec":{"replicas":1,"tags":null,"notes":null},"status":{"conditions":null}}', Widget)
    assert (widget.spec.tags, widget.spec.notes, widget.status.conditions) == ([], {}, [])


def test_unknown_fields_are_ignored() -> None:
    assert decode(b'{"spec":{"replicas":1,"tags":[],"new":{"x":1}},"other":2}', Widget).spec.replicas == 1


def test_a_decode_error_names_the_class_and_the_path() -> None:
    with pytest.raises(DecodeError, match=r"not a Widget: Expected `int`, got `str` - at `\$\.spec\.replicas`"):
        decode(b'{"spec":{"replicas":"many","tags":[]}}', Widget)


def test_a_model_may_refer_to_itself() -> None:
    tree = decode(b'{"children":[{"children":null},{}]}', Tree)
    assert [child.children for child in tree.children] == [[], []]


def test_an_unresolved_name_in_an_annotation_is_reported_with_class_and_field() -> None:
    class Broken(Model):
        part: Missing  # type: ignore[name-defined]  # noqa: F821 - what is tested

    with pytest.raises(TypeError, match=r"Broken\.part: the name 'Missing' is not defined"):
        declared_types(Broken)


def test_declared_types_keep_markers_after_decoding() -> None:
    decode(b'{"replicas":1,"tags":[]}', WidgetSpec)
    assert Minimum(1) in declared_types(WidgetSpec)["replicas"].__metadata__


def test_fields_are_keyword_only_in_subclasses_too() -> None:
    with pytest.raises(TypeError):
        Volume("1Gi")  # type: ignore[call-arg]  # what is tested


def test_a_class_without_the_decorator_is_no_resource() -> None:
    class Plain(Resource):
        pass

    with pytest.raises(TypeError, match="Plain is no resource: decorate it"):
        resource_info(Plain)
    with pytest.raises(TypeError, match="'ConfigMap' is no resource: decorate it"):
        resource_info("ConfigMap")  # type: ignore[arg-type]  # what is tested


def test_a_subclass_does_not_pass_for_its_parents_kind() -> None:
    class Special(Widget):
        pass

    with pytest.raises(TypeError, match="Special is no resource"):
        resource_info(Special)


def test_a_decorator_without_its_arguments_says_so() -> None:
    with pytest.raises(
        TypeError, match=r'@resource of Bare lacks its arguments: write @resource\("group.example.com/v1"\)'
    ):

        @resource  # type: ignore[arg-type]  # what is tested
        class Bare(Resource):
            pass


@pytest.mark.parametrize("argument", ["short_names", "categories"])
def test_one_name_where_there_may_be_several_is_no_list_of_letters(argument: str) -> None:
    names: dict[str, Any] = {argument: "db"}
    with pytest.raises(TypeError, match=rf"{argument} is 'db': give a list, such as \[\"db\"\]"):
        resource("example.com/v1", **names)


def test_the_decorator_derives_names() -> None:
    info = resource_info(Widget)
    assert (info.plural, info.singular, info.api_version, info.qualified_plural) == (
        "widgets",
        "widget",
        "example.com/v1",
        "widgets.example.com",
    )
    assert info.has_status
    assert info.custom


def test_a_group_that_the_server_would_refuse_is_refused() -> None:
    with pytest.raises(ValueError, match="the group of Odd is 'Example.com'"):

        @resource("Example.com/v1")
        class Odd(Resource):
            pass


def test_a_list_is_split_into_items_of_their_own() -> None:
    metadata, items = split_list(b'{"metadata":{"resourceVersion":"7","continue":"x"},"items":[{"a":1},{"b":2}]}')
    assert (metadata.resource_version, metadata.continue_) == ("7", "x")
    assert items == [b'{"a":1}', b'{"b":2}']


def test_a_list_without_items_is_empty() -> None:
    assert split_list(b'{"metadata":{},"items":null}')[1] == []
