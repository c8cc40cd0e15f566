"""`Strategy`: what is particular to a kind when an object of it is written."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from kubewright.api import Clock
from kubewright.devcluster.objects import Object

if TYPE_CHECKING:
    from kubewright.devcluster.store import GroupResource
    from kubewright.schema.errors import FieldError

__all__ = ["Deletion", "Strategy", "Surroundings"]


class Surroundings(Protocol):
    """What a strategy may look at besides the object: time, chance, and other objects (such as Services' addresses)."""

    @property
    def clock(self) -> Clock: ...

    @property
    def rng(self) -> random.Random: ...

    def objects(self, resource: GroupResource, namespace: str = "") -> Sequence[Object]:
        """What is stored now."""
        ...


class Deletion(NamedTuple):
    """How the deletion of an object begins."""

    obj: Object
    """The object as it is marked: a Namespace's phase becomes Terminating."""
    grace_seconds: int = 0
    """How long it lives on when nothing else holds it; 0 removes it at once."""
    held: bool = False
    """Whether something besides metadata.finalizers keeps it: a Namespace's ``spec.finalizers``."""
    graceful: bool = False
    """Whether the mark is written even where the object then goes at once (Pods)."""
    plain: bool = False
    """Whether the mark is the deletion time alone, without grace period and a new generation (Namespaces, CRDs)."""


class Strategy(Protocol):
    """The steps of a write that differ by kind, in the order in which they are called.

    Every method takes objects as decoded JSON and returns new ones; none changes its arguments. The server itself
    does what is the same for all kinds: names and uids, resource versions, deletion timestamps, managed fields, labels.

    ``subresource`` is empty for the object itself, else ``status`` or another one whose body is the object.
    """

    def read(self, obj: Object) -> tuple[Object, list[str]]:
        """The object as the kind knows it, without unknown fields, and the paths of those (``spec.foo[0].bar``).

        Raises `StatusError` (400) for a value of the wrong type where the real server can't even decode it.
        """
        ...

    def default(self, obj: Object, *, applied: bool = False) -> Object:
        """Fills in what the caller left out, by the kind's constants only.

        Nulls count as left out; those of an object that was ``applied`` are refused where a field may not hold them.
        """
        ...

    def prepare_create(self, obj: Object, around: Surroundings) -> Object:
        """Drops what a creator may not set (status), sets generation, allocates (cluster addresses)."""
        ...

    def prepare_update(self, new: Object, old: Object, *, subresource: str, around: Surroundings) -> Object:
        """Takes from ``old`` what this write may not change (status, or all but status), counts generation up."""
        ...

    def validate(self, obj: Object, old: Object | None, *, subresource: str) -> list[FieldError]:
        """All that is wrong with the object, in the server's order; ``old`` is None on create."""
        ...

    def name_errors(self, name: str, *, prefix: bool) -> list[str]:
        """What is wrong with a name, or with a ``generateName`` if ``prefix``, in the server's words."""
        ...

    def warnings(self, obj: Object, old: Object | None) -> list[str]:
        """What to tell the caller of a write that succeeds."""
        ...

    def deletion(self, obj: Object, requested_grace: int | None) -> Deletion:
        """What a delete does first; ``Deletion(obj)`` where the kind does nothing special.

        Asked again after each update of an object that is being deleted, with its own grace period, whether it is held.
        """
        ...

    def selectable(self, obj: Object, path: str) -> str:
        """The text of one of the kind's selectable fields; empty where the object lacks it."""
        ...
