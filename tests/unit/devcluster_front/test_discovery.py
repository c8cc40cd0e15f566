from __future__ import annotations

from kubewright.devcluster import discovery
from kubewright.devcluster.catalog import Catalog


def test_the_core_group_is_listed_by_version_only(catalog: Catalog) -> None:
    assert discovery.api_versions(catalog, address="127.0.0.1:6443") == {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}],
    }


def test_groups_prefer_their_most_stable_version_and_custom_ones_come_last(catalog: Catalog) -> None:
    found = discovery.api_group_list(catalog)
    assert (found["kind"], found["apiVersion"]) == ("APIGroupList", "v1")
    assert [group["name"] for group in found["groups"]] == ["apps", "apps.example.com"]
    assert found["groups"][1] == {
        "name": "apps.example.com",
        "versions": [
            {"groupVersion": "apps.example.com/v1", "version": "v1"},
            {"groupVersion": "apps.example.com/v1alpha1", "version": "v1alpha1"},
        ],
        "preferredVersion": {"groupVersion": "apps.example.com/v1", "version": "v1"},
    }


def test_a_group_can_be_read_alone(catalog: Catalog) -> None:
    found = discovery.api_group(catalog, "apps")
    assert found is not None
    assert (found["kind"], found["name"]) == ("APIGroup", "apps")
    assert discovery.api_group(catalog, "nope") is None


def test_a_group_version_lists_resources_and_their_subresources(catalog: Catalog) -> None:
    found = discovery.api_resource_list(catalog, "apps.example.com", "v1alpha1")
    verbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]
    assert found == {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": "apps.example.com/v1alpha1",
        "resources": [
            {
                "name": "databases",
                "singularName": "database",
                "namespaced": True,
                "kind": "Database",
                "verbs": verbs,
                "shortNames": ["db"],
                "categories": ["all"],
                "storageVersionHash": "rCB8zC96Ocs=",
            },
            {
                "name": "databases/status",
                "singularName": "",
                "namespaced": True,
                "kind": "Database",
                "verbs": ["get", "patch", "update"],
            },
            {
                "name": "databases/scale",
                "singularName": "",
                "namespaced": True,
                "group": "autoscaling",
                "version": "v1",
                "kind": "Scale",
                "verbs": ["get", "patch", "update"],
            },
        ],
    }


def test_the_core_groups_resource_list_has_no_api_version(catalog: Catalog) -> None:
    found = discovery.api_resource_list(catalog, "", "v1")
    assert found is not None
    assert list(found) == ["kind", "groupVersion", "resources"]
    assert found["groupVersion"] == "v1"


def test_a_group_version_that_is_not_served_has_no_list(catalog: Catalog) -> None:
    assert discovery.api_resource_list(catalog, "apps", "v9") is None


def test_aggregated_discovery_has_all_of_a_group_in_one_entry(catalog: Catalog) -> None:
    found = discovery.aggregated(catalog, core=False)
    assert found["apiVersion"] == "apidiscovery.k8s.io/v2"
    entry = found["items"][1]
    assert entry["metadata"] == {"name": "apps.example.com"}
    assert [version["version"] for version in entry["versions"]] == ["v1", "v1alpha1"]
    resource = entry["versions"][1]["resources"][0]
    assert resource["responseKind"] == {"group": "apps.example.com", "version": "v1alpha1", "kind": "Database"}
    assert resource["scope"] == "Namespaced"
    assert resource["shortNames"] == ["db"]
    assert resource["subresources"][1] == {
        "subresource": "scale",
        "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
        "verbs": ["get", "patch", "update"],
    }
    assert entry["versions"][1]["freshness"] == "Current"


def test_aggregated_discovery_keeps_the_core_group_apart(catalog: Catalog) -> None:
    (entry,) = discovery.aggregated(catalog, core=True)["items"]
    assert entry["metadata"] == {}
    assert entry["versions"][0]["resources"][0]["resource"] == "namespaces"


def test_built_in_kinds_leave_out_their_own_group_and_version(catalog: Catalog) -> None:
    resource = discovery.aggregated(catalog, core=False)["items"][0]["versions"][0]["resources"][0]
    assert resource["responseKind"] == {"group": "", "version": "", "kind": "StatefulSet"}
    kinds = {each["subresource"]: each["responseKind"]["group"] for each in resource["subresources"]}
    assert kinds == {"scale": "autoscaling", "status": ""}
