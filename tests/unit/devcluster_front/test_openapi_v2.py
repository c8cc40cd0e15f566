from __future__ import annotations

from typing import Any

import pytest

from kubewright.devcluster import openapi_v2
from kubewright.devcluster.catalog import Catalog


@pytest.fixture
def document(catalog: Catalog) -> dict[str, Any]:
    return openapi_v2.document(catalog, version="1.36")


@pytest.fixture
def spec(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["definitions"]["com.example.apps.v1alpha1.Database"]["properties"]["spec"]
    return found


def test_a_custom_resource_is_named_after_its_reversed_group_and_says_its_kind(document: dict[str, Any]) -> None:
    found = document["definitions"]["com.example.apps.v1alpha1.Database"]
    assert found["description"] == "One database."
    assert found["x-kubernetes-group-version-kind"] == [
        {"group": "apps.example.com", "kind": "Database", "version": "v1alpha1"}
    ]
    assert found["x-kubernetes-selectable-fields"] == [{"fieldPath": "spec.engine"}]
    assert found["properties"]["metadata"]["$ref"] == "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
    assert {"apiVersion", "kind"} <= set(found["properties"])


def test_what_openapi_v2_can_not_say_is_left_out(spec: dict[str, Any]) -> None:
    properties = spec["properties"]
    assert properties["engine"] == {"type": "string", "enum": ["postgres", "mysql"]}
    assert properties["replicas"] == {"type": "integer", "minimum": 1}
    assert properties["port"] == {"x-kubernetes-int-or-string": True}
    assert properties["raw"] == {"description": "Any.", "x-kubernetes-preserve-unknown-fields": True}
    assert properties["open"] == {"type": "object", "additionalProperties": True}


def test_a_nullable_field_is_neither_typed_nor_required(spec: dict[str, Any]) -> None:
    assert spec["properties"]["version"] == {"pattern": "^[0-9]+$"}
    assert spec["required"] == ["engine"]


def test_an_embedded_resource_has_the_fields_of_every_object(spec: dict[str, Any]) -> None:
    template = spec["properties"]["template"]
    assert template["required"] == ["kind", "apiVersion"]
    assert set(template["properties"]) == {"apiVersion", "kind", "metadata"}


def test_a_custom_resource_that_takes_any_fields_is_just_an_object(document: dict[str, Any]) -> None:
    assert document["definitions"]["com.example.apps.v1.Database"] == {
        "type": "object",
        "x-kubernetes-group-version-kind": [{"group": "apps.example.com", "kind": "Database", "version": "v1"}],
    }


def test_every_kind_that_is_listed_has_its_list(document: dict[str, Any]) -> None:
    found = document["definitions"]["io.k8s.api.apps.v1.StatefulSetList"]
    assert found["properties"]["items"]["items"] == {"$ref": "#/definitions/io.k8s.api.apps.v1.StatefulSet"}
    assert found["x-kubernetes-group-version-kind"] == [{"group": "apps", "kind": "StatefulSetList", "version": "v1"}]


def test_apiversion_and_kind_of_a_built_in_kind_are_any_string(document: dict[str, Any]) -> None:
    properties = document["definitions"]["io.k8s.api.apps.v1.StatefulSet"]["properties"]
    assert set(properties["kind"]) == {"type", "description"}


def test_a_namespaced_resource_has_its_three_paths_and_those_of_subresources(document: dict[str, Any]) -> None:
    root = "/apis/apps.example.com/v1alpha1"
    found = {path.removeprefix(root): item for path, item in document["paths"].items() if path.startswith(f"{root}/")}
    assert {path: sorted(set(item) - {"parameters"}) for path, item in found.items()} == {
        "/databases": ["get"],
        "/namespaces/{namespace}/databases": ["delete", "get", "post"],
        "/namespaces/{namespace}/databases/{name}": ["delete", "get", "patch", "put"],
        "/namespaces/{namespace}/databases/{name}/scale": ["get", "patch", "put"],
        "/namespaces/{namespace}/databases/{name}/status": ["get", "patch", "put"],
    }


def test_a_patch_says_whose_it_is_and_which_parameters_it_takes(document: dict[str, Any]) -> None:
    patch = document["paths"]["/apis/apps/v1/namespaces/{namespace}/statefulsets/{name}"]["patch"]
    assert patch["x-kubernetes-action"] == "patch"
    assert patch["x-kubernetes-group-version-kind"] == {"group": "apps", "version": "v1", "kind": "StatefulSet"}
    names = [each["name"] for each in patch["parameters"]]
    assert names == ["body", "dryRun", "fieldManager", "fieldValidation", "force"]
    assert "application/strategic-merge-patch+json" in patch["consumes"]


def test_custom_resources_take_no_strategic_merge_patch(document: dict[str, Any]) -> None:
    patch = document["paths"]["/apis/apps.example.com/v1/namespaces/{namespace}/databases/{name}"]["patch"]
    assert "application/strategic-merge-patch+json" not in patch["consumes"]


def test_a_subresource_of_another_kind_says_so(document: dict[str, Any]) -> None:
    get = document["paths"]["/apis/apps/v1/namespaces/{namespace}/statefulsets/{name}/scale"]["get"]
    assert get["x-kubernetes-group-version-kind"] == {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    assert get["responses"]["200"]["schema"] == {"$ref": "#/definitions/io.k8s.api.autoscaling.v1.Scale"}
