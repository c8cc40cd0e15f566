"""What is served."""

from __future__ import annotations

from kubewright.devcluster.builtin.catalog import builtin_catalog, builtin_resources


def test_every_kind_knows_its_subresources() -> None:
    catalog = builtin_catalog()
    deployments = catalog.find("apps", "v1", "deployments")
    assert deployments is not None
    assert {each.name for each in deployments.subresources} == {"scale", "status"}
    scale = deployments.subresource("scale")
    assert scale is not None
    assert (scale.kind, scale.api_version) == ("Scale", "autoscaling/v1")
    assert deployments.listed_kind == "DeploymentList"
    assert deployments.info.short_names == ("deploy",)


def test_events_of_both_groups_are_one_collection_with_two_vocabularies() -> None:
    catalog = builtin_catalog()
    core, new = catalog.find("", "v1", "events"), catalog.find("events.k8s.io", "v1", "events")
    assert core is not None
    assert new is not None
    assert new.storage == core.storage
    assert new.renamed["involvedObject"] == "regarding"
    assert new.renamed["message"] == "note"


def test_servers_share_the_resources_and_not_the_catalog() -> None:
    first, second = builtin_catalog(), builtin_catalog()
    first.remove("apps", "deployments")
    assert second.find("apps", "v1", "deployments") is not None
    assert builtin_resources() is builtin_resources()


def test_every_resource_has_a_schema_that_resolves() -> None:
    catalog = builtin_catalog()
    for resource in catalog:
        assert resource.schema["$ref"].rpartition("/")[2] in catalog.definitions
        assert resource.shape.property("metadata") is not None


def test_an_applied_quantity_may_be_a_number_though_the_schema_calls_it_a_string() -> None:
    catalog = builtin_catalog()
    claims = catalog.find("", "v1", "persistentvolumeclaims")
    assert claims is not None
    shape = claims.shape
    for name in ("spec", "resources", "requests", "storage"):
        shape = shape.child(name)
    assert shape.type == "any"
    assert catalog.definitions["io.k8s.apimachinery.pkg.api.resource.Quantity"] == {"type": "string"}
