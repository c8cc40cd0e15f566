"""`own_namespace`: where a test's objects live, apart from those of other tests."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from kubewright.api import NotFound, ObjectMeta
from kubewright.client import Client
from kubewright.devcluster.cluster import DevCluster
from kubewright.kinds import core_v1
from kubewright.testing.targets import Target

__all__ = ["own_namespace"]


@asynccontextmanager
async def own_namespace(target: Target) -> AsyncIterator[str]:
    """``default`` in an embedded cluster, which the test has for itself; elsewhere a new one, deleted in the end."""
    if isinstance(target, DevCluster):
        yield "default"
        return
    client = Client(target.transport(), clock=target.clock, rng=target.rng)
    name = f"kubewright-test-{secrets.token_hex(4)}"
    await client.create(core_v1.Namespace(metadata=ObjectMeta(name=name)))
    try:
        yield name
    finally:
        with suppress(NotFound):
            await client.delete(core_v1.Namespace, name)
        await client.close()
