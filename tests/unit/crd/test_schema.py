"""Which fields are required, what is described, and which types are refused."""

from typing import Annotated, Any, Literal

import pytest

from kubewright.api import JSON, Int32, LabelSelector, Model, Resource, field, resource
from kubewright.api.markers import (
    Default,
    Description,
    ListMap,
    Maximum,
    Minimum,
    MinLength,
    Optional,
    Pattern,
    Required,
)
from kubewright.crd import SchemaError, schema_of


class Inner(Model):
    """What is inside.

    It has a second paragraph.
    """

    name: str


class Undescribed(Inner):
    size: int


class Fields(Model):
    plain: str
    absent: str | None = None
    nothing_said: str | None
    constant: Int32 = 3
    made: list[str] = field(default_factory=list)
    marked_default: Annotated[str, Default("x")] = "x"
    marked_optional: Annotated[str, Optional()]
    marked_required: Annotated[Int32, Required()] = 5
    kept_in_: str


@resource("example.com/v1")
class Thing(Resource):
    spec: Inner
    data: Annotated[Inner, Required()]
    status: Inner | None = None


class Tree(Model):
    children: list["Tree"]


class Misplaced(Model):
    name: Annotated[str, Minimum(1)]


class Mixed(Model):
    value: int | list[str]


class MixedLiteral(Model):
    value: Literal["a", 1]


class Keyed(Model):
    value: dict[int, str]


class Uncalled(Model):
    value: Annotated[int, Minimum]


class Embedding(Model):
    value: Thing


class Unknown(Model):
    value: set[str]


def properties(model: type[Model]) -> dict[str, Any]:
    result: dict[str, Any] = schema_of(model)["properties"]
    return result


def test_a_field_is_required_unless_it_may_be_absent_or_the_server_fills_it_in() -> None:
    assert schema_of(Fields)["required"] == ["keptIn", "markedRequired", "plain"]


def test_constant_defaults_are_the_server_s_defaults() -> None:
    defaults = {name: schema["default"] for name, schema in properties(Fields).items() if "default" in schema}
    assert defaults == {"constant": 3, "markedDefault": "x", "markedRequired": 5}


def test_a_resource_s_fields_are_optional_unless_marked() -> None:
    schema = schema_of(Thing)
    assert schema["required"] == ["data"]
    assert schema["properties"]["metadata"] == {"type": "object"}
    assert list(schema["properties"]) == ["apiVersion", "data", "kind", "metadata", "spec", "status"]


def test_a_class_s_own_docstring_describes_it() -> None:
    assert schema_of(Inner)["description"] == "What is inside.\n\nIt has a second paragraph."
    assert "description" not in schema_of(Undescribed)


def test_a_field_s_own_description_goes_before_that_of_its_model() -> None:
    class Used(Model):
        plain: Annotated[str, Description("Plain text."), MinLength(1)]
        inner: Annotated[Inner, Description("This one.")]
        other: Inner

    descriptions = {name: schema["description"] for name, schema in properties(Used).items()}
    assert descriptions == {
        "plain": "Plain text.",
        "inner": "This one.",
        "other": "What is inside.\n\nIt has a second paragraph.",
    }


def test_inherited_fields_belong_to_the_schema() -> None:
    assert schema_of(Undescribed)["required"] == ["name", "size"]


def test_limits_of_a_type_and_of_its_use_both_hold() -> None:
    class Used(Model):
        name: Annotated[Annotated[str, Pattern("^a"), MinLength(1)], Pattern("b$"), MinLength(1)]

    assert properties(Used)["name"] == {
        "type": "string",
        "minLength": 1,
        "allOf": [{"pattern": "^a"}, {"pattern": "b$"}],
    }


def test_markers_may_hold_lists_maps_and_models_wherever_they_stand() -> None:
    class Used(Model):
        one: Annotated[Inner, Default({"name": "x"})] | None = None
        each: list[Annotated[list[str], Default(["y"])]]
        model: Annotated[Inner, Default(Inner(name="z"))]
        constant: Inner = Inner(name="w")

    made = properties(Used)
    assert made["one"]["default"] == {"name": "x"}
    assert made["each"]["items"]["default"] == ["y"]
    assert made["model"]["default"] == {"name": "z"}
    assert made["constant"]["default"] == {"name": "w"}


def test_types_of_kubernetes_own_can_be_used() -> None:
    class Used(Model):
        selector: LabelSelector
        ports: Annotated[list[Inner], ListMap("name")]
        anything: JSON

    made = properties(Used)
    assert made["selector"]["properties"]["matchLabels"] == {
        "type": "object",
        "additionalProperties": {"type": "string"},
    }
    assert made["ports"]["x-kubernetes-list-map-keys"] == ["name"]
    assert made["anything"] == {"x-kubernetes-preserve-unknown-fields": True}


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Tree, "Tree contains itself, which the schema of a CRD can't say: declare the inner field as JSON"),
        (Misplaced, "Misplaced.name: Minimum is for values of type integer or number, not for string"),
        (Mixed, "Mixed.value: a field has one type, not int | list[str]; use IntOrString, or JSON for anything"),
        (MixedLiteral, "MixedLiteral.value: the members of a Literal are all strings, all integers or all booleans"),
        (Uncalled, "Uncalled.value: Minimum is a marker's class: write Minimum(…)"),
        (Keyed, "Keyed.value: the keys of a JSON object are strings, not int"),
        (Embedding, "Embedding.value: Thing is a kind of its own: refer to the object by its name"),
        (Unknown, "Unknown.value: no schema for set[str]; use Model, list, dict[str, …], Literal or a scalar"),
    ],
)
def test_what_no_schema_can_say_is_refused_with_class_and_field(model: type[Model], message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        schema_of(model)
    assert str(caught.value) == message


def test_a_name_that_is_not_defined_is_refused_with_class_and_field() -> None:
    class Broken(Model):
        value: "Nowhere"  # type: ignore[name-defined]  # noqa: F821 - the point of the test

    with pytest.raises(TypeError, match=r"Broken\.value: the name 'Nowhere' is not defined"):
        schema_of(Broken)


def test_limits_keep_their_type() -> None:
    class Limited(Model):
        whole: Annotated[int, Maximum(10)]
        part: Annotated[float, Maximum(0.5)]

    assert properties(Limited)["whole"]["maximum"] == 10
    assert properties(Limited)["part"] == {"type": "number", "maximum": 0.5}


def test_a_kind_may_have_no_field_of_its_own() -> None:
    @resource("example.com/v1")
    class Mark(Resource):
        """That it exists says all."""

    assert set(properties(Mark)) == {"apiVersion", "kind", "metadata"}
