from __future__ import annotations

import json
from typing import Any

import pytest

from kubewright.devcluster.catalog import Catalog
from kubewright.devcluster.openapi_v3 import OpenApiV3

DATABASE = "com.example.apps.v1alpha1.Database"


def openapi(catalog: Catalog) -> OpenApiV3:
    return OpenApiV3(catalog, version="1.36")


def document(catalog: Catalog, name: str) -> dict[str, Any]:
    found = openapi(catalog).document(name)
    assert found is not None
    return found


def test_the_index_names_every_group_version(catalog: Catalog) -> None:
    names = openapi(catalog).names()
    assert names == ["api/v1", "apis/apps/v1", "apis/apps.example.com/v1", "apis/apps.example.com/v1alpha1"]


def test_a_group_version_that_is_not_served_has_no_document(catalog: Catalog) -> None:
    assert openapi(catalog).document("apis/apps/v9") is None


@pytest.mark.parametrize("name", ["api/v1", "apis/apps/v1", "apis/apps.example.com/v1alpha1"])
def test_a_document_holds_every_schema_that_it_refers_to(catalog: Catalog, name: str) -> None:
    found = document(catalog, name)
    text = json.dumps(found)
    assert "#/definitions/" not in text
    wanted = {part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert wanted <= set(found["components"]["schemas"])


def test_a_document_holds_no_schema_that_nothing_refers_to(catalog: Catalog) -> None:
    assert "io.k8s.api.core.v1.Unrelated" not in document(catalog, "apis/apps/v1")["components"]["schemas"]


def test_a_reference_with_a_description_is_wrapped(catalog: Catalog) -> None:
    spec = document(catalog, "apis/apps/v1")["components"]["schemas"]["io.k8s.api.apps.v1.StatefulSetSpec"]
    pointer = {"$ref": "#/components/schemas/io.k8s.api.core.v1.Container"}
    assert spec["properties"]["template"] == {"description": "What to run.", "allOf": [pointer]}
    assert spec["properties"]["containers"]["items"] == pointer
    assert spec["properties"]["containers"]["x-kubernetes-patch-merge-key"] == "name"


def test_an_int_or_string_is_either(catalog: Catalog) -> None:
    schemas = document(catalog, "apis/apps/v1")["components"]["schemas"]
    assert schemas["io.k8s.apimachinery.pkg.util.intstr.IntOrString"] == {
        "format": "int-or-string",
        "oneOf": [{"type": "integer"}, {"type": "string"}],
    }


def test_a_custom_resources_schema_is_complete(catalog: Catalog) -> None:
    spec = document(catalog, "apis/apps.example.com/v1alpha1")["components"]["schemas"][DATABASE]["properties"]["spec"]
    assert spec["required"] == ["engine", "version"]
    assert spec["properties"]["replicas"]["default"] == 1
    assert spec["properties"]["version"]["nullable"] is True
    assert "anyOf" in spec["properties"]["port"]


def test_a_reading_operation_says_its_kind_and_answer(catalog: Catalog) -> None:
    paths = document(catalog, "apis/apps.example.com/v1alpha1")["paths"]
    get = paths["/apis/apps.example.com/v1alpha1/namespaces/{namespace}/databases/{name}"]["get"]
    assert get["x-kubernetes-group-version-kind"]["kind"] == "Database"
    answer = get["responses"]["200"]["content"]["application/json"]["schema"]
    assert answer == {"$ref": f"#/components/schemas/{DATABASE}"}


def test_a_body_is_no_parameter(catalog: Catalog) -> None:
    path = "/apis/apps.example.com/v1alpha1/namespaces/{namespace}/databases/{name}"
    patch = document(catalog, "apis/apps.example.com/v1alpha1")["paths"][path]["patch"]
    assert [each["name"] for each in patch["parameters"]] == ["dryRun", "fieldManager", "fieldValidation", "force"]
    assert patch["parameters"][0]["schema"] == {"uniqueItems": True, "type": "string"}
    assert "application/merge-patch+json" in patch["requestBody"]["content"]


def test_a_digest_changes_with_its_own_group_version_only(catalog: Catalog) -> None:
    before = {name: openapi(catalog).digest(name) for name in openapi(catalog).names()}
    assert before == {name: openapi(catalog).digest(name) for name in openapi(catalog).names()}
    catalog.remove("apps.example.com", "databases")
    after = {name: openapi(catalog).digest(name) for name in openapi(catalog).names()}
    assert after == {name: before[name] for name in ("api/v1", "apis/apps/v1")}
