"""kr8s, asynchronous: a watch that begins with what is there, since its lists don't tell their version; keep."""

from __future__ import annotations

import warnings
from typing import Any

import kr8s.asyncio
from kr8s.asyncio import objects as kinds

from benchmarks.cache.resources import SENT, Resource
from benchmarks.cache.told import Told

__all__ = ["Kr8s"]


class Kr8s:
    def __init__(self, server: str, resource: Resource, _: str) -> None:
        warnings.simplefilter("ignore")  # of a server's version that it does not know
        self._server = server
        self._resource = resource
        self._api: Any = None
        self._kind: Any = (
            kinds.new_class(kind=resource.kind, version=f"{resource.group}/{resource.version}", namespaced=True)
            if resource.group
            else kinds.Pod
        )

    async def warm(self) -> None:
        self._api = await kr8s.asyncio.api(url=self._server)
        await self.get(0)

    async def follow(self, told: Told) -> None:
        held: dict[tuple[str, str], Any] = {}

        def take(each: Any) -> None:
            held[each.namespace, each.name] = each
            told(lambda: each.annotations[SENT])

        async for _, each in self._api.watch(self._kind, namespace=kr8s.ALL):
            take(each)

    async def get(self, number: int) -> object:
        """By `refresh`: its `get` is a list with a selector, which the stub does not know."""
        namespace, name = self._resource.address(number)
        found = self._kind({"metadata": {"name": name, "namespace": namespace}}, api=self._api)
        await found.refresh()
        return found
