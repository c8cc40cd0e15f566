"""lightkube, asynchronous: list, watch, keep."""

from __future__ import annotations

from typing import Any

from lightkube import AsyncClient, KubeConfig
from lightkube.config.models import Cluster, User
from lightkube.generic_resource import create_namespaced_resource
from lightkube.resources.core_v1 import Pod

from benchmarks.cache.resources import SENT, Resource
from benchmarks.cache.told import Told

__all__ = ["Lightkube"]


class Lightkube:
    def __init__(self, server: str, resource: Resource, _: str) -> None:
        self._client = AsyncClient(
            KubeConfig.from_one(cluster=Cluster(server=server), user=User(username="bench", password="-"))
        )
        self._resource = resource
        self._kind: Any = (
            create_namespaced_resource(resource.group, resource.version, resource.kind, resource.plural)
            if resource.group
            else Pod
        )

    async def warm(self) -> None:
        await self.get(0)

    async def follow(self, told: Told) -> None:
        objects: dict[tuple[str, str], Any] = {}

        def take(each: Any) -> None:
            objects[each.metadata.namespace, each.metadata.name] = each
            told(lambda: each.metadata.annotations[SENT])

        found = self._client.list(self._kind, namespace="*")
        async for each in found:
            take(each)
        async for _, each in self._client.watch(self._kind, namespace="*", resource_version=found.resourceVersion):
            take(each)

    async def get(self, number: int) -> object:
        namespace, name = self._resource.address(number)
        return await self._client.get(self._kind, name, namespace=namespace)
