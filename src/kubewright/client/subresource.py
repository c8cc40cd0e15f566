"""`Subresource`: a part of an object that has a path of its own, and maybe a kind of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeAlias, TypeVar, Unpack, cast

import msgspec

from kubewright.api import DecodeError, Model, ResourceInfo, decode, encode
from kubewright.client.media_types import APPLY
from kubewright.client.patches import Patch
from kubewright.client.requests import WriteOptions, write_query
from kubewright.client.rest import RestClient

__all__ = ["Body", "Subresource"]

B = TypeVar("B")

Body: TypeAlias = Model | Mapping[str, Any]
"""What is sent: an object of the subresource's kind, or decoded JSON."""


class Subresource(Generic[B]):
    """One object's ``scale``, ``approval``, ``token`` or whatever its kind has. See `Client.subresource`.

    Guarantees: what is sent is sent as it is, once. Where the answer is the whole object (``status``, ``approval``,
    ``ephemeralcontainers``, …), caches of this client see it at once.
    Errors: `NotFound` where there is no such object or subresource, `MethodNotAllowed` for a verb that it lacks.
    """

    def __init__(
        self,
        rest: RestClient,
        info: ResourceInfo,
        name: str,
        subresource: str,
        *,
        namespace: str | None,
        of: type[B],
        field_manager: str,
    ) -> None:
        self._rest = rest
        self._info = info
        self._name = name
        self._subresource = subresource
        self._namespace = namespace
        self._of = of
        self._manager = field_manager

    async def get(self) -> B:
        answer = await self._rest.get(self._info, self._name, namespace=self._namespace, subresource=self._subresource)
        return self._decoded(answer)

    async def create(self, body: Body, **options: Unpack[WriteOptions]) -> B:
        """POST, for what is done rather than kept: an eviction, a binding, a token."""
        answer = await self._rest.create(
            self._info,
            _encoded(body),
            namespace=self._namespace,
            name=self._name,
            subresource=self._subresource,
            query=write_query(self._manager, **options),
        )
        return self._decoded(answer)

    async def update(self, body: Body, **options: Unpack[WriteOptions]) -> B:
        """PUT: replaces the subresource whole, so ``body`` must hold every field that is to stay.

        A typed body loses what its class does not know: read and change decoded JSON (no ``of``), or `patch`.
        """
        answer = await self._rest.update(
            self._info,
            self._name,
            _encoded(body),
            namespace=self._namespace,
            subresource=self._subresource,
            query=write_query(self._manager, **options),
        )
        return self._decoded(answer)

    async def patch(self, patch: Patch, **options: Unpack[WriteOptions]) -> B:
        return await self._patched(msgspec.json.encode(patch.body), patch.content_type, force=None, options=options)

    async def apply(self, body: Body, *, force: bool = False, **options: Unpack[WriteOptions]) -> B:
        """Server-side apply: ``body`` says all that the field manager wants to own in the subresource.

        It is the whole object with apiVersion, kind and name, and only the subresource's part filled in, or, for
        ``scale``, a Scale. Raises `Conflict` where another manager owns a field and ``force`` is not set.
        """
        return await self._patched(_encoded(body), APPLY, force=force, options=options)

    async def _patched(self, body: bytes, content_type: str, *, force: bool | None, options: WriteOptions) -> B:
        query = write_query(self._manager, **options)
        if force is not None:
            query.append(("force", "true" if force else "false"))
        answer = await self._rest.patch(
            self._info,
            self._name,
            body,
            content_type=content_type,
            namespace=self._namespace,
            subresource=self._subresource,
            query=query,
        )
        return self._decoded(answer)

    def _decoded(self, answer: bytes) -> B:
        if issubclass(self._of, Model):
            return cast("B", decode(answer, self._of))
        try:
            return cast("B", msgspec.json.decode(answer, type=dict))
        except msgspec.DecodeError as error:
            raise DecodeError(f"what {self._subresource} of {self._name} answers is no JSON object: {error}") from error


def _encoded(body: Body) -> bytes:
    return encode(body) if isinstance(body, Model) else msgspec.json.encode(dict(body))
