"""`LiveReads`: what a run reads from the server itself, where the cache does not do."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, TypeVar

from kubewright.api import NotFound, Resource, resource_info
from kubewright.client import Client
from kubewright.client.requests import Fields, Labels

__all__ = ["LiveReads"]

R = TypeVar("R", bound=Resource)


class LiveReads:
    """Reads of declared kinds that are never old, each of them a request.

    For what must not be decided by a view that may be some milliseconds old, and for kinds of which only metadata is
    cached. ``check`` raises for a kind that was not declared.
    """

    def __init__(self, client: Client, *, namespace: str | None, check: Callable[[type[Any]], None]) -> None:
        self._client = client
        self._namespace = namespace
        self._check = check

    async def get(self, kind: type[R], name: str, *, namespace: str | None = None) -> R | None:
        """None where there is no such object. The namespace defaults to the reconciled object's."""
        self._check(kind)
        try:
            return await self._client.get(kind, name, namespace=self._in(kind, namespace))
        except NotFound:
            return None

    async def list(
        self,
        kind: type[R],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
    ) -> builtins.list[R]:
        """All that match, of one namespace. The namespace defaults to the reconciled object's."""
        self._check(kind)
        return await self._client.list(kind, namespace=self._in(kind, namespace), labels=labels, fields=fields)

    def _in(self, kind: type[Resource], namespace: str | None) -> str | None:
        return (namespace or self._namespace) if resource_info(kind).namespaced else None
