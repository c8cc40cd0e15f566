"""`Children`: what a controller has applied for one object, and may delete again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Struct

from kubewright.api import JSON, Conflict, NotFound, Resource, resource_info
from kubewright.cache import Entry
from kubewright.client.requests import Propagation
from kubewright.controller.spec import ControllerSpec
from kubewright.controller.writes import IntentKey

if TYPE_CHECKING:
    from kubewright.controller.environment import RunEnvironment

__all__ = ["Child", "Children", "may_be_deleted"]

R = TypeVar("R", bound=Resource)

_PRECIOUS = frozenset(
    {
        "persistentvolumeclaims",
        "persistentvolumes",
        "namespaces",
        "secrets",
        "customresourcedefinitions.apiextensions.k8s.io",
    }
)
"""Losing one loses data: deleted only where the controller names the kind."""


def may_be_deleted(spec: ControllerSpec[Any]) -> list[type[Resource]]:
    """The kinds that a controller applies and, without being told each time, deletes."""
    named = {resource_info(kind).gvk for kind in spec.prune}
    infos = [(kind, resource_info(kind)) for kind in spec.owns]
    return [kind for kind, info in infos if info.qualified_plural not in _PRECIOUS or info.gvk in named]


class Child(Struct, frozen=True):
    """One object, as the cache has it."""

    kind: type[Resource]
    entry: Entry

    @property
    def key(self) -> IntentKey:
        return resource_info(self.kind).qualified_plural, self.entry.namespace, self.entry.name

    def __str__(self) -> str:
        return f"{resource_info(self.kind).kind} {self.entry.name}"


class Children:
    """The objects whose controller is ``owner``, by UID, and whose fields this controller applied.

    Only of kinds that may be deleted (`may_be_deleted`), and only while they are in step with the server.
    """

    def __init__(self, env: RunEnvironment, owner: Resource, entry: Entry | None) -> None:
        """``entry``: the owner as it was when the run started."""
        self._env = env
        self._owner = owner
        self._entry = entry

    def __iter__(self) -> Iterator[Child]:
        manager = self._env.applied.manager
        for kind in self._env.may_be_deleted:
            informer = self._env.informer(kind)
            if not informer.live:
                continue
            for entry in informer.owned(self._owner.uid):
                if entry.controller == self._owner.uid and entry.owned_by(manager) is not None:
                    yield Child(kind, entry)

    @property
    def in_step(self) -> bool:
        """Whether every kind is: otherwise there may be more than can be seen."""
        return all(self._env.informer(kind).live for kind in self._env.may_be_deleted)

    @property
    def owner_is_current(self) -> bool:
        """Whether what is reconciled still is what is wanted: nothing may be deleted in the name of an older state."""
        then = self._entry
        now = None if then is None else self._env.informer(type(self._owner)).entry(then.namespace, then.name)
        return (
            then is not None
            and now is not None
            and now.is_same(then)
            and now.generation == then.generation
            and (now.generation is not None or _says_the_same(now, then))
            and not now.deleting
        )

    def is_there(self, child: Child) -> bool:
        """Whether it still is, be it only until its finalizers have gone."""
        entry = self._env.informer(child.kind).entry(child.entry.namespace, child.entry.name)
        return entry is not None and entry.uid == child.entry.uid

    async def delete(self, child: Child, *, propagation: Propagation | None = None) -> bool:
        """Deletes it as it was seen. False where it was gone already, or has changed since: its event brings another run."""
        entry = child.entry
        self._env.applied.forget(child.key)
        try:
            await self._env.client.delete(
                child.kind,
                entry.name,
                namespace=entry.namespace,
                propagation=propagation,
                uid=entry.uid,
                resource_version=str(entry.resource_version),
            )
        except (NotFound, Conflict):
            return False
        return True


def _says_the_same(now: Entry, then: Entry) -> bool:
    """What the generation tells of kinds that have one: whether all but metadata and status is as it was."""
    return now.resource_version == then.resource_version or _what_it_says(now) == _what_it_says(then)


def _what_it_says(entry: Entry) -> dict[str, JSON]:
    content: dict[str, JSON] = msgspec.json.decode(entry.raw)
    return {name: value for name, value in content.items() if name not in {"metadata", "status"}}
