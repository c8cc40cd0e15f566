"""The official Python client: typed objects of built-in kinds, untyped ones of custom kinds, and any through discovery."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config, dynamic, utils, watch

from tests.conformance.clients.bodies import config_map, deployment
from tests.conformance.clients.servers import Server
from tests.conformance.resources import GROUP, widget
from tests.e2e.processes import eventually


@pytest.fixture
def api(server: Server) -> Iterator[Any]:
    with config.new_client_from_config(config_file=str(server.kubeconfig)) as api_client:
        yield api_client


@pytest.fixture
def core(api: Any) -> Any:
    return client.CoreV1Api(api)


def test_typed_objects_are_created_read_replaced_patched_and_deleted(core: Any, namespace: str) -> None:
    body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="a", labels={"tier": "web"}), data={"x": "1"})
    created = core.create_namespaced_config_map(namespace, body)
    assert created.metadata.creation_timestamp.tzinfo is not None
    created.data = {"x": "2"}
    replaced = core.replace_namespaced_config_map("a", namespace, created)
    assert replaced.metadata.resource_version != created.metadata.resource_version
    with pytest.raises(client.ApiException) as refused:
        core.replace_namespaced_config_map("a", namespace, created)
    assert (refused.value.status, refused.value.reason) == (409, "Conflict")
    patched = core.patch_namespaced_config_map("a", namespace, {"data": {"y": "1"}})
    assert patched.data == {"x": "2", "y": "1"}
    found = core.list_namespaced_config_map(namespace, label_selector="tier=web", field_selector="metadata.name=a")
    assert [each.metadata.name for each in found.items] == ["a"]
    core.delete_namespaced_config_map("a", namespace)
    with pytest.raises(client.ApiException) as refused:
        core.read_namespaced_config_map("a", namespace)
    assert refused.value.status == 404


def test_lists_are_read_in_pages(core: Any, namespace: str) -> None:
    for name in ("a", "b", "c", "d", "e"):
        core.create_namespaced_config_map(namespace, config_map(name, labels={"paged": "yes"}))
    names: list[str] = []
    more = None
    while more != "":
        page = core.list_namespaced_config_map(namespace, label_selector="paged", limit=2, _continue=more)
        names += [each.metadata.name for each in page.items]
        more = page.metadata._continue or ""
    assert names == ["a", "b", "c", "d", "e"]


def test_custom_objects_and_their_subresources(api: Any, namespace: str) -> None:
    custom = client.CustomObjectsApi(api)
    where = (GROUP, "v1", namespace, "widgets")
    custom.create_namespaced_custom_object(*where, widget("w", size=2))
    custom.patch_namespaced_custom_object(*where, "w", {"spec": {"size": 3}})
    custom.patch_namespaced_custom_object_status(*where, "w", {"status": {"ready": 1, "selector": "app=w"}})
    found = custom.get_namespaced_custom_object(*where, "w")
    assert found["spec"] == {"size": 3, "colour": "red"}
    assert found["status"] == {"ready": 1, "selector": "app=w"}
    scale = custom.get_namespaced_custom_object_scale(*where, "w")
    assert (scale["spec"]["replicas"], scale["status"]["replicas"]) == (3, 1)
    with pytest.raises(client.ApiException) as refused:
        custom.create_namespaced_custom_object(*where, widget("bad", size=101))
    assert refused.value.status == 422
    assert "spec.size in body should be less than or equal to 100" in refused.value.body
    custom.delete_namespaced_custom_object(*where, "w")
    assert custom.list_namespaced_custom_object(*where)["items"] == []


def test_a_definition_is_read_as_typed_object(api: Any) -> None:
    definition = client.ApiextensionsV1Api(api).read_custom_resource_definition(f"widgets.{GROUP}")
    assert definition.spec.versions[0].schema.open_apiv3_schema.properties["spec"].required == ["size"]
    assert {each.type for each in definition.status.conditions} >= {"Established", "NamesAccepted"}


@pytest.mark.servers("embedded", "1.20")
def test_the_server_tells_its_version_and_groups(api: Any) -> None:
    assert client.VersionApi(api).get_code().major == "1"
    groups = {group.name for group in client.ApisApi(api).get_api_versions().groups}
    assert {"apps", "apiextensions.k8s.io", GROUP} <= groups


@pytest.mark.servers("embedded")
def test_a_deployment_is_made_from_yaml_scaled_and_its_pods_read(
    api: Any, core: Any, namespace: str, tmp_path: Path
) -> None:
    utils.create_from_dict(api, deployment("web"), namespace=namespace)
    apps = client.AppsV1Api(api)
    scale = apps.patch_namespaced_deployment_scale("web", namespace, {"spec": {"replicas": 2}})
    assert scale.spec.replicas == 2

    def ready() -> None:
        assert apps.read_namespaced_deployment_status("web", namespace).status.ready_replicas == 2

    eventually(ready)
    pods = core.list_namespaced_pod(namespace, label_selector="app=web").items
    assert [pod.status.phase for pod in pods] == ["Running", "Running"]
    assert isinstance(core.read_namespaced_pod_log(pods[0].metadata.name, namespace), str)
    assert core.list_node().items[0].status.conditions
    apps.delete_namespaced_deployment("web", namespace, propagation_policy="Foreground")


@pytest.fixture
def any_kind(api: Any) -> Any:
    return dynamic.DynamicClient(api)


def test_the_dynamic_client_finds_kinds_and_does_all_with_them(any_kind: Any, namespace: str) -> None:
    widgets = any_kind.resources.get(api_version=f"{GROUP}/v1", kind="Widget")
    widgets.create(body=widget("w"), namespace=namespace)
    widgets.patch(
        body={"spec": {"size": 4}}, name="w", namespace=namespace, content_type="application/merge-patch+json"
    )
    found = widgets.get(name="w", namespace=namespace)
    assert found.spec.size == 4
    found.spec.size = 5
    assert widgets.replace(body=found, namespace=namespace).metadata.generation == 3
    widgets.status.patch(
        body={"status": {"phase": "Ready"}},
        name="w",
        namespace=namespace,
        content_type="application/merge-patch+json",
    )
    assert widgets.get(namespace=namespace).items[0].status.phase == "Ready"
    with pytest.raises(dynamic.exceptions.DynamicApiError, match="UnsupportedMediaType"):  # strategic unless told
        widgets.patch(body={"spec": {"size": 6}}, name="w", namespace=namespace)
    widgets.delete(name="w", namespace=namespace)
    with pytest.raises(dynamic.exceptions.NotFoundError):
        widgets.get(name="w", namespace=namespace)


def test_the_dynamic_client_applies_with_conflicts(any_kind: Any, namespace: str) -> None:
    maps = any_kind.resources.get(api_version="v1", kind="ConfigMap")
    for value, manager in (("1", "one"), ("1", "two")):
        maps.server_side_apply(body=config_map("a", x=value), namespace=namespace, field_manager=manager)
    with pytest.raises(dynamic.exceptions.ConflictError):
        maps.server_side_apply(body=config_map("a", x="2"), namespace=namespace, field_manager="two")
    applied = maps.server_side_apply(
        body=config_map("a", x="2"), namespace=namespace, field_manager="two", force_conflicts=True
    )
    assert applied.data.x == "2"


def test_the_dynamic_client_watches(any_kind: Any, namespace: str) -> None:
    widgets = any_kind.resources.get(api_version=f"{GROUP}/v1", kind="Widget")
    since = widgets.get(namespace=namespace).metadata.resourceVersion
    widgets.create(body=widget("w"), namespace=namespace)
    widgets.delete(name="w", namespace=namespace)
    watcher = watch.Watch()
    seen: list[tuple[str, str]] = []
    for event in widgets.watch(namespace=namespace, resource_version=since, watcher=watcher, timeout=10):
        seen.append((event["type"], event["object"].metadata.name))
        if event["type"] == "DELETED":
            watcher.stop()
    assert seen == [("ADDED", "w"), ("DELETED", "w")]
