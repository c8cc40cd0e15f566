"""Adoption: taking an object that nobody controls as one's own."""

from __future__ import annotations

from typing import TypeVar

from kubewright.api import AlreadyOwned, Resource, controller_of, describe, set_controller
from kubewright.client import Client

__all__ = ["adopt"]

R = TypeVar("R", bound=Resource)


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
