"""What is read of an object's owners."""

from __future__ import annotations

import msgspec

from kubewright.cache.narrow import Values

__all__ = ["Owner", "owner_values"]


class Owner(msgspec.Struct, gc=False):
    uid: str = ""
    controller: bool | None = None


def owner_values(owners: list[Owner]) -> tuple[Values, Values]:
    """UIDs of all, each once, and that of the one that is the controller."""
    if len(owners) == 1:
        uids: Values = (owners[0].uid,)
        return uids, uids if owners[0].controller else ()
    uids = tuple(dict.fromkeys([owner.uid for owner in owners]))
    return uids, tuple([owner.uid for owner in owners if owner.controller][:1])
