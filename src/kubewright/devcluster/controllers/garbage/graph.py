"""`Graph`: which objects exist and who belongs to whom, by UID. Pure; fed with the store's changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from kubewright.devcluster.finalizers import FOREGROUND, ORPHAN
from kubewright.devcluster.objects import Object, metadata_of, name_of, namespace_of
from kubewright.devcluster.store import Change, GroupResource

__all__ = ["Graph", "Node", "Owner"]

_REMEMBERED_ENDS = 1000


class Owner(Struct, frozen=True):
    """An owner reference as it stands in the object, right or not."""

    api_version: str
    kind: str
    name: str
    uid: str
    blocks: bool


class Node(Struct, frozen=True):
    """What garbage collection needs to know of one object."""

    uid: str
    resource: GroupResource
    namespace: str
    name: str
    version: str
    owners: tuple[Owner, ...]
    finalizers: tuple[str, ...]
    deleting: bool

    @property
    def waits_for_dependents(self) -> bool:
        return self.deleting and FOREGROUND in self.finalizers

    @property
    def orphans_dependents(self) -> bool:
        return self.deleting and ORPHAN in self.finalizers

    @property
    def is_bound(self) -> bool:
        """Whether there is anything to decide about it: it belongs to somebody, is held, or is going."""
        return bool(self.owners or self.finalizers or self.deleting)

    def blocks(self, uid: str) -> bool:
        """Whether this object keeps its owner from going first."""
        return any(owner.uid == uid and owner.blocks for owner in self.owners)

    def same_bonds(self, other: Node) -> bool:
        return (self.owners, self.finalizers, self.deleting) == (other.owners, other.finalizers, other.deleting)


class Graph:
    """Keeps the nodes that are bound, and who is gone; of the others the store knows enough."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._dependents: dict[str, dict[str, None]] = {}
        self._gone: dict[str, None] = {}

    def saw_end_of(self, uid: str) -> bool:
        """Whether an object is known to be gone; the latest few are remembered."""
        return uid in self._gone

    def get(self, uid: str) -> Node | None:
        return self._nodes.get(uid)

    def __iter__(self) -> Iterator[Node]:
        return iter(tuple(self._nodes.values()))

    def dependents(self, uid: str) -> list[Node]:
        """Objects that name ``uid`` as an owner, in the order in which they began to."""
        return [self._nodes[each] for each in self._dependents.get(uid, ()) if each in self._nodes]

    def load(self, resource: GroupResource, objects: Iterable[Object]) -> None:
        """Takes what exists already."""
        for obj in objects:
            self._put(_node(resource, obj))

    def take(self, change: Change) -> list[str]:
        """Takes a change; returns the UIDs of those whose fate it may have changed, each once."""
        node = _node(change.resource, change.new)
        before = self._nodes.get(node.uid)
        if change.type == "DELETED":
            self._drop(node.uid)
            self._bury(node.uid)
            touched = [*self._dependents.get(node.uid, ()), *(owner.uid for owner in node.owners)]
        else:
            self._put(node)
            if before is not None and before.same_bonds(node):
                return []
            touched = [node.uid, *(owner.uid for owner in (*node.owners, *(before.owners if before else ())))]
            if node.deleting:
                touched += self._dependents.get(node.uid, ())
        return [uid for uid in dict.fromkeys(touched) if uid in self._nodes]

    def _put(self, node: Node) -> None:
        self._drop(node.uid)
        if not node.is_bound:
            return
        self._nodes[node.uid] = node
        for owner in node.owners:
            self._dependents.setdefault(owner.uid, {})[node.uid] = None

    def _drop(self, uid: str) -> None:
        self._unlink(uid)
        self._nodes.pop(uid, None)

    def _bury(self, uid: str) -> None:
        self._gone[uid] = None
        if len(self._gone) > _REMEMBERED_ENDS:
            del self._gone[next(iter(self._gone))]

    def _unlink(self, uid: str) -> None:
        before = self._nodes.get(uid)
        for owner in before.owners if before else ():
            kin = self._dependents.get(owner.uid)
            if kin is not None:
                kin.pop(uid, None)
                if not kin:
                    del self._dependents[owner.uid]


def _node(resource: GroupResource, obj: Object) -> Node:
    metadata = metadata_of(obj)
    return Node(
        uid=_text(metadata, "uid"),
        resource=resource,
        namespace=namespace_of(obj),
        name=name_of(obj),
        version=_text(metadata, "resourceVersion"),
        owners=tuple(
            Owner(
                _text(reference, "apiVersion"),
                _text(reference, "kind"),
                _text(reference, "name"),
                _text(reference, "uid"),
                bool(reference.get("blockOwnerDeletion")),
            )
            for reference in metadata.get("ownerReferences") or ()
            if isinstance(reference, dict)
        ),
        finalizers=tuple(metadata.get("finalizers") or ()),
        deleting=metadata.get("deletionTimestamp") is not None,
    )


def _text(values: dict[str, Any], key: str) -> str:
    return str(values.get(key) or "")
