"""What the two asynchronous clients that are generated from the API's description share: list, watch, keep."""

from __future__ import annotations

from typing import Any

from benchmarks.cache.resources import SENT, Resource
from benchmarks.cache.told import Told

__all__ = ["Generated"]


class Generated:
    """``client`` and ``watch`` are the library's modules."""

    def __init__(self, client: Any, watch: Any, server: str, resource: Resource) -> None:
        configuration = client.Configuration(host=server)
        configuration.connection_pool_maxsize = 32
        api = client.ApiClient(configuration)
        self._watch = watch
        self._resource = resource
        self._core = client.CoreV1Api(api)
        self._custom = client.CustomObjectsApi(api)
        self._where = (resource.group, resource.version, resource.plural)

    async def warm(self) -> None:
        await self.get(0)

    async def follow(self, told: Told) -> None:
        if self._resource.group:
            await self._custom_objects(told)
        else:
            await self._pods(told)

    async def _pods(self, told: Told) -> None:
        found = await self._core.list_pod_for_all_namespaces()
        objects: dict[tuple[str, str], Any] = {}

        def take(pod: Any) -> None:
            objects[pod.metadata.namespace, pod.metadata.name] = pod
            told(lambda: pod.metadata.annotations[SENT])

        for each in found.items:
            take(each)
        stream = self._watch.Watch().stream(
            self._core.list_pod_for_all_namespaces, resource_version=found.metadata.resource_version
        )
        async for event in stream:
            take(event["object"])

    async def _custom_objects(self, told: Told) -> None:
        found = await self._custom.list_cluster_custom_object(*self._where)
        objects: dict[tuple[str, str], Any] = {}

        def take(each: Any) -> None:
            metadata = each["metadata"]
            objects[metadata["namespace"], metadata["name"]] = each
            told(lambda: metadata["annotations"][SENT])

        for each in found["items"]:
            take(each)
        version = found["metadata"]["resourceVersion"]
        stream = self._watch.Watch().stream(
            self._custom.list_cluster_custom_object, *self._where, resource_version=version
        )
        async for event in stream:
            take(event["object"])

    async def get(self, number: int) -> object:
        namespace, name = self._resource.address(number)
        if not self._resource.group:
            return await self._core.read_namespaced_pod(name, namespace)
        group, version, plural = self._where
        return await self._custom.get_namespaced_custom_object(group, version, namespace, plural, name)
