"""kubernetes_asyncio: typed, custom and dynamic objects, watches, leader election."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from kubernetes_asyncio import client, config, dynamic, utils, watch
from kubernetes_asyncio.leaderelection import electionconfig
from kubernetes_asyncio.leaderelection import leaderelection as elections
from kubernetes_asyncio.leaderelection.resourcelock import leaselock

from tests.conformance.clients.bodies import config_map, deployment
from tests.conformance.clients.servers import Server, eventually
from tests.conformance.resources import GROUP, widget


@pytest_asyncio.fixture
async def api(server: Server) -> AsyncIterator[Any]:
    async with await config.new_client_from_config(config_file=str(server.kubeconfig)) as api_client:
        yield api_client


async def test_typed_objects_are_created_read_replaced_patched_and_deleted(api: Any, namespace: str) -> None:
    core = client.CoreV1Api(api)
    body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="a", labels={"tier": "web"}), data={"x": "1"})
    created = await core.create_namespaced_config_map(namespace, body)
    created.data["x"] = "2"
    await core.replace_namespaced_config_map("a", namespace, created)
    with pytest.raises(client.ApiException) as refused:
        await core.replace_namespaced_config_map("a", namespace, created)
    assert (refused.value.status, refused.value.reason) == (409, "Conflict")
    patched = await core.patch_namespaced_config_map("a", namespace, {"data": {"y": "1"}})
    assert patched.data == {"x": "2", "y": "1"}
    found = await core.list_namespaced_config_map(namespace, label_selector="tier in (web)")
    assert [each.metadata.name for each in found.items] == ["a"]
    applied = await core.patch_namespaced_config_map(
        "a",
        namespace,
        config_map("a", z="3"),
        field_manager="applier",
        _content_type="application/apply-patch+yaml",
    )
    assert applied.data == {"x": "2", "y": "1", "z": "3"}
    await core.delete_namespaced_config_map("a", namespace)
    with pytest.raises(client.ApiException) as refused:
        await core.read_namespaced_config_map("a", namespace)
    assert refused.value.status == 404


async def test_custom_objects_and_their_status(api: Any, namespace: str) -> None:
    custom = client.CustomObjectsApi(api)
    where = (GROUP, "v1", namespace, "widgets")
    await custom.create_namespaced_custom_object(*where, widget("w", size=2))
    merge = {"_content_type": "application/merge-patch+json"}
    await custom.patch_namespaced_custom_object_status(*where, "w", {"status": {"phase": "Ready"}}, **merge)
    await custom.patch_namespaced_custom_object(
        *where, "w", [{"op": "replace", "path": "/spec/size", "value": 3}], _content_type="application/json-patch+json"
    )
    found = await custom.get_namespaced_custom_object(*where, "w")
    assert (found["spec"]["size"], found["status"]["phase"]) == (3, "Ready")
    await custom.delete_collection_namespaced_custom_object(*where)
    assert (await custom.list_namespaced_custom_object(*where))["items"] == []


async def test_a_watch_brings_typed_objects_in_order(api: Any, namespace: str) -> None:
    core = client.CoreV1Api(api)
    since = (await core.list_namespaced_config_map(namespace)).metadata.resource_version
    await core.create_namespaced_config_map(namespace, config_map("a"))
    await core.delete_namespaced_config_map("a", namespace)
    async with watch.Watch() as watcher:  # not left before its end: that would leave a connection behind
        events = watcher.stream(core.list_namespaced_config_map, namespace, resource_version=since, timeout_seconds=1)
        seen = [event["type"] async for event in events if event["object"].metadata.name == "a"]
    assert seen == ["ADDED", "DELETED"]


async def test_the_dynamic_client_finds_kinds_and_does_all_with_them(api: Any, namespace: str) -> None:
    any_kind = await dynamic.DynamicClient(api)
    widgets = await any_kind.resources.get(api_version=f"{GROUP}/v1", kind="Widget")
    await widgets.create(body=widget("w"), namespace=namespace)
    await widgets.server_side_apply(
        body=widget("w", size=7), name="w", namespace=namespace, field_manager="applier", force_conflicts=True
    )
    found = await widgets.get(name="w", namespace=namespace)
    assert found.spec.size == 7
    await widgets.delete(name="w", namespace=namespace)
    since = found.metadata.resourceVersion
    async with watch.Watch() as watcher:
        events = widgets.watch(namespace=namespace, resource_version=since, timeout=1, watcher=watcher)
        assert [event["type"] async for event in events] == ["DELETED"]


async def test_objects_of_many_kinds_are_created_from_dicts(api: Any, namespace: str) -> None:
    await utils.create_from_dict(api, deployment("web", replicas=0), namespace=namespace)
    assert (await client.AppsV1Api(api).read_namespaced_deployment("web", namespace)).spec.replicas == 0


async def test_a_candidate_leads_until_its_lease_is_taken(api: Any, namespace: str) -> None:
    said: list[str] = []

    async def started() -> None:
        said.append("started")

    async def stopped() -> None:
        said.append("stopped")

    async def leads() -> bool:
        return said == ["started"]

    lock = leaselock.LeaseLock("leader", namespace, "one", api)
    settings = electionconfig.Config(
        lock, lease_duration=3, renew_deadline=2, retry_period=1, onstarted_leading=started, onstopped_leading=stopped
    )
    async with asyncio.timeout(40), asyncio.TaskGroup() as group:
        group.create_task(elections.LeaderElection(settings).run())
        await eventually(leads)
        leases = client.CoordinationV1Api(api)
        assert (await leases.read_namespaced_lease("leader", namespace)).spec.holder_identity == "one"
        await leases.patch_namespaced_lease("leader", namespace, {"spec": {"holderIdentity": "another"}})
    assert said == ["started", "stopped"]
