"""Database, version v1alpha1. The types are the schema: the CustomResourceDefinition is made from them."""

from __future__ import annotations

from typing import Annotated, Literal

from kubewright import Column, Condition, Int32, Model, Resource, Scale, field, resource
from kubewright.api.markers import ListMap, Maximum, Minimum, Pattern

Engine = Literal["postgres", "mysql", "mariadb"]


class Storage(Model):
    """The volume of each replica."""

    size: Annotated[str, Pattern(r"^[0-9]+[KMGT]i$")]
    storage_class_name: str | None = None


class DatabaseSpec(Model):
    """What is wanted."""

    replicas: Annotated[Int32, Minimum(1), Maximum(10)]
    engine: Engine
    version: str
    storage: Storage


class DatabaseStatus(Model):
    """What was observed. The phase is Pending, Running or Failed."""

    phase: str | None = None
    ready_replicas: Int32 | None = None
    conditions: Annotated[list[Condition], ListMap("type")] = field(default_factory=list)


@resource(
    "apps.example.com/v1alpha1",
    short_names=["db"],
    scale=Scale(spec=".spec.replicas", status=".status.readyReplicas", selector=".status.selector"),
    columns=[
        Column("Engine", ".spec.engine"),
        Column("Replicas", ".spec.replicas", type="integer"),
        Column("Ready", ".status.readyReplicas", type="integer"),
        Column("Phase", ".status.phase"),
        Column("Age", ".metadata.creationTimestamp", type="date"),
    ],
)
class Database(Resource):
    """One database: an engine, its version, and how many replicas serve it."""

    spec: DatabaseSpec
    status: DatabaseStatus = field(default_factory=DatabaseStatus)
