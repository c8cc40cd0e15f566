"""HTTP clients alone: what a Kubernetes client on top of them can't be faster than."""

from __future__ import annotations

import httpx
import httpx2

from benchmarks.cache.resources import Resource
from benchmarks.cache.told import Told

__all__ = ["Httpx", "Httpx2"]


class Httpx:
    def __init__(self, server: str, resource: Resource, _: str) -> None:
        self._resource = resource
        self._client: httpx.AsyncClient | httpx2.AsyncClient = httpx.AsyncClient(base_url=server)

    async def warm(self) -> None:
        await self.get(0)

    async def follow(self, _: Told) -> None:
        raise NotImplementedError("it knows nothing of Kubernetes")

    async def get(self, number: int) -> object:
        answer = await self._client.get(self._resource.object_path(number))
        return answer.json()


class Httpx2(Httpx):
    def __init__(self, server: str, resource: Resource, _: str) -> None:
        super().__init__(server, resource, _)
        self._client = httpx2.AsyncClient(base_url=server)
