"""What garbage collection decides."""

from __future__ import annotations

from typing import Any

import pytest

from kubewright.devcluster.controllers.garbage.graph import Graph, Node, Owner
from kubewright.devcluster.controllers.garbage.verdict import (
    Delete,
    DropOwners,
    Finish,
    Orphan,
    OwnerState,
    Undecided,
    decide,
)
from kubewright.devcluster.finalizers import FOREGROUND, ORPHAN
from kubewright.devcluster.store import Change, GroupResource, State

CONFIGS = GroupResource("", "configmaps")


def obj(uid: str, *owners: str, blocks: bool = True, finalizers: tuple[str, ...] = (), deleting: bool = False) -> Any:
    metadata: dict[str, Any] = {"name": uid, "namespace": "default", "uid": uid, "resourceVersion": "1"}
    if owners:
        metadata["ownerReferences"] = [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": each, "uid": each, "blockOwnerDeletion": blocks}
            for each in owners
        ]
    if finalizers:
        metadata["finalizers"] = list(finalizers)
    if deleting:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return {"metadata": metadata}


def graph_of(*objects: Any) -> Graph:
    graph = Graph()
    graph.load(CONFIGS, objects)
    return graph


def verdict(graph: Graph, uid: str, states: dict[str, OwnerState] | None = None) -> Any:
    node = graph.get(uid)
    assert node is not None

    def state_of(owner: Owner, _dependent: Node) -> OwnerState:
        return (states or {})[owner.uid]

    return decide(node, graph, state_of)


def test_without_owners_nothing_is_done() -> None:
    assert graph_of(obj("a")).get("a") is None  # not even kept
    assert verdict(graph_of(obj("a", finalizers=("example.com/held",))), "a") is None


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([OwnerState.SOLID], None),
        ([OwnerState.ABSENT], Delete("Background")),
        ([OwnerState.UNKNOWN], Undecided()),
        ([OwnerState.IMPOSSIBLE], None),
        ([OwnerState.ABSENT, OwnerState.SOLID], DropOwners(("o0",))),
        ([OwnerState.WAITING, OwnerState.SOLID], DropOwners(("o0",))),
        ([OwnerState.ABSENT, OwnerState.UNKNOWN], Undecided()),
        ([OwnerState.ABSENT, OwnerState.WAITING], Delete("Background")),
    ],
)
def test_the_owners_decide(states: list[OwnerState], expected: Any) -> None:
    owners = {f"o{number}": state for number, state in enumerate(states)}
    assert verdict(graph_of(obj("a", *owners)), "a", owners) == expected


def test_foreground_deletion_is_passed_on_to_who_has_dependents() -> None:
    graph = graph_of(obj("a", "owner"), obj("b", "a"))
    assert verdict(graph, "a", {"owner": OwnerState.WAITING}) == Delete("Foreground")


def test_a_circle_is_opened_first() -> None:
    graph = graph_of(obj("a", "b"), obj("b", "a", finalizers=(FOREGROUND,), deleting=True))
    assert verdict(graph, "a", {"b": OwnerState.WAITING}) == Delete("Foreground", unblock=True)


def test_the_policy_that_an_object_carries_is_kept() -> None:
    for finalizer, policy in ((ORPHAN, "Orphan"), (FOREGROUND, "Foreground")):
        graph = graph_of(obj("a", "owner", finalizers=(finalizer,)))
        assert verdict(graph, "a", {"owner": OwnerState.ABSENT}) == Delete(policy)  # type: ignore[arg-type]


def test_an_owner_in_the_foreground_waits_only_for_those_that_block_it() -> None:
    owner = obj("a", finalizers=(FOREGROUND,), deleting=True)
    assert verdict(graph_of(owner, obj("b", "a")), "a") is None
    assert verdict(graph_of(owner, obj("b", "a", blocks=False)), "a") == Finish()


def test_orphans_are_named() -> None:
    graph = graph_of(obj("a", finalizers=(ORPHAN,), deleting=True), obj("b", "a"))
    found = verdict(graph, "a")
    assert isinstance(found, Orphan)
    assert [each.uid for each in found.dependents] == ["b"]


def change(kind: Any, new: Any) -> Change:
    return Change(2, kind, CONFIGS, "default", new["metadata"]["name"], None, State(new))


def test_changes_touch_those_whose_fate_may_change() -> None:
    graph = graph_of(obj("a"), obj("b", "a"), obj("c"))
    assert graph.take(change("MODIFIED", obj("c"))) == []
    assert graph.take(change("ADDED", obj("d", "a"))) == ["d"]
    assert graph.take(change("MODIFIED", obj("a", finalizers=(FOREGROUND,), deleting=True))) == ["a", "b", "d"]
    assert graph.take(change("DELETED", obj("b", "a"))) == ["a"]
    assert graph.take(change("DELETED", obj("a"))) == ["d"]
    assert graph.saw_end_of("a")
    assert not graph.saw_end_of("d")


def test_references_that_make_no_sense_do_no_harm() -> None:
    odd = obj("a")
    odd["metadata"]["ownerReferences"] = [{}, {"uid": None}, "x"]
    node = graph_of(odd).get("a")
    assert node is not None
    assert [owner.uid for owner in node.owners] == ["", ""]
