"""The store against a model of it: every revision stays readable, and the log tells how to get from one to the next."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.devcluster.objects import Object
from kubewright.devcluster.store import Compacted, GroupResource, Store

PODS = GroupResource("", "pods")
NODES = GroupResource("", "nodes")

names = st.sampled_from(["a", "a-b", "b"])
writes = st.lists(st.tuples(names, names, st.booleans()), max_size=40)


def replay(store: Store, steps: list[tuple[str, str, bool]]) -> dict[int, list[tuple[str, str]]]:
    """Writes, and remembers what the store held after each revision."""
    present: set[tuple[str, str]] = set()
    history = {store.revision: sorted(present, key="/".join)}
    for namespace, name, remove in steps:
        if (namespace, name) not in present:
            store.create(PODS, namespace, name, pod(namespace, name))
            present.add((namespace, name))
        elif remove:
            store.delete(PODS, namespace, name)
            present.discard((namespace, name))
        else:
            store.update(PODS, namespace, name, pod(namespace, name))
        history[store.revision] = sorted(present, key="/".join)
    return history


def pod(namespace: str, name: str) -> Object:
    return {"metadata": {"namespace": namespace, "name": name}}


def keys(objects: object) -> list[tuple[str, str]]:
    assert isinstance(objects, list)
    return [(each["metadata"]["namespace"], each["metadata"]["name"]) for each in objects]


@given(writes)
def test_every_retained_revision_can_be_listed_as_it_was(steps: list[tuple[str, str, bool]]) -> None:
    store = Store(first_revision=7)
    for revision, expected in replay(store, steps).items():
        assert keys(store.list(PODS, at=revision)) == expected
        assert keys(store.list(PODS, "a", at=revision)) == [each for each in expected if each[0] == "a"]


@given(writes, st.integers(min_value=0, max_value=40))
def test_the_log_leads_from_any_revision_to_the_present(steps: list[tuple[str, str, bool]], back: int) -> None:
    store = Store(first_revision=7)
    history = replay(store, steps)
    start = max(7, store.revision - back)
    state = set(history[start])
    revisions = []
    for change in store.changes(start, resource=PODS):
        revisions.append(change.revision)
        if change.type == "DELETED":
            state.discard((change.namespace, change.name))
        else:
            state.add((change.namespace, change.name))
        assert change.new["metadata"]["resourceVersion"] == str(change.revision)
    assert revisions == list(range(start + 1, store.revision + 1))
    assert sorted(state, key="/".join) == history[store.revision]


@given(writes, st.integers(min_value=1, max_value=5))
def test_what_was_compacted_is_refused_and_the_rest_stays(steps: list[tuple[str, str, bool]], retained: int) -> None:
    store = Store(first_revision=7, retained=retained)
    history = replay(store, steps)
    for revision, expected in history.items():
        if revision < store.oldest:
            with pytest.raises(Compacted):
                store.list(PODS, at=revision)
            with pytest.raises(Compacted):
                store.changes(revision)
        else:
            assert keys(store.list(PODS, at=revision)) == expected
    assert store.revision - store.oldest >= min(retained, len(steps))


def test_an_empty_namespace_prefix_does_not_reach_into_another() -> None:
    store = Store(first_revision=0)
    for namespace in ("a", "a-b", "ab"):
        store.create(PODS, namespace, "x", pod(namespace, "x"))
    assert keys(store.list(PODS, "a")) == [("a", "x")]
    assert keys(store.list(PODS)) == [("a-b", "x"), ("a", "x"), ("ab", "x")]  # as etcd sorts its keys


def test_objects_are_never_changed_in_place() -> None:
    store = Store(first_revision=0)
    before = pod("a", "x")
    first = store.create(PODS, "a", "x", before)
    second = store.update(PODS, "a", "x", first)
    assert before == pod("a", "x")
    assert first["metadata"]["resourceVersion"] == "1"
    assert second["metadata"]["resourceVersion"] == "2"


def test_a_listener_hears_of_its_resource_only_until_it_leaves() -> None:
    store = Store(first_revision=0)
    heard: list[str] = []
    leave_pods = store.subscribe(lambda: heard.append("pods"), resource=PODS)
    store.subscribe(lambda: heard.append("all"))
    store.create(PODS, "a", "x", pod("a", "x"))
    store.create(NODES, "", "n", {"metadata": {"name": "n"}})
    leave_pods()
    store.delete(PODS, "a", "x")
    assert heard == ["pods", "all", "all", "all"]


def test_an_object_takes_little_more_memory_than_its_json() -> None:
    """The encoder leaves up to as much room again; what is kept must not."""
    store = Store(first_revision=0)
    text = {f"key-{number}": "v" * 32 for number in range(30)}

    def create(first: int, total: int) -> None:
        for number in range(first, first + total):
            name = f"p-{number}"
            store.create(PODS, "default", name, {**pod("default", name), "spec": dict(text)})

    tracemalloc.start()
    try:
        create(0, 300)  # more than are kept decoded besides
        before, _ = tracemalloc.get_traced_memory()
        create(300, 300)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    found = store.state(PODS, "default", "p-599")
    assert found is not None
    assert (after - before) / 300 < len(found.data) + 600
