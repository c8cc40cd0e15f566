"""`Cache`: the informers of one process against one API server, sharing a client whose writes they all see."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn, TypeVar, cast

from kubewright.api import Clock, Resource, ResourceInfo
from kubewright.cache.informer import Indexer, Informer
from kubewright.cache.scope import Scope
from kubewright.client import Client
from kubewright.client.requests import Fields, Labels
from kubewright.telemetry import Log

__all__ = ["Cache"]

R = TypeVar("R", bound=Resource)


class Cache:
    """One informer per kind, namespace and selection; who asks for the same gets the same.

    Informers are declared before `run`: nothing is ever watched behind one's back.
    """

    def __init__(
        self,
        client: Client,
        *,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        log: Log | None = None,
    ) -> None:
        self._client = client
        self._clock = clock or client.clock
        self._rng = rng or random.Random()
        self._log = log
        self._informers: dict[tuple[type[Resource], Scope], Informer[Any]] = {}
        self._running = False

    def informer(
        self,
        kind: type[R],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
        indexes: Mapping[str, Indexer[R]] | None = None,
    ) -> Informer[R]:
        """Declares, or finds, the informer of ``kind``; ``indexes`` are added to those it has.

        Raises RuntimeError for a new one once the cache runs, and ValueError for a second index of the same name.
        """
        key = (kind, Scope.of(namespace, labels, fields))
        found = cast("Informer[R] | None", self._informers.get(key))
        if found is None:
            if self._running:
                raise RuntimeError(f"{kind.__name__} is not among the kinds that were declared before the cache ran")
            found = self._informers[key] = Informer(
                self._client,
                kind,
                namespace=namespace,
                labels=labels,
                fields=fields,
                clock=self._clock,
                rng=self._rng,
                log=self._log,
            )
        for name, indexer in (indexes or {}).items():
            found.add_index(name, indexer)
        return found

    def __iter__(self) -> Iterator[Informer[Any]]:
        return iter(self._informers.values())

    async def run(self) -> NoReturn:
        """Runs all informers for ever and folds the client's writes into them; its caller owns the task."""
        self._running = True
        stop = self._client.observe(self._written, self._deleted)
        try:
            async with asyncio.TaskGroup() as group:
                for informer in self:
                    group.create_task(informer.run(), name=f"informer {informer.info.qualified_plural}")
        finally:
            stop()
            self._running = False
        raise AssertionError("informers run for ever")

    async def synced(self) -> None:
        """Waits until every informer has read everything once."""
        for informer in self:
            await informer.synced()

    def _written(self, info: ResourceInfo, raw: bytes) -> None:
        for informer in self:
            if informer.info == info:
                informer.fold(raw)

    def _deleted(self, info: ResourceInfo, namespace: str, name: str, uid: str) -> None:
        for informer in self:
            if informer.info == info:
                informer.forget(namespace, name, uid)
