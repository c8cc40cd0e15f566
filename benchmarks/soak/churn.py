"""`Churn`: Databases that come, change and go, and children that somebody else edits and deletes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import msgspec
from database_operator.api.v1alpha1 import Database

from benchmarks.controllers.databases import body, name_of
from kubewright.api import ApiError, Resource, decode
from kubewright.client import Client, MergePatch
from kubewright.kinds import apps_v1, core_v1

__all__ = ["Churn"]


class Churn:
    """Guarantees: the number of Databases stays what it is, but for one that is on its way out."""

    def __init__(self, client: Client, objects: int, rng: random.Random) -> None:
        self._client = client
        self._objects = objects
        self._rng = rng
        self.steps = 0

    async def fill(self) -> None:
        for number in range(self._objects):
            await self._create(number)

    async def run(self, rate: float) -> None:
        """So many steps a second at most, for ever."""
        ways: list[Callable[[int], Awaitable[None]]] = [self._edit, self._edit, self._replace, self._drift, self._lose]
        while True:
            await self._rng.choice(ways)(self._rng.randrange(self._objects))
            self.steps += 1
            await asyncio.sleep(1 / rate)

    async def _create(self, number: int) -> None:
        await self._client.create(decode(msgspec.json.encode(body(number)), Database))

    async def _edit(self, number: int) -> None:
        change: dict[str, Any] = {
            "spec": {"version": str(self._rng.randrange(10, 18)), "replicas": self._rng.randrange(1, 3)}
        }
        await self._patched(Database, number, change)

    async def _drift(self, number: int) -> None:
        await self._patched(core_v1.Service, number, {"metadata": {"labels": {"app": self._rng.choice("ab")}}})

    async def _lose(self, number: int) -> None:
        with suppress(ApiError):  # it may not be there (yet)
            await self._client.delete(apps_v1.StatefulSet, name_of(number), namespace="default")

    async def _replace(self, number: int) -> None:
        with suppress(ApiError):
            await self._client.delete(Database, name_of(number), namespace="default")
        for _ in range(100):
            with suppress(ApiError):  # it is still on its way out
                await self._create(number)
                return
            await asyncio.sleep(0.1)
        raise RuntimeError(f"{name_of(number)} is deleted, and does not go: its clean-up does not run")

    async def _patched(self, kind: type[Resource], number: int, change: Mapping[str, Any]) -> None:
        with suppress(ApiError):
            await self._client.patch(kind, name_of(number), MergePatch(dict(change)), namespace="default")
