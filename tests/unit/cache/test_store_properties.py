"""The store against a model server, in every order in which answers, events and lists may reach it."""

from __future__ import annotations

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kubewright.api import FieldSelector, Selector
from kubewright.cache.entry import Entry, Key, Marks
from kubewright.cache.events import Change, EventType
from kubewright.cache.scope import Scope
from kubewright.cache.store import Incoming, Store

NAMES = st.sampled_from(["a", "b"])
CHOSEN = st.booleans()
COLOURS: list[list[str]] = [[], ["red"], ["red", "blue"], ["green"]]


def colours(entry: Entry) -> list[str]:
    """An index of none, one or two values that change with each version."""
    found: list[str] = msgspec.json.decode(entry.raw)["colour"]
    return found


class State(msgspec.Struct, frozen=True):
    """One key from one version on; no entry means that there is no object."""

    version: int
    entry: Entry | None


class Server:
    """A revision log, and what its watches and lists would say."""

    def __init__(self, selective: bool) -> None:
        self.selector = Selector.parse("chosen=true") if selective else Selector()
        self.version = 10
        self.log: list[tuple[Key, State]] = []
        self.now: dict[Key, Entry] = {}
        self.began = 10
        self._uids = 0

    def write(self, name: str, chosen: bool) -> Entry:
        key = ("ns", name)
        old = self.now.get(key)
        if old is None:
            self._uids += 1
        self.version += 1
        uid = old.uid if old else f"uid-{self._uids}"
        labels = {"chosen": "true"} if chosen else {}
        raw = msgspec.json.encode({"metadata": {"labels": labels}, "colour": COLOURS[self.version % len(COLOURS)]})
        entry = Entry(namespace="ns", name=name, uid_at=uid, resource_version=self.version, text=raw)
        self._record(key, entry)
        return entry

    def delete(self, name: str) -> Entry | None:
        """Returns the last state, as a server does that answers with the object."""
        key = ("ns", name)
        last = self.now.get(key)
        if last is not None:
            self.version += 1
            self._record(key, None)
        return last

    def _record(self, key: Key, entry: Entry | None) -> None:
        self.log.append((key, State(self.version, entry)))
        if entry is None:
            self.now.pop(key, None)
        else:
            self.now[key] = entry

    def restart_empty(self, version: int) -> None:
        for key in list(self.now):
            self.log.append((key, State(version, None)))
        self.now.clear()
        self.version = self.began = version

    def selected(self) -> dict[Key, Entry]:
        return {key: entry for key, entry in self.now.items() if self.selector.matches(entry.labels)}

    def events_after(self, version: int) -> list[tuple[str, Entry]]:
        """What a watch from ``version`` says."""
        before: dict[Key, Entry | None] = {}
        events: list[tuple[str, Entry]] = []
        for key, state in self.log:
            old, new = before.get(key), state.entry
            before[key] = new
            if state.version <= version:
                continue
            was = old is not None and self.selector.matches(old.labels)
            is_now = new is not None and self.selector.matches(new.labels)
            if is_now and new is not None:
                events.append(("MODIFIED" if was else "ADDED", new))
            elif was and old is not None:
                events.append(("DELETED", msgspec.structs.replace(old, resource_version=state.version)))
        return events

    def visible_since(self, key: Key, floor: int) -> list[Entry | None]:
        """All that a reader may be shown who must not see anything older than ``floor``."""
        states = [state for changed, state in self.log if changed == key]
        past = [state for state in states if state.version <= floor][-1:]
        allowed = past + [state for state in states if state.version > floor]
        if not past:
            allowed.append(State(0, None))
        shown: list[Entry | None] = []
        for state in allowed:
            chosen = state.entry is not None and self.selector.matches(state.entry.labels)
            shown.append(state.entry if chosen else None)
        return shown


class Answer(msgspec.Struct, frozen=True):
    """An own write's answer that is on its way; ``floor`` is the version from which on nothing older may be read."""

    key: Key
    floor: int
    entry: Entry | None = None
    uid: str = ""


class StoreMachine(RuleBasedStateMachine):
    @initialize(selective=st.booleans(), synced=st.booleans())
    def start(self, selective: bool, synced: bool) -> None:
        self.server = Server(selective)
        self.store = Store(Scope(None, self.server.selector, FieldSelector()), {"colour": colours})
        self.mirror: dict[Key, Entry] = {}
        self.answers: list[Answer] = []
        self.floors: dict[Key, int] = {}
        self.position: int | None = None
        self.begun: Incoming | None = None
        self.snapshot: tuple[list[Entry], int] | None = None
        self.seen: set[str] = set()
        self.deleted: set[str] = set()
        self.comparable = True
        if synced:
            self.list_is_asked_for()
            self.server_takes_the_snapshot()
            self.list_arrives()

    # the world

    @rule(name=NAMES, chosen=CHOSEN)
    def others_write(self, name: str, chosen: bool) -> None:
        self.server.write(name, chosen)

    @rule(name=NAMES)
    def others_delete(self, name: str) -> None:
        self.server.delete(name)

    @precondition(lambda self: len(self.server.log) > 6)
    @rule(low=st.booleans(), answers_lost=st.booleans())
    def server_restarts_empty(self, low: bool, answers_lost: bool) -> None:
        """Either with a later first version, as ours does, or from the beginning, as a wiped etcd does."""
        self.position = self.begun = self.snapshot = None
        if low:
            self.answers.clear()
            self.floors.clear()
            self.comparable = False
            self.server.log.clear()
            self.server.now.clear()
            self.server.version = self.server.began = 3
        else:
            self.server.restart_empty(self.server.version + 1000)
            if answers_lost:
                self.answers.clear()

    # our own writes: the server has them at once, the answer comes when it comes

    @rule(name=NAMES, chosen=CHOSEN)
    def own_write(self, name: str, chosen: bool) -> None:
        entry = self.server.write(name, chosen)
        self.answers.append(Answer(entry.key, entry.resource_version, entry))

    @rule(name=NAMES)
    def own_delete(self, name: str) -> None:
        last = self.server.delete(name)
        if last is not None:
            self.answers.append(Answer(last.key, self.server.version, uid=last.uid))

    @rule(name=NAMES)
    def own_write_that_removes_the_last_finalizer(self, name: str) -> None:
        last = self.server.delete(name)
        if last is not None:
            ended = msgspec.structs.replace(last, marks=Marks(deleting=True, ended=True))
            self.answers.append(Answer(last.key, self.server.version, ended))

    @precondition(lambda self: self.answers)
    @rule(data=st.data())
    def answer_arrives(self, data: st.DataObject) -> None:
        answer = self.answers.pop(data.draw(st.integers(0, len(self.answers) - 1), label="which"))
        # the answer to a DELETE does not tell its version: about an object that we never saw it says no more than its UID
        told = answer.entry is not None or answer.uid in self.seen
        if answer.entry is not None:
            self.take(self.store.fold(answer.entry))
        else:
            self.take(self.store.forget(answer.key, answer.uid))
            self.deleted.add(answer.uid)
        if self.comparable and told:
            self.floors[answer.key] = max(answer.floor, self.floors.get(answer.key, 0))

    # the reflector

    @precondition(lambda self: self.position is not None)
    @rule(count=st.integers(1, 4))
    def watch_delivers(self, count: int) -> None:
        assert self.position is not None
        for kind, entry in self.server.events_after(self.position)[:count]:
            self.take(self.store.remove(entry) if kind == "DELETED" else self.store.upsert(entry))
            self.position = entry.resource_version

    @precondition(lambda self: self.position is not None)
    @rule()
    def bookmark_comes(self) -> None:
        assert self.position is not None
        if not self.server.events_after(self.position):
            self.position = self.server.version
            self.store.advance(self.position)

    @rule()
    def list_is_asked_for(self) -> None:
        self.position = self.snapshot = None
        self.begun = self.store.begin_list()

    @precondition(lambda self: self.begun is not None and self.snapshot is None)
    @rule()
    def server_takes_the_snapshot(self) -> None:
        self.snapshot = (list(self.server.selected().values()), self.server.version)

    @precondition(lambda self: self.snapshot is not None)
    @rule()
    def list_arrives(self) -> None:
        assert self.snapshot is not None
        assert self.begun is not None
        entries, version = self.snapshot
        for entry in entries:
            self.begun.add(entry)
        self.take(list(self.store.replace(self.begun, version)))
        self.position, self.begun, self.snapshot = version, None, None
        self.comparable = True

    # what must hold

    def take(self, changes: list[Change]) -> None:
        """A subscriber that knows nothing but the changes."""
        for change in changes:
            entry = change.new or change.old
            assert entry is not None
            if change.type is EventType.ADDED:
                assert entry.key not in self.mirror
            else:
                assert self.mirror[entry.key] is change.old
            if change.new is None:
                del self.mirror[entry.key]
            else:
                assert change.old is None or change.old.uid == change.new.uid
                self.mirror[entry.key] = change.new
                self.seen.add(change.new.uid)

    @invariant()
    def subscribers_know_what_the_store_has(self) -> None:
        assert {entry.key: entry for entry in self.store} == self.mirror

    @invariant()
    def every_index_equals_its_recomputation(self) -> None:
        expected: dict[str, set[Entry]] = {}
        for entry in self.store:
            for value in colours(entry):
                expected.setdefault(value, set()).add(entry)
        assert self.store.view.index("colour").all() == expected
        assert self.store.view.bytes == sum(len(entry.raw) for entry in self.store)
        assert len(self.store) == len(list(self.store))

    @invariant()
    def a_read_after_an_own_write_never_returns_older_state(self) -> None:
        for key, floor in self.floors.items():
            seen = self.store.get(key)
            allowed = self.server.visible_since(key, floor)
            assert any(same(seen, state) for state in allowed), (key, floor, seen, allowed)

    @invariant()
    def what_we_deleted_is_never_seen_again(self) -> None:
        assert not self.deleted & {entry.uid for entry in self.store}

    @invariant()
    def what_was_read_once_is_never_followed_by_something_older(self) -> None:
        if self.comparable:
            for entry in self.store:
                self.floors[entry.key] = max(entry.resource_version, self.floors.get(entry.key, 0))

    def teardown(self) -> None:
        """Once all answers and events have come, the store has exactly what the server has."""
        while self.answers:
            answer = self.answers.pop()
            if answer.entry is not None:
                self.take(self.store.fold(answer.entry))
            else:
                self.take(self.store.forget(answer.key, answer.uid))
        if self.position is None:
            self.list_is_asked_for()
            self.server_takes_the_snapshot()
            self.list_arrives()
        self.watch_delivers(1000)
        self.subscribers_know_what_the_store_has()
        have = {entry.key: entry.resource_version for entry in self.store}
        assert have == {key: entry.resource_version for key, entry in self.server.selected().items()}


def same(seen: Entry | None, state: Entry | None) -> bool:
    if seen is None or state is None:
        return seen is state
    return seen.uid == state.uid and seen.resource_version == state.resource_version


TestStore = StoreMachine.TestCase
TestStore.settings = settings(max_examples=150, stateful_step_count=40, deadline=None, database=None)
