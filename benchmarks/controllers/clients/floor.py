"""The least that Python must do: aiohttp, msgspec and a dict. No queue's guarantees, no retries, no relist, no status of errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import aiohttp
import msgspec

from benchmarks.cache.resources import SENT, WIDGETS
from benchmarks.controllers.access import Access
from benchmarks.controllers.handled import READY, Handled
from benchmarks.controllers.widgets import Widget

__all__ = ["Floor"]

_PATCH = msgspec.json.encode({"status": {"observedGeneration": 1, "readyReplicas": 3, "phase": READY}})


class _List(msgspec.Struct):
    metadata: dict[str, msgspec.Raw]
    items: list[Widget]


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


_lists = msgspec.json.Decoder(_List)
_events = msgspec.json.Decoder(_Event)
_widgets = msgspec.json.Decoder(Widget)
_Key = tuple[str, str]
_Work = Callable[[_Key, Widget, aiohttp.ClientSession], Awaitable[None]]


class Floor:
    def __init__(self, access: Access, workers: int) -> None:
        self._access = access
        self._workers = workers
        self._held: dict[_Key, Widget] = {}
        self._queue: asyncio.Queue[_Key] = asyncio.Queue()
        self._queued: set[_Key] = set()

    async def reconcile(self, handled: Handled) -> None:
        async def work(_key: _Key, _widget: Widget, _session: aiohttp.ClientSession) -> None:
            handled.began()
            handled()

        await self._run(work)

    async def hear(self, handled: Handled) -> None:
        async def work(_key: _Key, widget: Widget, _session: aiohttp.ClientSession) -> None:
            annotations = widget.metadata.annotations or {}
            handled.delayed(lambda: annotations[SENT])

        await self._run(work)

    async def write(self, handled: Handled) -> None:
        async def work(key: _Key, widget: Widget, session: aiohttp.ClientSession) -> None:
            handled.began()
            if widget.status.phase == READY:
                return
            namespace, name = key
            path = f"{WIDGETS.path}/namespaces/{namespace}/{WIDGETS.plural}/{name}/status"
            sent = {"content-type": "application/merge-patch+json"}
            async with session.patch(path, data=_PATCH, headers=sent) as answer:
                self._held[key] = _widgets.decode(await answer.read())
            handled()

        await self._run(work)

    async def _run(self, work: _Work) -> None:
        access = self._access
        headers = {"authorization": f"Bearer {access.token}"} if access.token else {}
        connector = aiohttp.TCPConnector(limit=64, ssl=access.tls or False)
        async with (
            aiohttp.ClientSession(
                access.url, connector=connector, headers=headers, timeout=aiohttp.ClientTimeout(total=None)
            ) as session,
            asyncio.TaskGroup() as group,
        ):
            async with session.get(f"{WIDGETS.path}/{WIDGETS.plural}") as answer:
                found = _lists.decode(await answer.read())
            for each in found.items:
                self._take(each)
            version = msgspec.json.decode(found.metadata["resourceVersion"], type=str)
            group.create_task(self._follow(session, version))
            for _ in range(self._workers):
                group.create_task(self._work(work, session))

    async def _follow(self, session: aiohttp.ClientSession, version: str) -> None:
        query = {"watch": "true", "resourceVersion": version}
        async with session.get(f"{WIDGETS.path}/{WIDGETS.plural}", params=query) as answer:
            async for line in _lines(answer.content):
                self._take(_widgets.decode(_events.decode(line).object))

    async def _work(self, work: _Work, session: aiohttp.ClientSession) -> None:
        while True:
            key = await self._queue.get()
            self._queued.discard(key)
            await work(key, self._held[key], session)

    def _take(self, widget: Widget) -> None:
        key = widget.metadata.namespace or "", widget.metadata.name or ""
        self._held[key] = widget
        if key not in self._queued:
            self._queued.add(key)
            self._queue.put_nowait(key)


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    rest = b""
    async for chunk in content.iter_any():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line
