"""`Sink`: where a reflector puts what it reads."""

from __future__ import annotations

from typing import Protocol

from kubewright.cache.entry import Entry
from kubewright.cache.state import InformerState
from kubewright.cache.store import Incoming

__all__ = ["Sink"]


class Sink(Protocol):
    """Where a reflector puts what it reads."""

    def begin_list(self) -> Incoming: ...

    async def replace(self, incoming: Incoming, version: int) -> None: ...

    def upsert(self, *entries: Entry) -> None: ...

    def remove(self, entry: Entry) -> None: ...

    def advance(self, version: int) -> None: ...

    def turn(self, state: InformerState) -> None:
        """The reflector's state, each time it may have changed."""
        ...
