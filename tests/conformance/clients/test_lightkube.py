"""lightkube: built-in and generic resources, blocking and not, watches, apply."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import lightkube
import pytest
import pytest_asyncio
from lightkube import codecs, operators
from lightkube.generic_resource import create_namespaced_resource, load_in_cluster_generic_resources
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap, Pod
from lightkube.types import CascadeType, PatchType

from tests.conformance.clients.bodies import deployment
from tests.conformance.clients.servers import Server
from tests.conformance.resources import GROUP, widget

Widget = create_namespaced_resource(GROUP, "v1", "Widget", "widgets", verbs=None)


@pytest.fixture
def client(server: Server, namespace: str) -> Iterator[Any]:
    config = lightkube.KubeConfig.from_file(str(server.kubeconfig))
    with lightkube.Client(config=config, namespace=namespace, field_manager="lightkube") as opened:
        yield opened


@pytest_asyncio.fixture
async def aclient(server: Server, namespace: str) -> AsyncIterator[Any]:
    config = lightkube.KubeConfig.from_file(str(server.kubeconfig))
    opened = lightkube.AsyncClient(config=config, namespace=namespace, field_manager="lightkube")
    yield opened
    await opened.close()


def test_typed_objects_are_created_read_replaced_patched_and_deleted(client: Any) -> None:
    created = client.create(ConfigMap(metadata=ObjectMeta(name="a", labels={"tier": "web"}), data={"x": "1"}))
    created.data = {"x": "2"}
    client.replace(created)
    with pytest.raises(lightkube.ApiError) as refused:
        client.replace(created)
    assert (refused.value.status.code, refused.value.status.reason) == (409, "Conflict")
    client.patch(ConfigMap, "a", {"data": {"y": "1"}})
    client.patch(ConfigMap, "a", [{"op": "remove", "path": "/data/x"}], patch_type=PatchType.JSON)
    assert client.get(ConfigMap, "a").data == {"y": "1"}
    found = client.list(ConfigMap, labels={"tier": operators.in_(["web", "db"])}, fields={"metadata.name": "a"})
    assert [each.metadata.name for each in found] == ["a"]
    client.delete(ConfigMap, "a")
    with pytest.raises(lightkube.ApiError) as refused:
        client.get(ConfigMap, "a")
    assert refused.value.status.code == 404


def test_lists_are_read_in_pages(client: Any) -> None:
    for name in ("a", "b", "c", "d", "e"):
        client.create(Widget(widget(name)))
    listed = client.list(Widget, chunk_size=2)
    assert [each.metadata.name for each in listed] == ["a", "b", "c", "d", "e"]
    assert listed.resourceVersion
    client.deletecollection(Widget)
    assert list(client.list(Widget)) == []


def test_generic_resources_and_their_subresources(client: Any) -> None:
    client.create(Widget(widget("w", size=2)))
    client.patch(Widget.Status, "w", {"status": {"ready": 1, "selector": "app=w"}}, patch_type=PatchType.MERGE)
    scale = client.get(Widget.Scale, "w")
    assert (scale.spec.replicas, scale.status.replicas) == (2, 1)
    scale.spec.replicas = 4
    client.replace(scale, "w")
    assert client.get(Widget, "w").spec["size"] == 4


def test_generic_resources_are_loaded_from_the_definitions_in_the_cluster(client: Any) -> None:
    load_in_cluster_generic_resources(client)
    loaded = codecs.load_all_yaml(f"apiVersion: {GROUP}/v1\nkind: Widget\nmetadata: {{name: w}}\nspec: {{size: 1}}\n")
    client.create(loaded[0])
    assert client.get(type(loaded[0]), "w").spec["colour"] == "red"


def test_apply_conflicts_and_is_forced(client: Any) -> None:
    client.apply(Widget(widget("w", size=1)), field_manager="one")
    with pytest.raises(lightkube.ApiError) as refused:
        client.apply(Widget(widget("w", size=2)), field_manager="two")
    assert refused.value.status.reason == "Conflict"
    assert refused.value.status.details.causes[0].field == ".spec.size"
    applied = client.apply(Widget(widget("w", size=2)), field_manager="two", force=True)
    assert applied.spec["size"] == 2
    client.apply(Widget.Status({**widget("w"), "spec": {}, "status": {"phase": "Ready"}}), field_manager="three")
    assert client.get(Widget, "w").status["phase"] == "Ready"


def test_a_watch_goes_on_over_the_servers_timeout(client: Any) -> None:
    client.create(Widget(widget("w")))
    seen: list[str] = []
    for kind, found in client.watch(Widget, server_timeout=1):
        seen.append(f"{kind} {found.metadata.name}")
        if kind == "ADDED":
            client.patch(Widget, "w", {"spec": {"size": 2}}, patch_type=PatchType.MERGE)
        if kind == "MODIFIED":
            client.delete(Widget, "w")
        if kind == "DELETED":
            break
    assert seen == ["ADDED w", "MODIFIED w", "DELETED w"]


def test_waiting_for_a_condition_ends_when_it_is_met(client: Any) -> None:
    client.create(Widget(widget("w")))
    condition = {"type": "Ready", "status": "True"}
    client.patch(Widget.Status, "w", {"status": {"conditions": [condition]}}, patch_type=PatchType.MERGE)
    assert client.wait(Widget, "w", for_conditions=["Ready"]).metadata.name == "w"


@pytest.mark.servers("embedded")
async def test_the_async_client_brings_up_a_deployment(aclient: Any) -> None:
    async with asyncio.timeout(30):
        await aclient.apply(codecs.from_dict(deployment("web", replicas=2)))
        await aclient.wait(Deployment, "web", for_conditions=["Available"])
        pods = [pod async for pod in aclient.list(Pod, labels={"app": "web"})]
        assert len(pods) == 2
        async for line in aclient.log(pods[0].metadata.name):
            assert isinstance(line, str)
        await aclient.delete(Deployment, "web", cascade=CascadeType.FOREGROUND)
        async for kind, _ in aclient.watch(Deployment, fields={"metadata.name": "web"}):
            if kind == "DELETED":
                break
    assert [pod async for pod in aclient.list(Pod, labels={"app": "web"})] == []


async def test_the_async_client_creates_watches_and_deletes(aclient: Any) -> None:
    created = await aclient.create(Widget(widget("w")))
    await aclient.delete(Widget, "w")
    async with asyncio.timeout(20):
        async for kind, found in aclient.watch(Widget, resource_version=created.metadata.resourceVersion):
            assert (kind, found.metadata.name) == ("DELETED", "w")
            break
