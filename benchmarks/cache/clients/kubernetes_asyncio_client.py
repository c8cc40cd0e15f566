"""kubernetes_asyncio."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from kubernetes_asyncio import client, watch

from benchmarks.cache.clients.generated import Generated
from benchmarks.cache.resources import Resource

__all__ = ["KubernetesAsyncio"]


class KubernetesAsyncio(Generated):
    def __init__(self, server: str, resource: Resource, _: str) -> None:
        super().__init__(client, watch, server, resource)
        self._core.list_pod_for_all_namespaces = _spelled(self._core.list_pod_for_all_namespaces)
        self._custom.list_cluster_custom_object = _spelled(self._custom.list_cluster_custom_object)


def _spelled(read: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """It asks for ``watch=True``; API servers take that for true, the stub only ``true``."""

    @wraps(read)
    async def spelled(*arguments: Any, watch: bool = False, **more: Any) -> Any:
        return await read(*arguments, **more, **({"watch": "true"} if watch else {}))

    return spelled
