"""Definitions of kinds with one version and with several."""

from typing import Any

import pytest

from kubewright.api import Column, Model, Resource, Scale, resource
from kubewright.crd import definition
from kubewright.schema.crd_definition import completed_definition, definition_errors


class Spec(Model):
    size: int


@resource("example.com/v1")
class Thing(Resource):
    spec: Spec


@resource("example.com/v1beta1", kind="Thing")
class OldThing(Resource):
    spec: Spec


@resource("example.com/v1beta1", kind="Thing", scope="Cluster")
class WideThing(Resource):
    spec: Spec


@resource("example.com/v1")
class Mark(Resource):
    """That it exists says all."""


@resource("v1")
class Grouped(Resource):
    spec: Spec


@resource("example.com/v1", columns=[Column("Size", "spec.size", type="integer")])
class BadColumn(Resource):
    spec: Spec


@resource("example.com/v1", scale=Scale(spec=".status.size", status=".status.size"))
class BadScale(Resource):
    spec: Spec


COLUMN = Column("Size", ".spec.size", type="integer", description="How big", format="int32", priority=1)


@resource("example.com/v1", scope="Cluster", columns=[COLUMN])
class Printed(Resource):
    spec: Spec


def the_version(crd: dict[str, Any]) -> dict[str, Any]:
    version: dict[str, Any] = crd["spec"]["versions"][0]
    return version


def test_a_kind_without_status_has_no_subresources() -> None:
    assert "subresources" not in the_version(definition(Thing))


def test_columns_are_written_with_everything_they_say() -> None:
    version = the_version(definition(Printed))
    assert version["additionalPrinterColumns"] == [
        {
            "name": "Size",
            "type": "integer",
            "jsonPath": ".spec.size",
            "description": "How big",
            "format": "int32",
            "priority": 1,
        }
    ]
    assert version["subresources"] == {}
    assert definition(Printed)["spec"]["scope"] == "Cluster"


def test_versions_are_sorted_and_one_is_stored() -> None:
    crd = definition(OldThing, Thing, storage=Thing)
    assert [(each["name"], each["storage"]) for each in crd["spec"]["versions"]] == [("v1", True), ("v1beta1", False)]


def test_a_kind_without_fields_of_its_own_has_a_definition() -> None:
    schema = the_version(definition(Mark))["schema"]["openAPIV3Schema"]
    assert sorted(schema["properties"]) == ["apiVersion", "kind", "metadata"]


@pytest.mark.parametrize(
    "kinds", [(Thing,), (Printed,), (Mark,), (OldThing, Thing)], ids=["spec", "columns", "nothing", "versions"]
)
def test_the_server_accepts_what_is_made(kinds: tuple[type[Resource], ...]) -> None:
    assert definition_errors(completed_definition(definition(*kinds, storage=kinds[-1]))) == []


@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ((), "a definition needs the class of at least one version"),
        ((Thing, OldThing), "Thing has the versions v1, v1beta1: say which is the storage version"),
        ((Grouped,), "Grouped has no group: custom resources need one, such as apps.example.com"),
        ((BadColumn,), "BadColumn: the path of column 'Size' is 'spec.size'; it starts with a dot"),
        ((BadScale,), "BadScale: Scale(spec='.status.size') is a path below .spec."),
    ],
)
def test_contradictions_are_refused(versions: tuple[type[Resource], ...], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        definition(*versions)
    assert str(caught.value) == message


def test_classes_of_different_kinds_make_no_definition() -> None:
    with pytest.raises(ValueError, match="WideThing and Thing are not versions of one kind"):
        definition(Thing, WideThing, storage=Thing)
