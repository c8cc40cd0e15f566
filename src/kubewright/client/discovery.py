"""`Discovery`: which kinds the server has, and where they are.

https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from kubewright.api import ApiError, Clock, DecodeError, GroupVersionKind, NotFound
from kubewright.client.discovery_documents import (
    AGGREGATED,
    ApiResource,
    ApiSubresource,
    aggregated,
    group_versions,
    resource_list,
)
from kubewright.client.rest import RestClient
from kubewright.client.transport import TransportError

__all__ = ["ApiResource", "ApiSubresource", "Discovery", "UnknownKind"]

_BELIEVED = 600.0
"""Seconds for which what the server told is relied on."""


class UnknownKind(LookupError):
    """The server has no such kind or resource, or does not tell of it now; the message says what it has."""


class Discovery:
    """Looks kinds up at one API server, and remembers what it was told.

    Guarantees: what is not known yet is asked for once in each look-up, so a kind that was installed meanwhile is found.
    Caveats: a kind that was removed or changed meanwhile is found as it was for ten minutes; see `forget`.
    Errors: `UnknownKind`, and what a GET may raise.
    """

    def __init__(self, rest: RestClient, *, clock: Clock) -> None:
        self._rest = rest
        self._clock = clock
        self._believed_until = float("-inf")
        self._known: dict[str, tuple[ApiResource, ...]] = {}
        """Resources by apiVersion, preferred versions first where all are known."""
        self._all_known = False
        self.unavailable: dict[str, str] = {}
        """The apiVersions that the server has and could not describe, with the reason: an aggregated API that is down."""

    async def kind(self, api_version: str, kind: str) -> ApiResource:
        """``("apps/v1", "Deployment")``. Takes one small request unless it is known."""
        self._forget_what_is_old()
        found = self._of_kind(api_version, kind)
        if found is None:
            await self._read_version(api_version)
            found = self._of_kind(api_version, kind)
        if found is None:
            raise UnknownKind(self._lacks_kind(api_version, kind))
        return found

    async def resource(self, name: str) -> ApiResource:
        """What kubectl would take ``name`` for: ``deployments``, ``deploy``, ``deployment.apps``, ``deployments.v1.apps``.

        Of several, a plural goes before a singular, and that before a short name; then the server's own order decides.
        """
        found = _named(name, await self.resources())
        if found is None:
            found = _named(name, await self._read_all())
        if found is None:
            from difflib import get_close_matches  # noqa: PLC0415 - only for who mistypes

            plurals = [each.info.qualified_plural for each in await self.resources()]
            close = get_close_matches(name, plurals, n=1) or [each for each in plurals if each.startswith(f"{name}.")]
            hint = f"did you mean {close[0]}?" if close else "is its CustomResourceDefinition installed?"
            raise UnknownKind(f"the server has no resource {name!r}: {hint}{self._missing()}")
        return found

    async def resources(self) -> tuple[ApiResource, ...]:
        """Everything that the server has, each group's preferred version first. Asked for once in ten minutes."""
        self._forget_what_is_old()
        return self._everything() if self._all_known else await self._read_all()

    def forget(self) -> None:
        """The next look-up asks the server."""
        self._known.clear()
        self.unavailable.clear()
        self._all_known = False

    def _forget_what_is_old(self) -> None:
        now = self._clock.monotonic()
        if now >= self._believed_until:
            self.forget()
            self._believed_until = now + _BELIEVED

    def _everything(self) -> tuple[ApiResource, ...]:
        return tuple(resource for resources in self._known.values() for resource in resources)

    def _of_kind(self, api_version: str, kind: str) -> ApiResource | None:
        return next((each for each in self._known.get(api_version, ()) if each.info.kind == kind), None)

    async def _read_version(self, api_version: str) -> None:
        try:
            answer = await self._rest.read(_path(api_version))
        except NotFound:
            self._known.pop(api_version, None)
        else:
            self._known[api_version] = resource_list(answer)
            self.unavailable.pop(api_version, None)

    async def _read_all(self) -> tuple[ApiResource, ...]:
        core, named = (
            await self._rest.read("/api", accept=AGGREGATED),
            await self._rest.read("/apis", accept=AGGREGATED),
        )
        unavailable: dict[str, str] = {}
        known: dict[str, tuple[ApiResource, ...]] = {}
        legacy: list[str] = []
        for answer in (core, named):
            if (described := aggregated(answer)) is None:
                legacy += group_versions(answer)
                continue
            for api_version, resources in described.items():
                if resources is None:
                    unavailable[api_version] = "the API server that has it does not answer"
                else:
                    known[api_version] = resources
        async with asyncio.TaskGroup() as group:
            asked = {each: group.create_task(self._version_or_reason(each)) for each in legacy}
        for api_version, task in asked.items():
            if isinstance(answered := task.result(), Exception):
                raise answered
            if isinstance(answered, str):
                unavailable[api_version] = answered
            else:
                known[api_version] = answered
        self._known, self.unavailable, self._all_known = known, unavailable, True
        return self._everything()

    async def _version_or_reason(self, api_version: str) -> tuple[ApiResource, ...] | str | Exception:
        """What there is, or why that can't be told, or what ends it all: raised in a group it would come out wrapped."""
        try:
            return resource_list(await self._rest.read(_path(api_version)))
        except ApiError as error:  # one API that is down must not hide the others
            return str(error)
        except (TransportError, DecodeError) as error:
            return error

    def _lacks_kind(self, api_version: str, kind: str) -> str:
        if api_version not in self._known:
            return (
                f"the server has no {api_version}, so no {kind} of it: is its CustomResourceDefinition installed, and is "
                "that version served? `kubectl api-versions` lists what there is"
            )
        kinds = sorted({each.info.kind for each in self._known[api_version]})
        return f"the server has no kind {kind!r} in {api_version}; it has: {', '.join(kinds) or 'none'}"

    def _missing(self) -> str:
        if not self.unavailable:
            return ""
        return f" It could not tell what is in {'; '.join(f'{name} ({why})' for name, why in self.unavailable.items())}"


def _path(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _named(name: str, resources: Iterable[ApiResource]) -> ApiResource | None:
    base, _, qualifier = name.lower().partition(".")
    fitting = [each for each in resources if _qualified_by(qualifier, each.info.gvk)]
    for spelled in (
        lambda each: (each.info.plural,),
        lambda each: (each.info.singular, each.info.kind.lower()),
        lambda each: each.info.short_names,
    ):
        for each in fitting:
            if base in spelled(each):
                return each
    return None


def _qualified_by(qualifier: str, gvk: GroupVersionKind) -> bool:
    return qualifier in {"", gvk.group, f"{gvk.version}.{gvk.group}", gvk.version if not gvk.group else ""}
