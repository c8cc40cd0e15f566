"""`LogReader`: follows the store's log of changes, for controllers whose subject is every kind at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from kubewright.devcluster.store import Change, Store

__all__ = ["LogReader"]


class LogReader:
    """Gives each change once, in order, from the moment its block was entered.

    Errors: `Compacted` when the reader fell too far behind; read everything anew, then.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._after = store.revision
        self._news = asyncio.Event()

    def __enter__(self) -> Self:
        self._after = self._store.revision
        self._unsubscribe = self._store.subscribe(self._news.set)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._unsubscribe()

    async def next(self) -> Sequence[Change]:
        """Waits for changes and returns all there are."""
        await self._news.wait()
        self._news.clear()
        changes = self._store.changes(self._after)
        if changes:
            self._after = changes[-1].revision
        return changes
