"""Owner references: who an object belongs to."""

from __future__ import annotations

from kubewright.api.meta import ObjectMeta, OwnerReference
from kubewright.api.resource import Resource, describe, resource_info

__all__ = ["AlreadyOwned", "controller_of", "owner_reference", "set_controller"]


class AlreadyOwned(ValueError):
    """The object has another controller, or lives where its owner can't own it."""


def controller_of(metadata: ObjectMeta) -> OwnerReference | None:
    """The owner that is marked as the controller, of which there is one at most."""
    return next((owner for owner in metadata.owner_references or () if owner.controller), None)


def owner_reference(owner: Resource, *, controller: bool = True) -> OwnerReference:
    """Names ``owner``, which must have been read from a server: raises ValueError without name and UID."""
    info = resource_info(type(owner))
    return OwnerReference(
        api_version=info.api_version,
        kind=info.kind,
        name=owner.name,
        uid=owner.uid,
        controller=controller,
        block_owner_deletion=True,
    )


def set_controller(obj: Resource, owner: Resource) -> None:
    """Makes ``owner`` the controller of ``obj``. Raises `AlreadyOwned` for a second controller or across namespaces."""
    if owner.namespace and owner.namespace != obj.namespace:
        raise AlreadyOwned(
            f"{describe(owner)} can't own {describe(obj)}: an owner in a namespace owns objects of that namespace only"
        )
    reference = owner_reference(owner)
    present = controller_of(obj.metadata)
    if present is not None and present.uid != reference.uid:
        raise AlreadyOwned(f"{describe(obj)} is already controlled by {present.kind} {present.name}")
    others = [other for other in obj.metadata.owner_references or () if other.uid != reference.uid]
    obj.metadata.owner_references = [*others, reference]
