"""The pytest plugin: ``cluster``, an embedded cluster in process for one test, and ``client``, a way to talk to it.

It needs pytest-asyncio; without it the fixtures are not there.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubewright.client import Client
    from kubewright.devcluster.cluster import DevCluster

try:
    from pytest_asyncio import fixture
except ImportError:  # a project that tests no coroutines has Kubewright installed all the same
    pass
else:
    __all__ = ["client", "cluster"]

    @fixture
    async def cluster() -> AsyncIterator[DevCluster]:
        """An embedded cluster of the test's own, in process: no port, no files, the same uids every time."""
        from kubewright.devcluster.cluster import DevCluster  # noqa: PLC0415 - only for tests that ask for one

        async with DevCluster(rng=random.Random(0)) as running:
            yield running

    @fixture
    async def client(cluster: DevCluster) -> AsyncIterator[Client]:
        """A client of ``cluster``."""
        from kubewright.client import Client  # noqa: PLC0415

        yield Client(cluster.transport(), clock=cluster.clock, rng=cluster.rng)
