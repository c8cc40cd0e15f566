"""A class that can't be worked with is refused when it is registered, before anything starts."""

# no future annotations: those of local classes would not resolve
from typing import Annotated, Any

import pytest

from kubewright import Context, Model, Operator, Resource, Watch, resource
from kubewright.api import unstructured
from kubewright.api.markers import Maximum, Minimum
from kubewright.controller import owner_label
from kubewright.crd import SchemaError, definition
from kubewright.kinds import apps_v1


class Misplaced(Model):
    size: Annotated[str, Minimum(3)]


class Sets(Model):
    names: set[str]


class Beyond(Model):
    size: Annotated[int, Maximum(5)] = 9


class Undefined(Model):
    other: "Nowhere"  # type: ignore[name-defined]  # noqa: F821 - what is tested


class Either(Model):
    what: Sets | Beyond


@resource("example.com/v1")
class WithMisplaced(Resource):
    spec: Misplaced


@resource("example.com/v1")
class WithSets(Resource):
    spec: Sets


@resource("example.com/v1")
class WithBeyond(Resource):
    spec: Beyond


@resource("example.com/v1")
class WithUndefined(Resource):
    spec: Undefined


@resource("example.com/v1")
class WithEither(Resource):
    spec: list[Either]


@resource("example.com/v1")
class Sound(Resource): ...


@resource("v1")
class Alone(Resource): ...


@resource("myco/v1")
class Undotted(Resource): ...


@resource("apps/v1beta1", kind="Deployment")
class OurDeployment(Resource): ...


@resource("gateway.networking.k8s.io/v1")
class HTTPRoute(Resource): ...


async def nothing(thing: Resource, ctx: Context) -> None: ...


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        (WithMisplaced, SchemaError, r"^Misplaced\.size: Minimum is for values of type integer or number, not for string$"),
        (WithSets, SchemaError, r"^Sets\.names: no schema for set\[str\]; use Model, list, dict"),
        (WithBeyond, SchemaError, r"^Beyond\.size: default: .*; give it a default that its type and markers allow"),
        (WithUndefined, TypeError, r"^Undefined\.other: the name 'Nowhere' is not defined in its module$"),
        (WithEither, SchemaError, r"^Either\.what: a field has one type, not Sets \| Beyond"),
    ],
)  # fmt: skip
def test_a_class_without_a_definition_is_refused_as_the_definition_is(
    kind: type[Resource], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as told:
        Operator("things").controller(kind)
    with pytest.raises(error) as refused:
        definition(kind)
    assert str(told.value) == str(refused.value)


@pytest.mark.parametrize(
    "options",
    [
        {"owns": [WithUndefined]},
        {"reads": [WithUndefined]},
        {"prune": [WithUndefined]},
        {"watches": [Watch(WithUndefined, to=owner_label("x"))]},
    ],
    ids=lambda options: next(iter(options)),
)
def test_names_in_other_kinds_are_looked_up_too(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"^Undefined\.other: the name 'Nowhere' is not defined"):
        Operator("things").controller(Sound, **options)


def test_what_no_object_can_be_decoded_to_is_refused_by_its_field() -> None:
    with pytest.raises(TypeError, match=r"^Either\.what: If a type union contains multiple Struct types"):
        Operator("things").controller(Sound, owns=[WithEither])


def test_of_somebody_elses_kind_a_class_may_say_what_no_schema_can() -> None:
    Operator("things").controller(Sound, owns=[WithSets], reads=[WithBeyond])(nothing)


@pytest.mark.parametrize(("kind", "has"), [(Alone, "no group"), (Undotted, "the group 'myco', which has no dot")])
def test_a_kind_that_can_have_no_definition_is_refused(kind: type[Resource], has: str) -> None:
    message = rf'^{kind.__name__} has {has}, and Kubernetes brings no {kind.__name__} there: .*@resource\("apps\.exam'
    with pytest.raises(ValueError, match=message):
        Operator("things").controller(kind)
    with pytest.raises(ValueError, match=message):
        Operator("things").controller(Sound, owns=[kind])
    with pytest.raises(ValueError, match=message):
        Operator("things").finalizer(kind, name="example.com/x")


def test_classes_of_what_others_define_are_taken() -> None:
    operator = Operator("things")
    for kind in (OurDeployment, HTTPRoute, apps_v1.Deployment, unstructured("myco/v1", "Whatever", plural="whatevers")):
        operator.controller(kind, name=kind.__name__.lower())(nothing)
    assert operator.custom_kinds == []
