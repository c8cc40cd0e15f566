"""What a server would refuse in a definition is refused where it is made, by class and field and with the remedy."""

# no future annotations: the fields' types are the tests' parameters
import re
from typing import Annotated, Any, Literal

import pytest

from kubewright.api import Int32, Model, Resource, field, resource
from kubewright.api.markers import (
    Default,
    Enum,
    Example,
    Format,
    ListMap,
    ListSet,
    Maximum,
    MaxItems,
    Minimum,
    MinLength,
    MultipleOf,
    Pattern,
    UniqueItems,
)
from kubewright.crd import SchemaError, definition


class Item(Model):
    name: str = "x"
    size: Annotated[int, Minimum(3)] = 1


class Named(Model):
    name: str


def kind_with(hint: Any, default: Any = ...) -> type[Resource]:
    class Spec(Model):
        some_field: hint = field() if default is ... else default

    @resource("example.com/v1")
    class Thing(Resource):
        spec: Spec

    return Thing


@pytest.mark.parametrize(
    ("hint", "default", "message"),
    [
        (Annotated[int, Maximum(5)], 9, r"some_field: default: .*9: it should be less than or equal to 5; give it a def"),
        (Literal["a", "b"], "c", r'some_field: default: .*"c".* "a", "b"; give it a default that its type'),
        (Annotated[str, Enum("a")], "b", r"some_field: default: "),
        (Annotated[list[str], MaxItems(1)], ["a", "b"], r"some_field: default: .*at most 1 item"),
        (Annotated[str, Format("date")], "today", r"some_field: default: "),
        (str, 5, r"some_field: default: .*must be of type string"),
        (int, True, r"some_field: default: .*must be of type integer"),
        (Int32, 2**31, r"some_field: default: .*format int32"),
        (Annotated[str, Default(3)], ..., r"some_field: default: .*must be of type string"),
        (float, 1e400, r"some_field: inf is no number in JSON: take a finite one"),
        (dict[str, float], {"a": float("nan")}, r"some_field: nan is no number in JSON"),
        (int, 2**70, r"some_field: 1180591620717411303424 has more than the 64 bits"),
        (Literal[2**70], ..., r"some_field: 1180591620717411303424 has more than the 64 bits"),
        (Annotated[Any, Example({"a": [float("inf")]})], ..., r"some_field: inf is no number in JSON"),
        (Annotated[int, Maximum(float("inf"))], ..., r"some_field: inf is no number in JSON"),
        (Annotated[int, Minimum(10**400)], ..., r"some_field: 10+ is no number in JSON"),
        (Annotated[int, Minimum("3")], ..., r"some_field: Minimum\('3'\): give a number"),  # type: ignore[arg-type]
        (Annotated[int, MultipleOf(0)], ..., r"some_field: MultipleOf\(0\): give a number above 0"),
        (Annotated[str, MinLength(-1)], ..., r"some_field: MinLength\(-1\): give a whole number that is not negative"),
        (Annotated[str, Pattern(3)], ..., r"some_field: Pattern\(3\): give a string"),  # type: ignore[arg-type]
        (Annotated[list[str], UniqueItems("no")], ..., r"some_field: UniqueItems\('no'\): give True or False"),  # type: ignore[arg-type]
        (Annotated[str, Pattern("(")], ..., r"some_field: pattern: .*missing closing \).*; write the pattern in RE2"),
        (list[Annotated[str, Pattern("(?=a)")]], ..., r"some_field: pattern: .*; write the pattern in RE2"),
        (dict[str, Annotated[str, Pattern("[")] | None], ..., r"some_field: pattern: .*; write the pattern in RE2"),
        (Annotated[list[str], UniqueItems()], ..., r"some_field: uniqueItems: .*; say ListSet\(\) instead"),
        (Annotated[list[Named], ListMap("nam")], ..., r"some_field: x-kubernetes-list-map-keys: .*; change the type or"),
        (Annotated[list[Named], ListSet()], ..., r"some_field: x-kubernetes-map-type: .*; change the type or the markers"),
    ],
)  # fmt: skip
def test_a_field_that_no_server_takes_is_refused(hint: Any, default: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=rf"kind_with\.<locals>\.Spec\.{message}"):
        definition(kind_with(hint, default))


@pytest.mark.parametrize("hint", [Item, list[Item], Annotated[list[Item], ListMap("name")]])
def test_a_field_of_a_model_inside_is_named_by_that_model(hint: Any) -> None:
    with pytest.raises(SchemaError, match=r"^Item\.size: default: .*greater than or equal to 3"):
        definition(kind_with(hint))


@pytest.mark.parametrize(
    ("argument", "value"), [("short_names", ["DB"]), ("plural", "Things"), ("categories", ["all of them"])]
)
def test_a_name_that_no_server_takes_is_refused(argument: str, value: Any) -> None:
    options: dict[str, Any] = {argument: value}

    @resource("example.com/v1", **options)
    class Thing(Resource): ...

    with pytest.raises(ValueError, match=r"Thing: spec\.names\..* DNS-1035 label .*; change what @resource says"):
        definition(Thing)


def test_a_group_without_a_dot_is_refused() -> None:
    @resource("example/v1")
    class Thing(Resource): ...

    with pytest.raises(
        ValueError, match=re.escape("Thing has the group 'example', which has no dot: custom resources")
    ):
        definition(Thing)


def test_a_definition_is_the_callers_own() -> None:
    thing = kind_with(str)
    definition(thing)["spec"].clear()
    assert definition(thing)["spec"]["group"] == "example.com"
