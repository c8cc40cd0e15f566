"""Where objects live and what bodies say."""

from __future__ import annotations

import msgspec
import pytest

from kubewright.api import JSON, resource_info
from kubewright.client.requests import (
    delete_options,
    intent,
    resource_path,
    selection,
    selection_to_delete,
    write_query,
)
from tests.unit.client.conftest import Node, Widget

WIDGETS, NODES = resource_info(Widget), resource_info(Node)


def test_paths_follow_group_scope_and_subresource() -> None:
    assert resource_path(WIDGETS) == "/apis/example.com/v1/widgets"
    assert resource_path(WIDGETS, namespace="ns") == "/apis/example.com/v1/namespaces/ns/widgets"
    assert (
        resource_path(WIDGETS, namespace="ns", name="a", subresource="status")
        == "/apis/example.com/v1/namespaces/ns/widgets/a/status"
    )
    assert resource_path(NODES, name="n") == "/api/v1/nodes/n"
    assert resource_path(NODES, name="n:1", subresource="proxy/a/b/") == "/api/v1/nodes/n:1/proxy/a/b/"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ({"name": "a"}, "Widget a needs a namespace"),
        ({"name": "", "namespace": "ns"}, "Widget: an empty name addresses nothing"),
        ({"name": "a", "namespace": ""}, "Widget: an empty namespace addresses nothing"),
        ({"name": "a/status", "namespace": "ns"}, "Widget: 'a/status' is no name: it can't be"),
        ({"name": "..", "namespace": "ns"}, r"Widget: '\.\.' is no name"),
        ({"name": "a%2fstatus", "namespace": "ns"}, "Widget: 'a%2fstatus' is no name"),
        ({"name": "a", "namespace": "../.."}, r"Widget: '\.\./\.\.' is no namespace"),
        ({"name": "a", "namespace": "ns", "subresource": "../b"}, r"Widget: '\.\.' is no subresource"),
        ({"name": "a", "namespace": "ns", "subresource": ""}, "Widget: an empty subresource addresses nothing"),
    ],
)
def test_an_address_that_would_mean_something_else_is_refused(address: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        resource_path(WIDGETS, **address)


def test_a_cluster_scoped_kind_has_no_namespace() -> None:
    with pytest.raises(ValueError, match="Node is cluster-scoped"):
        resource_path(NODES, namespace="ns", name="n")


def test_selectors_are_given_as_labels_as_text_or_parsed() -> None:
    assert selection({"b": "2", "a": "1"}, None) == [("labelSelector", "a=1,b=2")]
    assert selection("tier in (x, y)", "status.phase!=Running") == [
        ("labelSelector", "tier in (x,y)"),
        ("fieldSelector", "status.phase!=Running"),
    ]
    assert selection({}, "") == []


def test_delete_options_say_only_what_was_asked() -> None:
    assert delete_options() == b""
    assert msgspec.json.decode(delete_options(uid="u", resource_version="7", propagation="Orphan", grace_period=0)) == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": "u", "resourceVersion": "7"},
        "propagationPolicy": "Orphan",
        "gracePeriodSeconds": 0,
    }


def read_object() -> dict[str, JSON]:
    metadata: dict[str, JSON] = {"name": "a", "namespace": "ns", "uid": "u", "labels": {"x": "y"}}
    set_by_server: dict[str, JSON] = {
        "resourceVersion": "7",
        "generation": 2,
        "creationTimestamp": "t",
        "managedFields": [],
        "deletionTimestamp": "t",
        "deletionGracePeriodSeconds": 0,
    }
    return {"metadata": {**metadata, **set_by_server}, "spec": {"size": 1}, "status": {"ready": 1}}


def test_an_intent_leaves_out_what_the_server_sets_and_the_status() -> None:
    given = read_object()
    assert intent(WIDGETS, given) == {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "a", "namespace": "ns", "uid": "u", "labels": {"x": "y"}},
        "spec": {"size": 1},
    }
    assert given == read_object()


def test_an_intent_for_the_status_has_nothing_else() -> None:
    assert intent(WIDGETS, read_object(), "status") == {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "a", "namespace": "ns", "uid": "u"},
        "status": {"ready": 1},
    }


def test_a_dry_delete_says_so_in_the_body_too_where_servers_look_for_it() -> None:
    assert msgspec.json.decode(delete_options(dry_run=True))["dryRun"] == ["All"]


def test_a_write_says_whose_it_is_and_only_what_else_was_asked() -> None:
    assert write_query("me") == [("fieldManager", "me")]
    assert write_query("me", field_manager="other", dry_run=True, field_validation="Strict") == [
        ("fieldManager", "other"),
        ("dryRun", "All"),
        ("fieldValidation", "Strict"),
    ]


@pytest.mark.parametrize(
    ("labels", "fields", "everything", "message"),
    [
        (None, None, False, "every Widget of namespace ns would be deleted. Give labels or fields, or everything=True"),
        ({}, "", False, "one that selects everything"),
        ("app=x", None, True, r"everything=True, and a selector \(app=x\) besides"),
    ],
)
def test_a_deletion_of_more_than_was_meant_is_refused(
    labels: dict[str, str] | str | None, fields: str | None, everything: bool, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        selection_to_delete(WIDGETS, "ns", labels, fields, everything=everything)


def test_a_collection_is_deleted_namespace_by_namespace() -> None:
    with pytest.raises(ValueError, match="Widget is namespaced, and a server deletes those of one namespace at a time"):
        selection_to_delete(WIDGETS, None, "app=x", None, everything=False)
    with pytest.raises(ValueError, match="every Node of the cluster would be deleted"):
        selection_to_delete(NODES, None, None, None, everything=False)
    assert selection_to_delete(NODES, None, None, None, everything=True) == []
    assert selection_to_delete(WIDGETS, "ns", {"app": "x"}, "metadata.name=a", everything=False) == [
        ("labelSelector", "app=x"),
        ("fieldSelector", "metadata.name=a"),
    ]
