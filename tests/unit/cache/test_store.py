"""The store's rules one by one; test_store_properties.py has them in every order."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kubewright.cache.entry import Entry, Marks
from kubewright.cache.events import Change
from kubewright.cache.scope import Scope
from kubewright.cache.store import Incoming, Store

CHOSEN = b'{"metadata":{"labels":{"chosen":"true"}}}'
NOT_CHOSEN = b'{"metadata":{}}'


def entry(version: int, *, uid: str = "1", name: str = "a", chosen: bool = True, ended: bool = False) -> Entry:
    return Entry(
        namespace="ns",
        name=name,
        uid_at=uid,
        resource_version=version,
        text=CHOSEN if chosen else NOT_CHOSEN,
        marks=Marks(deleting=ended, ended=ended),
    )


def replaced(store: Store, entries: Sequence[Entry], version: int, begun: Incoming) -> list[Change]:
    for each in entries:
        begun.add(each)
    return list(store.replace(begun, version))


def steps(changes: Sequence[Change]) -> list[tuple[str, int]]:
    return [(change.type.value, (change.new or change.old or entry(0)).resource_version) for change in changes]


def tombstones(store: Store) -> int:
    return len(store._floors) + len(store._deleted)


def version_of(store: Store, name: str = "a") -> int | None:
    found = store.get(("ns", name))
    return found.resource_version if found else None


@pytest.fixture
def store() -> Store:
    """Holds object "a" at version 10, and has seen all up to 10."""
    made = Store(Scope.of(None, {"chosen": "true"}, None))
    replaced(made, [entry(10)], 10, made.begin_list())
    return made


def test_an_own_write_shows_at_once_and_its_own_event_is_no_news(store: Store) -> None:
    assert steps(store.fold(entry(12))) == [("Modified", 12)]
    assert steps(store.upsert(entry(12))) == []


def test_events_older_than_an_own_write_are_ignored(store: Store) -> None:
    store.fold(entry(12))
    assert steps(store.upsert(entry(11))) == []
    assert version_of(store) == 12


def test_a_late_answer_does_not_bring_back_what_the_watch_said_is_gone(store: Store) -> None:
    store.upsert(entry(11, uid="2", name="b"))
    store.remove(entry(12, uid="2", name="b"))
    assert steps(store.fold(entry(11, uid="2", name="b"))) == []
    assert version_of(store, "b") is None


def test_after_an_own_delete_no_event_shows_the_object_again(store: Store) -> None:
    assert steps(store.forget(("ns", "a"), "1")) == [("Deleted", 10)]
    assert steps(store.upsert(entry(11))) == []
    assert steps(store.remove(entry(12))) == []
    assert steps(store.upsert(entry(13, uid="2"))) == [("Added", 13)]


def test_an_own_delete_is_not_undone_by_events_of_an_object_that_left_the_selection_before(store: Store) -> None:
    store.forget(("ns", "a"), "1")
    store.remove(entry(11))  # it left the selection
    assert steps(store.upsert(entry(12))) == []  # and came back, before we deleted it


def test_a_write_that_takes_the_object_out_of_the_selection_removes_it(store: Store) -> None:
    assert steps(store.fold(entry(13, chosen=False))) == [("Deleted", 10)]
    assert steps(store.upsert(entry(12))) == []
    assert steps(store.remove(entry(13))) == []
    assert steps(store.upsert(entry(14))) == [("Added", 14)]


def test_the_server_knows_better_what_is_selected(store: Store) -> None:
    store.fold(entry(13, chosen=False))
    assert steps(store.upsert(entry(13))) == [("Added", 13)]
    begun = store.begin_list()
    store.fold(entry(15, chosen=False))
    replaced(store, [entry(15)], 15, begun)
    assert version_of(store) == 15


def test_answers_in_the_wrong_order_leave_the_newest(store: Store) -> None:
    store.fold(entry(15, chosen=False))
    store.fold(entry(12, chosen=False))
    assert steps(store.upsert(entry(14))) == []
    assert steps(store.fold(entry(16))) == [("Added", 16)]
    assert steps(store.fold(entry(13, chosen=False))) == []
    assert version_of(store) == 16


def test_a_delete_without_version_outweighs_a_departure_with_one(store: Store) -> None:
    store.fold(entry(12, chosen=False))
    store.forget(("ns", "a"), "1")
    assert steps(store.upsert(entry(13))) == []


def test_a_write_that_lets_a_deleted_object_go_removes_it(store: Store) -> None:
    store.upsert(entry(11))
    assert steps(store.fold(entry(11, ended=True))) == [("Deleted", 11)]
    assert steps(store.remove(entry(12))) == []


def test_a_late_answer_about_a_departed_object_leaves_no_trace(store: Store) -> None:
    store.remove(entry(12))
    assert steps(store.fold(entry(11, ended=True))) == []
    assert tombstones(store) == 0


def test_a_recreated_object_is_two_events(store: Store) -> None:
    assert steps(store.upsert(entry(12, uid="2"))) == [("Deleted", 10), ("Added", 12)]


def test_the_departure_of_a_predecessor_does_not_touch_its_successor(store: Store) -> None:
    store.fold(entry(14, uid="2"))
    assert steps(store.remove(entry(13))) == []
    assert version_of(store) == 14


def test_the_end_of_an_unseen_successor_is_the_end_of_what_we_show(store: Store) -> None:
    assert steps(store.fold(entry(14, uid="2", chosen=False))) == [("Deleted", 10)]
    assert steps(store.upsert(entry(12))) == []


def test_a_late_answer_about_a_deleted_successor_ends_its_predecessor(store: Store) -> None:
    assert steps(store.forget(("ns", "a"), "2")) == []
    assert steps(store.fold(entry(14, uid="2"))) == [("Deleted", 10)]


def test_objects_of_another_namespace_are_not_taken() -> None:
    store = Store(Scope.of("elsewhere", None, None))
    assert steps(store.fold(entry(11))) == []
    assert steps(store.forget(("ns", "a"), "1")) == []
    assert tombstones(store) == 0


def test_a_list_emits_differences_only(store: Store) -> None:
    store.upsert(entry(11, uid="2", name="b"))
    store.upsert(entry(12, uid="3", name="c"))
    listed = [entry(10), entry(14, uid="2", name="b"), entry(15, uid="4", name="d")]
    changes = replaced(store, listed, 20, store.begin_list())
    assert steps(changes) == [("Deleted", 12), ("Modified", 14), ("Added", 15)]


def test_an_own_write_made_during_a_list_and_newer_than_it_survives(store: Store) -> None:
    begun = store.begin_list()
    store.fold(entry(22, uid="2", name="b"))
    store.fold(entry(23))
    assert steps(replaced(store, [entry(10)], 21, begun)) == []
    assert (version_of(store), version_of(store, "b")) == (23, 22)


def test_an_own_write_that_the_list_should_have_shown_does_not_survive_it(store: Store) -> None:
    begun = store.begin_list()
    store.fold(entry(20, uid="2", name="b"))
    assert steps(replaced(store, [entry(10)], 21, begun)) == [("Deleted", 20)]


def test_only_own_writes_survive_a_list_of_another_history(store: Store) -> None:
    store.fold(entry(30, uid="2", name="b"))
    assert steps(replaced(store, [], 4, store.begin_list())) == [("Deleted", 10), ("Deleted", 30)]
    assert steps(store.upsert(entry(5, uid="3"))) == [("Added", 5)]


def test_a_late_answer_of_the_old_server_does_not_survive_a_list_of_the_new_one(store: Store) -> None:
    begun = store.begin_list()
    store.fold(entry(30, uid="2", name="b"))
    replaced(store, [], 4, begun)
    assert len(store) == 0


def test_own_writes_count_from_the_new_history_on(store: Store) -> None:
    replaced(store, [], 4, store.begin_list())
    assert steps(store.fold(entry(6, uid="3"))) == [("Added", 6)]


def test_a_delete_made_during_a_list_hides_what_the_list_still_shows(store: Store) -> None:
    begun = store.begin_list()
    store.forget(("ns", "a"), "1")
    assert steps(replaced(store, [entry(10)], 11, begun)) == []
    assert version_of(store) is None


def test_a_delete_made_during_a_list_hides_the_predecessor_that_the_list_shows(store: Store) -> None:
    begun = store.begin_list()
    store.fold(entry(12, uid="2"))
    store.forget(("ns", "a"), "2")
    assert steps(replaced(store, [entry(10)], 11, begun)) == []


def test_a_list_begun_after_a_delete_is_believed(store: Store) -> None:
    store.fold(entry(12, chosen=False))
    assert steps(replaced(store, [entry(14)], 15, store.begin_list())) == [("Added", 14)]
    assert tombstones(store) == 0


def test_tombstones_of_the_old_history_do_not_hide_the_new_one(store: Store) -> None:
    store.fold(entry(12, chosen=False))
    assert steps(replaced(store, [entry(4, uid="9")], 5, store.begin_list())) == [("Added", 4)]


def test_an_earlier_departure_does_not_end_the_tombstone_of_a_later_one(store: Store) -> None:
    store.fold(entry(15, chosen=False))
    store.remove(entry(11))
    assert steps(store.upsert(entry(12))) == []


def test_a_bookmark_ends_the_tombstones_that_the_watch_has_passed(store: Store) -> None:
    store.fold(entry(12, chosen=False))
    store.advance(11)
    assert tombstones(store) == 1
    store.advance(12)
    assert tombstones(store) == 0


def test_tombstones_of_objects_that_were_never_here_are_bounded(store: Store) -> None:
    for number in range(3000):
        store.forget(("ns", f"other-{number}"), f"uid-{number}")
    assert tombstones(store) == 200


def test_where_nothing_is_selected_the_end_that_the_watch_tells_ends_the_tombstone() -> None:
    store = Store(Scope.of(None, None, None))
    replaced(store, [entry(10)], 10, store.begin_list())
    store.forget(("ns", "a"), "1")
    assert steps(store.upsert(entry(11))) == []
    store.remove(entry(12))
    assert tombstones(store) == 0
    assert steps(store.fold(entry(11))) == []  # the answer to a write from before
    assert version_of(store) is None
