"""What is remembered of values: what is used stays, and it never grows past its bound."""

from __future__ import annotations

import tracemalloc

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from kubewright.api import resource_info
from kubewright.cache import Entry
from kubewright.cache.parsing import EntryParser
from kubewright.cache.recent import Once
from kubewright.kinds.core_v1 import ConfigMap


@given(st.lists(st.integers(0, 30), max_size=200), st.integers(1, 8))
def test_the_last_ones_are_there_and_never_more_than_twice_as_many(used: list[int], least: int) -> None:
    once: Once[tuple[int]] = Once(lambda: least)
    first: dict[int, tuple[int]] = {}
    for at, number in enumerate(used):
        value = (number,)
        found = once[value]
        assert found == value
        if number in used[max(at - least, 0) : at]:
            assert found is first[number]
        first[number] = found
        assert once.kept <= 2 * least


def test_the_bound_follows_what_it_is_asked_of() -> None:
    bound = [2]
    once: Once[int] = Once(lambda: bound[0])
    for number in range(100):
        once[number]
    assert 2 <= once.kept <= 4
    bound[0] = 50
    for number in range(100, 200):
        once[number]
    assert 50 <= once.kept <= 100


def owned_by(uid: str) -> bytes:
    owner = {"uid": uid, "controller": True}
    metadata = {"name": "n", "namespace": "ns", "resourceVersion": "1", "ownerReferences": [owner]}
    return msgspec.json.encode({"metadata": metadata})


def twice(parser: EntryParser, owners: int) -> list[bool]:
    """Whether the second object of each owner shares what the first one has of it."""
    first: list[Entry] = [parser.parse(owned_by(f"owner-{number}")) for number in range(owners)]
    second = [parser.parse(owned_by(f"owner-{number}")) for number in range(owners)]
    return [one.owners is other.owners for one, other in zip(first, second, strict=True)]


def test_what_many_objects_have_in_common_is_remembered_for_as_many_as_there_are() -> None:
    info = resource_info(ConfigMap)
    assert all(twice(EntryParser(info, objects=lambda: 8_000), 1_000))
    assert all(twice(EntryParser(info), 16))
    assert not any(twice(EntryParser(info), 1_000))  # of few objects, or ever new ones, most is forgotten


def test_what_a_few_objects_leave_behind_that_come_and_go_is_little() -> None:
    parser = EntryParser(resource_info(ConfigMap), objects=lambda: 50)

    def come(number: int) -> None:
        uid = f"5f0e3c61-9b7d-4c1e-8f52-{number:012}"
        owned: dict[str, object] = {"f:metadata": {"f:ownerReferences": {f'k:{{"uid":"{uid}"}}': {}}}}
        metadata = {
            "name": f"n-{number}",
            "namespace": "ns",
            "resourceVersion": "1",
            "ownerReferences": [{"uid": uid, "controller": True}],
            "managedFields": [{"manager": "op", "operation": "Apply", "time": "t", "fieldsV1": owned}],
        }
        parser.parse(msgspec.json.encode({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}))

    come(0)
    tracemalloc.start()
    try:
        for number in range(2_000):
            come(number)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 80_000
