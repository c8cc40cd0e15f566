"""Types and markers, field by field as controller-gen renders the same in Go."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from kubewright.api import JSON, Int32, Int64, IntOrString, MicroTime, Model, ObjectMeta, Quantity, Time, field
from kubewright.api.markers import (
    Default,
    Enum,
    Example,
    ExclusiveMaximum,
    ExclusiveMinimum,
    Format,
    ListSet,
    Maximum,
    MaxItems,
    MaxLength,
    MaxProperties,
    Minimum,
    MinItems,
    MinLength,
    MinProperties,
    MultipleOf,
    Nullable,
    Optional,
    Pattern,
    PreserveUnknownFields,
    Title,
    UniqueItems,
)
from kubewright.crd import schema_of

DATA = Path(__file__).parent / "data"


class Pair(Model):
    key: str
    value: str | None = None


class Arrays(Model):
    combined: Annotated[
        list[Annotated[str, MinLength(1), MaxLength(253), Pattern("^[a-z0-9.-]+$")]],
        MinItems(1),
        MaxItems(16),
        ListSet(),
    ]
    fixed: list[str]
    items_enum: list[Literal["red", "green", "blue"]]
    items_exclusive_maximum: list[Annotated[Int32, Maximum(100), ExclusiveMaximum()]]
    items_exclusive_minimum: list[Annotated[Int32, Minimum(1), ExclusiveMinimum()]]
    items_format: list[Annotated[str, Format("ipv4")]]
    items_int_or_string: list[Annotated[IntOrString, Pattern(r"^\d+%?$")]]
    items_max_items: list[Annotated[list[str], MaxItems(4)]]
    items_max_length: list[Annotated[str, MaxLength(9)]]
    items_max_properties: list[Annotated[dict[str, str], MaxProperties(3)]]
    items_multiple_of: list[Annotated[Int64, MultipleOf(2)]]
    items_unique_items: list[Annotated[list[str], UniqueItems()]]
    nested: list[list[Pair]]
    pointers: list[Pair]
    structs: list[Pair]
    unique_items: Annotated[list[str], UniqueItems()]
    unique_items_false: Annotated[list[str], UniqueItems(False)]


class Nested(Model):
    name: str
    count: Int32 = 7
    flag: bool | None = None
    pair: Pair | None = None


class Defaults(Model):
    bool_false: Annotated[bool, Default(False)]
    bool_true: bool = True
    duration: str = "5m"
    int_: Int32 = field(default=3, name="int")
    int_big: Int64 = 9007199254740993
    int_negative: Int32 = -3
    int_or_string: IntOrString = "10%"
    int_zero: Int32 = 0
    kube_list: Annotated[list[str], Default(["a", "b"])]
    kube_struct: Annotated[Pair, Default({"key": "a", "value": "b"})]
    list_empty: Annotated[list[str], Default([])]
    list_lists: Annotated[list[list[Int32]], Default([[1, 2], [3]])]
    list_structs: Annotated[list[Pair], Default([{"key": "a", "value": "b"}, {"key": "c"}])]
    map_empty: Annotated[dict[str, str], Default({})]
    named_string: Literal["Red", "Green", "Blue"] = "Red"
    quantity: Quantity = "1Gi"
    string_empty: str = ""
    struct_nested: Annotated[Nested, Default({"name": "n", "count": 2, "flag": True, "pair": {"key": "k"}})]


class Generals(Model):
    enum_bool: Annotated[bool, Enum(True)]
    enum_twice: Annotated[str, Enum("a", "b"), Enum("c")]
    example_int: Annotated[Int32, Example(5)]
    example_list: Annotated[list[Int32], Example([8080, 8443])]
    example_struct: Annotated[Pair, Example({"key": "a", "value": "b"})]
    nullable: Annotated[str, Nullable()]
    nullable_optional: Annotated[Pair, Nullable()] | None = None
    pruning_preserve_unknown_fields: Annotated[Pair, PreserveUnknownFields()]
    schemaless: JSON
    schemaless_typed: Annotated[dict[str, JSON], PreserveUnknownFields()]
    title: Annotated[Int32, Title("Replica Count")]
    x_int_or_string: IntOrString
    x_int_or_string_enum: Annotated[IntOrString, Enum(1, "50%")]
    x_preserve_unknown_fields: Annotated[dict[str, str], PreserveUnknownFields()]


class Gvk(Model):
    group: str
    version: str
    kind: str


class Stamped(Model):
    at: Time


class GoTypes(Model):
    bool_: bool = field(name="bool")
    bytes_: bytes = field(name="bytes")
    bytes_list: list[bytes]
    duration: str
    gvk: Gvk
    int_: int = field(name="int")
    int32: Int32
    int32_ptr: Int32 | None = None
    int64: Int64
    int_or_string: IntOrString
    int_or_strings: list[int | str]
    json: JSON
    json_map: dict[str, JSON]
    jsons: list[JSON]
    map_strings: dict[str, str]
    micro_time: MicroTime
    object_meta: ObjectMeta
    quantities: dict[str, Quantity]
    quantity: Quantity
    size: Annotated[Quantity, Pattern("^1")]
    text: Annotated[str, MaxLength(10)]
    time: Time
    time_described: Stamped


class Numbers(Model):
    enum_ints: Annotated[Int32, Enum(1, 2, 3)]
    exclusive_maximum: Annotated[Int32, Maximum(10), ExclusiveMaximum()]
    exclusive_minimum: Annotated[Int32, Minimum(0), ExclusiveMinimum()]
    exclusive_minimum_false: Annotated[Int32, Minimum(0), ExclusiveMinimum(False)]
    format_override: Annotated[Int32, Format("int64")]
    maximum: Annotated[Int32, Maximum(100)]
    maximum_huge: Annotated[Int64, Maximum(1e23)]
    maximum_million: Annotated[Int64, Maximum(1000000)]
    minimum_negative: Annotated[Int64, Minimum(-5)]
    multiple_of: Annotated[Int32, MultipleOf(5)]


class Empty(Model):
    pass


class Objects(Model):
    empty: Empty
    map_named_value: dict[str, Literal["Red", "Green", "Blue"]]
    map_of_bytes: dict[str, bytes]
    map_of_lists: dict[str, list[str]]
    map_of_maps: dict[str, dict[str, Int32]]
    map_of_structs: dict[str, Pair]
    max_properties: Annotated[dict[str, str], MaxProperties(10)]
    min_properties: Annotated[dict[str, str], MinProperties(1)]
    pointer_not_described: Annotated[Pair, Optional()]
    struct_described: Pair


class Strings(Model):
    combined: Annotated[str, MinLength(2), MaxLength(5), Pattern("^x"), Format("hostname")]
    enum_bare: Literal["One", "Two", "Three"]
    enum_quoted: Literal["with space", "semi;colon", 'back"tick']
    enum_quoted_scalars: Literal["true", "1", "1.5", ""]
    format_date_time: Annotated[str, Format("date-time")]
    max_length: Annotated[str, MaxLength(64)]
    min_length_zero: Annotated[str, MinLength(0)]
    pattern_quoted: Annotated[str, Pattern(r"^(\d+|\d+%)$")]
    pointer: Annotated[str, MaxLength(8)] | None = None


TOPICS = [Arrays, Defaults, Generals, GoTypes, Numbers, Objects, Strings]


def without_descriptions(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_descriptions(item) for key, item in value.items() if key != "description"}
    return [without_descriptions(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("model", TOPICS)
def test_fields_have_the_schema_that_controller_gen_gives_them(model: type[Model]) -> None:
    expected = json.loads((DATA / f"{model.__name__.lower()}.json").read_text())
    schema = without_descriptions(schema_of(model))
    for name, made in schema["properties"].items():
        assert made == expected[name], name
