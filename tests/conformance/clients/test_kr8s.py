"""kr8s: objects with methods, by kind or class, in both of its styles."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import kr8s
import kr8s.asyncio
import pytest
import pytest_asyncio
from kr8s._async_utils import as_sync_func
from kr8s.asyncio import objects

from tests.conformance.clients.bodies import config_map, deployment
from tests.conformance.clients.servers import Server
from tests.conformance.resources import GROUP, widget

pytestmark = [
    pytest.mark.filterwarnings("ignore:Kubernetes version:UserWarning"),  # newer than what it was made for
    pytest.mark.servers("embedded", "1.20"),
]


@pytest_asyncio.fixture
async def api(server: Server, namespace: str) -> AsyncIterator[Any]:
    opened = await kr8s.asyncio.api(kubeconfig=str(server.kubeconfig), namespace=namespace)
    yield opened
    await opened._session.aclose()  # which it never does itself


def widgets() -> Any:
    return objects.new_class(
        kind="Widget", version=f"{GROUP}/v1", namespaced=True, plural="widgets", scalable=True, scalable_spec="size"
    )


async def test_objects_are_created_refreshed_patched_and_deleted(api: Any) -> None:
    made = await objects.ConfigMap(config_map("a", labels={"tier": "web"}, x="1"), api=api)
    await made.create()
    assert await made.exists()
    await made.patch({"data": {"y": "2"}})
    await made.label(zone="x")
    await made.label("tier-")
    await made.annotate(note="some words")
    await made.refresh()
    assert made.raw.data == {"x": "1", "y": "2"}
    assert made.labels == {"zone": "x"}
    assert made.annotations == {"note": "some words"}
    found = [each.name async for each in api.get("configmaps", label_selector={"zone": "x"})]
    assert found == ["a"]
    await made.delete()
    assert not await made.exists()
    with pytest.raises(kr8s.NotFoundError):
        await made.refresh()


async def test_custom_objects_are_found_by_kind_and_scaled(api: Any) -> None:
    made = await widgets()(widget("w"), api=api)
    await made.create()
    await made.scale(3)
    await made.patch({"status": {"phase": "Ready"}}, subresource="status")
    found = [each async for each in api.get(f"widgets.{GROUP}")]
    assert [(each.name, each.spec["size"], each.status["phase"]) for each in found] == [("w", 3, "Ready")]
    assert made.replicas == 3
    with pytest.raises(kr8s.ServerError, match="should be less than or equal to 100"):
        await made.patch({"spec": {"size": 101}})


async def test_a_watch_follows_one_object(api: Any) -> None:
    made = await widgets()(widget("w"), api=api)
    await made.create()
    seen: list[str] = []
    async with asyncio.timeout(20):
        events = api.watch(f"widgets.{GROUP}")
        async for kind, found in events:
            seen.append(f"{kind} {found.name}")
            if kind == "ADDED":
                await made.patch({"spec": {"size": 2}})
            if kind == "MODIFIED":
                await made.delete()
            if kind == "DELETED":
                break
        await events.aclose()
    assert seen == ["ADDED w", "MODIFIED w", "DELETED w"]


async def test_a_table_is_got_as_kubectl_shows_it(api: Any) -> None:
    await (await widgets()(widget("w", size=5), api=api)).create()
    tables = [each async for each in api.get(f"widgets.{GROUP}", as_object=objects.Table)]
    assert [column["name"] for column in tables[0].column_definitions] == ["Name", "Size", "Colour", "Age"]
    assert tables[0].rows[0]["cells"][:2] == ["w", 5]


async def test_the_server_tells_its_version_and_resources(api: Any) -> None:
    assert (await api.version())["major"] == "1"
    assert {"ConfigMap", "Widget", "CustomResourceDefinition"} <= {each["kind"] for each in await api.api_resources()}
    assert f"{GROUP}/v1" in [each async for each in api.api_versions()]


@pytest.mark.servers("embedded")
async def test_a_deployment_comes_up_and_its_pods_are_read(api: Any) -> None:
    made = await objects.Deployment(deployment("web"), api=api)
    await made.create()
    await made.wait("condition=Available", timeout=30)
    await made.scale(2)
    await made.wait("jsonpath='{.status.readyReplicas}'=2", timeout=30)
    pods = await made.pods()
    assert len(pods) == 2
    assert await pods[0].ready()
    async for line in pods[0].logs():
        assert isinstance(line, str)
    await made.delete(propagation_policy="Foreground")
    await made.wait("delete", timeout=30)
    assert [each async for each in api.get("pods")] == []


def test_the_blocking_style_does_the_same(server: Server, namespace: str) -> None:
    from kr8s.objects import ConfigMap

    api = kr8s.api(kubeconfig=str(server.kubeconfig), namespace=namespace)
    made = ConfigMap(config_map("a", x="1"), api=api)
    made.create()
    made.patch([{"op": "replace", "path": "/data/x", "value": "2"}], type="json")
    assert [each.raw.data.x for each in api.get("cm", "a")] == ["2"]
    made.delete()
    assert not made.exists()
    as_sync_func(api._session.aclose)()
