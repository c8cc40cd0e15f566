"""What is remembered of values: what is used stays, and it never grows past its bound."""

from __future__ import annotations

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
    assert all(twice(EntryParser(info), 100))
    assert not any(twice(EntryParser(info), 1_000))  # of few objects, or ever new ones, most is forgotten
