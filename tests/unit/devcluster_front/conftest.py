"""A tiny catalog: one built-in kind, one custom kind in two versions."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kubewright.api import ResourceInfo
from kubewright.devcluster.catalog import Catalog, ServedResource, Subresource
from kubewright.patch.shape import UNTYPED

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
CRUD = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
READ_WRITE = ("get", "patch", "update")


def definition(*gvk: str, **properties: Any) -> dict[str, Any]:
    group, version, kind = gvk
    return {
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string", "enum": [f"{group}/{version}"]},
            "kind": {"type": "string", "enum": [kind]},
            "metadata": {"$ref": f"#/definitions/{META}.ObjectMeta"},
            **properties,
        },
        "x-kubernetes-group-version-kind": [{"group": group, "version": version, "kind": kind}],
    }


DEFINITIONS: dict[str, dict[str, Any]] = {
    "io.k8s.api.apps.v1.StatefulSet": definition(
        "apps", "v1", "StatefulSet", spec={"$ref": "#/definitions/io.k8s.api.apps.v1.StatefulSetSpec"}
    ),
    "io.k8s.api.apps.v1.StatefulSetSpec": {
        "type": "object",
        "required": ["template"],
        "properties": {
            "replicas": {"type": "integer", "format": "int32"},
            "template": {"$ref": "#/definitions/io.k8s.api.core.v1.Container", "description": "What to run."},
            "containers": {
                "type": "array",
                "items": {"$ref": "#/definitions/io.k8s.api.core.v1.Container"},
                "x-kubernetes-patch-merge-key": "name",
                "x-kubernetes-patch-strategy": "merge",
            },
        },
    },
    "io.k8s.api.core.v1.Container": {
        "type": "object",
        "properties": {"port": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString"}},
    },
    "io.k8s.api.core.v1.Unrelated": {"type": "object"},
    "io.k8s.api.autoscaling.v1.Scale": definition("autoscaling", "v1", "Scale"),
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"type": "string", "format": "int-or-string"},
    f"{META}.ObjectMeta": {"type": "object", "properties": {"name": {"type": "string"}}},
    f"{META}.ListMeta": {"type": "object"},
    f"{META}.Status": {"type": "object"},
    f"{META}.DeleteOptions": {"type": "object"},
}


def database(version: str, schema: dict[str, Any], *subresources: Subresource) -> ServedResource:
    return ServedResource(
        info=ResourceInfo(
            group="apps.example.com",
            version=version,
            kind="Database",
            plural="databases",
            singular="database",
            short_names=("db",),
            categories=("all",),
        ),
        verbs=("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"),
        schema=schema,
        shape=UNTYPED,
        strategy=cast("Any", None),
        subresources=subresources,
        selectable_fields=("spec.engine",) if subresources else (),
    )


SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "One database.",
    "properties": {
        "metadata": {"type": "object"},
        "spec": {
            "type": "object",
            "required": ["engine", "version"],
            "properties": {
                "engine": {"type": "string", "enum": ["postgres", "mysql"]},
                "replicas": {"type": "integer", "minimum": 1, "default": 1},
                "version": {"type": "string", "nullable": True, "pattern": "^[0-9]+$"},
                "port": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
                "raw": {"type": "object", "description": "Any.", "x-kubernetes-preserve-unknown-fields": True},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "template": {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {}},
                "open": {"type": "object", "additionalProperties": True},
            },
        },
    },
}


@pytest.fixture
def catalog() -> Catalog:
    statefulset = ServedResource(
        info=ResourceInfo(
            group="apps",
            version="v1",
            kind="StatefulSet",
            plural="statefulsets",
            singular="statefulset",
            short_names=("sts",),
            categories=("all",),
        ),
        verbs=CRUD,
        schema=DEFINITIONS["io.k8s.api.apps.v1.StatefulSet"],
        shape=UNTYPED,
        strategy=cast("Any", None),
        subresources=(
            Subresource("scale", READ_WRITE, "Scale", "autoscaling", "v1"),
            Subresource("status", READ_WRITE, "StatefulSet", "apps", "v1"),
        ),
        definition_name="io.k8s.api.apps.v1.StatefulSet",
    )
    namespace = ServedResource(
        info=ResourceInfo(
            group="", version="v1", kind="Namespace", plural="namespaces", singular="namespace", scope="Cluster"
        ),
        verbs=CRUD,
        schema={"type": "object"},
        shape=UNTYPED,
        strategy=cast("Any", None),
        definition_name="io.k8s.api.core.v1.Namespace",
    )
    built_in = Catalog([statefulset, namespace], definitions=DEFINITIONS)
    status = Subresource("status", READ_WRITE, "Database", "apps.example.com", "v1alpha1")
    scale = Subresource("scale", READ_WRITE, "Scale", "autoscaling", "v1")
    built_in.add(database("v1alpha1", SCHEMA, status, scale))
    built_in.add(database("v1", {"type": "object", "x-kubernetes-preserve-unknown-fields": True}))
    return built_in
