"""What is to be done about one object: the decision of garbage collection, pure."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Literal, TypeAlias

from msgspec import Struct

from kubewright.devcluster.controllers.garbage.graph import Graph, Node, Owner
from kubewright.devcluster.finalizers import FOREGROUND, ORPHAN

__all__ = ["Delete", "DropOwners", "Finish", "Orphan", "OwnerState", "Undecided", "Verdict", "decide"]


class OwnerState(Enum):
    SOLID = "solid"
    """It is there, and stays or goes without waiting for its dependents."""
    ABSENT = "absent"
    """There is no such object, or one with another UID."""
    WAITING = "waiting"
    """It is being deleted and waits for its dependents to go first."""
    UNKNOWN = "unknown"
    """Its kind is not served now, so nobody can tell."""
    IMPOSSIBLE = "impossible"
    """A cluster-scoped object can't belong to a namespaced one; such a reference is left alone for good."""


class Delete(Struct, frozen=True):
    """Delete the object. ``unblock`` first: its dependents wait for it, and it must not wait for them (a cycle)."""

    policy: Literal["Background", "Foreground", "Orphan"]
    unblock: bool = False


class DropOwners(Struct, frozen=True):
    """Others own the object still: take away the references to those that are gone or going."""

    uids: tuple[str, ...]


class Orphan(Struct, frozen=True):
    """Release the dependents, then let the object go."""

    dependents: tuple[Node, ...]


class Finish(Struct, frozen=True):
    """No dependent holds the object any more: let it go."""


class Undecided(Struct, frozen=True):
    """An owner's kind is not served; ask again when other kinds are."""


Verdict: TypeAlias = Delete | DropOwners | Orphan | Finish | Undecided | None


def decide(node: Node, graph: Graph, state_of: Callable[[Owner, Node], OwnerState]) -> Verdict:
    """The verdict on ``node``; None where nothing is to be done now."""
    if node.orphans_dependents:
        return Orphan(tuple(graph.dependents(node.uid)))
    if node.waits_for_dependents:
        blocked = any(dependent.blocks(node.uid) for dependent in graph.dependents(node.uid))
        return None if blocked else Finish()
    if node.deleting or not node.owners:
        return None
    states = [(owner, state_of(owner, node)) for owner in node.owners]
    found = {state for _, state in states}
    if OwnerState.IMPOSSIBLE in found:
        return None
    if OwnerState.UNKNOWN in found:
        return Undecided()
    if OwnerState.SOLID in found:
        going = tuple(owner.uid for owner, state in states if state is not OwnerState.SOLID)
        return DropOwners(going) if going else None
    dependents = graph.dependents(node.uid)
    if OwnerState.WAITING in found and dependents:
        return Delete("Foreground", unblock=any(dependent.waits_for_dependents for dependent in dependents))
    if ORPHAN in node.finalizers:
        return Delete("Orphan")
    return Delete("Foreground" if FOREGROUND in node.finalizers else "Background")
