"""Whose an object is: taking one that nobody controls, and leaving alone what somebody else does."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TypeVar

from kubewright.api import AlreadyOwned, Resource, controller_of, decode, describe, resource_info, set_controller
from kubewright.cache import Entry
from kubewright.client import Client
from kubewright.controller.request import Request
from kubewright.controller.writes import IntentKey
from kubewright.telemetry import shown

__all__ = [
    "Releases",
    "adopt",
    "check_that_it_can_be_a_child",
    "check_that_nobody_else_controls",
    "check_that_they_differ",
]

R = TypeVar("R", bound=Resource)

_REMEMBERED = 2048


class Releases:
    """Who was refused an object because of its controller, so that they hear of it when it has another, or goes."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[IntentKey, dict[Request, None]] = OrderedDict()

    @contextmanager
    def told_to(self, request: Request, key: IntentKey) -> Iterator[None]:
        """Around what may be refused; ``request`` then waits for the object. Those who waited longest for nothing are
        forgotten at some time, and left to their back-off.
        """
        try:
            yield
        except AlreadyOwned:
            self._waiting.setdefault(key, {})[request] = None
            if len(self._waiting) > _REMEMBERED:
                self._waiting.popitem(last=False)
            raise

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def take(self, key: IntentKey) -> tuple[Request, ...]:
        """Those who wait for the object, once."""
        return tuple(self._waiting.pop(key, ()))


def check_that_nobody_else_controls(entry: Entry, obj: Resource, owner: Resource) -> None:
    """Raises `AlreadyOwned` where the object, as the cache has it, has another controller than ``owner``.

    To be asked where its controller is not ``owner`` by UID. The server can't tell: both are written by one field
    manager, so that each apply would take the object from the other owner and wake that, for ever. What an earlier object
    of the owner's name has left is the owner's to take.
    """
    present = controller_of(decode(entry.raw, Resource).metadata)
    info = resource_info(type(owner))
    if present is None or (present.kind, present.name, present.api_version.rpartition("/")[0]) == (
        info.kind,
        owner.name,
        info.group,
    ):
        return
    raise AlreadyOwned(
        f"{describe(owner)} can't apply {describe(obj)}: it is already controlled by {present.kind} {present.name}; give it "
        "a name that follows from its owner's"
    )


def check_that_it_can_be_a_child(obj: Resource, owner: Resource) -> None:
    """Raises TypeError for what is no object, and ValueError for one that is bound up with its owner."""
    if not isinstance(obj, Resource):
        raise TypeError(
            f"{shown(obj)} is no object of a kind: give a ConfigMap, say, or several one by one, as apply_all(*objects)"
        )
    if obj.metadata is owner.metadata and obj is not owner:
        raise ValueError(
            f"this {resource_info(type(obj)).kind} shares its metadata with {describe(owner)}, so that what is set on one is "
            "set on both: give it an ObjectMeta of its own"
        )


def check_that_they_differ(objects: Collection[Resource]) -> None:
    """Raises ValueError where two are the same object: what one says would be set back by the other in each run."""
    names = [(type(obj), obj.metadata.namespace, obj.metadata.name) for obj in objects]
    if len(set(names)) < len(names):
        twice = next(obj for number, obj in enumerate(objects) if names[number] in names[:number])
        raise ValueError(f"{describe(twice)} is there twice: each would set back what the other says, again and again")


async def adopt(client: Client, obj: R, owner: Resource, *, field_manager: str) -> R:
    """Makes ``owner`` the controller of ``obj`` on the server, and returns it as it is then.

    Raises `AlreadyOwned` where another controller has it, where it is in a namespace that the owner's is not, where one
    of both is being deleted, and where another object took its name; `NotFound` where it is gone.
    """
    for one in (owner, obj):
        if one.metadata.deletion_timestamp is not None:
            raise AlreadyOwned(f"{describe(owner)} can't adopt {describe(obj)}: {describe(one)} is being deleted")
    set_controller(obj, owner)

    def change(live: R) -> None:
        if live.uid != obj.uid:
            raise AlreadyOwned(f"{describe(obj)} was replaced by another object of its name: read it again")
        if live.metadata.deletion_timestamp is not None:
            raise AlreadyOwned(f"{describe(owner)} can't adopt {describe(live)}: it is being deleted")
        present = controller_of(live.metadata)
        if present is None or present.uid != owner.uid:
            set_controller(live, owner)

    return await client.edit(type(obj), obj.name, change, namespace=obj.namespace, field_manager=field_manager)
