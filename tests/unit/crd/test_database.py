"""The first example's kind, equal to what controller-gen makes of the same Go types."""

import copy
import json
from pathlib import Path
from typing import Annotated, Any, Literal

from database_operator.api import v1alpha1 as example

from kubewright.api import Column, Condition, Int32, Model, Resource, Scale, field, resource
from kubewright.api.markers import ListMap, Maximum, Minimum, Pattern
from kubewright.crd import definition

DATA = Path(__file__).parent / "data"


class Storage(Model):
    size: Annotated[str, Pattern(r"^[0-9]+[KMGT]i$")]
    storage_class_name: str | None = None


class DatabaseSpec(Model):
    replicas: Annotated[Int32, Minimum(1), Maximum(10)]
    engine: Literal["postgres", "mysql", "mariadb"]
    version: str
    storage: Storage


class DatabaseStatus(Model):
    phase: str | None = None
    ready_replicas: Int32 | None = None
    conditions: Annotated[list[Condition], ListMap("type")] = field(default_factory=list)


COLUMNS = [
    Column("Engine", ".spec.engine"),
    Column("Replicas", ".spec.replicas", type="integer"),
    Column("Ready", ".status.readyReplicas", type="integer"),
    Column("Phase", ".status.phase"),
    Column("Age", ".metadata.creationTimestamp", type="date"),
]


@resource("apps.example.com/v1alpha1", columns=COLUMNS)
class Database(Resource):
    spec: DatabaseSpec
    status: DatabaseStatus = field(default_factory=DatabaseStatus)


SCALE = Scale(spec=".spec.replicas", status=".status.readyReplicas", selector=".status.selector")


class ScalableStatus(DatabaseStatus):
    selector: str | None = None


@resource(
    "apps.example.com/v1alpha1", kind="Database", short_names=["db"], categories=["all"], columns=COLUMNS, scale=SCALE
)
class ScalableDatabase(Resource):
    spec: DatabaseSpec
    status: ScalableStatus = field(default_factory=ScalableStatus)


def expected(name: str) -> Any:
    return json.loads((DATA / f"{name}.json").read_text())


def without_descriptions(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: without_descriptions(item)
            for key, item in value.items()
            if key != "description" or not isinstance(item, str)
        }
    return [without_descriptions(item) for item in value] if isinstance(value, list) else value


def test_the_database_is_what_controller_gen_makes_of_the_same_go_types() -> None:
    assert without_descriptions(definition(Database)) == expected("database")


def test_short_name_category_and_scale_are_as_controller_gen_writes_them() -> None:
    wanted = expected("database-scale")
    made = without_descriptions(definition(ScalableDatabase))

    assert made["metadata"] == wanted["metadata"]
    assert made["spec"]["names"] == wanted["spec"]["names"]
    assert made["spec"]["versions"][0]["subresources"] == wanted["spec"]["versions"][0]["subresources"]
    columns = "additionalPrinterColumns"
    assert made["spec"]["versions"][0][columns] == wanted["spec"]["versions"][0][columns]
    status = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]
    assert status == wanted["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]


def test_the_examples_own_definition_is_that_of_the_reference() -> None:
    plain, scale = expected("database"), expected("database-scale")
    plain["spec"]["names"]["shortNames"] = scale["spec"]["names"]["shortNames"]
    plain["spec"]["versions"][0]["subresources"] = scale["spec"]["versions"][0]["subresources"]
    assert without_descriptions(definition(example.Database)) == plain


def test_keys_come_in_the_order_of_the_reference() -> None:
    made = definition(Database)
    assert json.dumps(without_descriptions(made)) == json.dumps(expected("database"))


def test_making_a_definition_twice_gives_equal_and_independent_results() -> None:
    first = definition(Database)
    kept = copy.deepcopy(first)
    first["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"].clear()
    assert definition(Database) == kept
