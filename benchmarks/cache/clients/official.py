"""The official client, blocking: its informer for pods; for custom objects, which its informer can't list, list and watch."""

from __future__ import annotations

import asyncio
from typing import Any

from kubernetes import client, informer, watch

from benchmarks.cache.resources import SENT, Resource
from benchmarks.cache.told import Told

__all__ = ["Official"]


class Official:
    def __init__(self, server: str, resource: Resource, _: str) -> None:
        configuration = client.Configuration(host=server)
        configuration.connection_pool_maxsize = 32
        api = client.ApiClient(configuration)
        self._resource = resource
        self._core = client.CoreV1Api(api)
        self._custom = client.CustomObjectsApi(api)
        self._where = (resource.group, resource.version, resource.plural)

    async def warm(self) -> None:
        await self.get(0)

    async def follow(self, told: Told) -> None:
        if self._resource.group:
            await asyncio.to_thread(self._custom_objects, told)
            return
        following = informer.SharedInformer(self._core.list_pod_for_all_namespaces)
        for kind in (informer.ADDED, informer.MODIFIED):
            following.add_event_handler(kind, lambda pod: told(lambda: pod.metadata.annotations[SENT]))
        following.start()
        await asyncio.Event().wait()

    def _custom_objects(self, told: Told) -> None:
        found = self._custom.list_cluster_custom_object(*self._where)
        objects: dict[tuple[str, str], Any] = {}

        def take(each: Any) -> None:
            metadata = each["metadata"]
            objects[metadata["namespace"], metadata["name"]] = each
            told(lambda: metadata["annotations"][SENT])

        for each in found["items"]:
            take(each)
        version = found["metadata"]["resourceVersion"]
        events = watch.Watch().stream(self._custom.list_cluster_custom_object, *self._where, resource_version=version)
        for event in events:
            take(event["object"])

    async def get(self, number: int) -> object:
        namespace, name = self._resource.address(number)
        if not self._resource.group:
            return await asyncio.to_thread(self._core.read_namespaced_pod, name, namespace)
        group, version, plural = self._where
        return await asyncio.to_thread(
            self._custom.get_namespaced_custom_object, group, version, namespace, plural, name
        )
