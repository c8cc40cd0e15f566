"""Waiting for a revision that a client has heard of and this server has not, as an API server with a lagging cache does."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubewright.devcluster.store import Store

__all__ = ["reached"]

_PATIENCE = 3.0  # seconds


async def reached(store: Store, revision: int) -> bool:
    """Whether the store is at the revision, now or within three seconds."""
    if store.revision >= revision:
        return True
    written = asyncio.Event()
    unsubscribe = store.subscribe(written.set)
    try:
        async with asyncio.timeout(_PATIENCE):
            while store.revision < revision:
                await written.wait()
                written.clear()
    except TimeoutError:
        return False
    finally:
        unsubscribe()
    return True
