"""`Store`: what the server has, as far as we know, and never older than what we wrote. Pure; time does not occur.

The rules
    Resource versions order all states of one resource. Per key the newest state wins, whether a watch, a list or the
    answer to our own write brought it.

    What an own write removed leaves a *tombstone*, or events still on their way would bring it back. Where the answer
    has a version, older states of the key are hidden. So is that of the answer itself where the last finalizer went, as it
    is the one before; not where the object left the selection, since the server knows better what it selects. The answer to
    a DELETE has no version: all states of that UID are hidden, since UIDs are not reused. Tombstones end when the watch has
    passed them, or with a list begun after them; those of a UID where nothing is selected, as only there DELETED says that
    it is gone.

    ``progress`` is how far the watch has told everything. An own write's answer that arrives after the watch has passed
    it, for an object the store does not have, is about an object that is gone: it is ignored.

    A list shows the state at one version at least as new as its request (lists are consistent reads). Only own writes
    whose answers came after its request, and are newer than it, survive it.

    The one gap: since the answer to a DELETE has no version, one that ends an object we never saw hides that object, but
    not older ones of the same name; the watch tells of their end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

from msgspec import Struct

from kubewright.cache.entry import Entry, Key
from kubewright.cache.events import Change
from kubewright.cache.scope import Scope
from kubewright.cache.view import View

__all__ = ["Incoming", "Store"]

_STRAYS = 200
"""How many UIDs of deleted objects are kept of which the watch may never say again that they are gone."""


class Incoming:
    """A list on its way, made by `Store.begin_list` right before it is requested. Nobody sees it until it is complete."""

    def __init__(self, current: View, writes: int) -> None:
        self._current = current
        self.view = current.beside()
        self.writes = writes
        """How many own writes there were when the list was asked for."""

    def add(self, entry: Entry) -> None:
        """Takes one item; what is known in just this state already costs no memory and no indexing."""
        known = self._current.of(entry) if self._current else None
        if known is not None and known.resource_version == entry.resource_version and known.is_same(entry):
            self.view.take_over(known, self._current)
        else:
            self.view.put(entry)

    def add_all(self, entries: list[Entry]) -> None:
        if self._current:
            for entry in entries:
                self.add(entry)
        else:
            self.view.put_all(entries)

    def discard(self, entry: Entry) -> None:
        """Takes back what went while the list was on its way."""
        found = self.view.of(entry)
        if found is not None:
            self.view.drop(found)


class _Floor(Struct, frozen=True):
    """Before which version states of a key are hidden, and which own write said so."""

    version: int
    write: int


class Store:
    """Entries by key. Every method that changes something returns the changes, in order, for subscribers."""

    def __init__(self, scope: Scope, indexes: Mapping[str, Callable[[Entry], Iterable[str]]] | None = None) -> None:
        self._scope = scope
        self.view = View(indexes)
        self._incoming: Incoming | None = None
        self._progress = 0
        self._writes = 0
        self._own: dict[Key, int] = {}
        self._floors: dict[Key, _Floor] = {}
        self._deleted: dict[str, int] = {}
        self._strays: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self.view)

    @property
    def held(self) -> int:
        """Objects in memory, here or in a list on its way."""
        return max(len(self.view), 0 if self._incoming is None else len(self._incoming.view))

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.view)

    def get(self, key: Key) -> Entry | None:
        return self.view.get(key)

    def add_index(self, name: str, values_of: Callable[[Entry], Iterable[str]]) -> None:
        self.view.add_index(name, values_of)
        if self._incoming is not None:
            self._incoming.view.add_index(name, values_of)

    # what the watch says

    def upsert(self, *entries: Entry) -> list[Change]:
        """ADDED or MODIFIED, in the order of their versions."""
        self._progress = max(self._progress, entries[-1].resource_version)
        return self._newer(entries)

    def remove(self, entry: Entry) -> list[Change]:
        """DELETED: gone, or no longer selected; ``entry`` is its last state at the version of its going."""
        self._progress = max(self._progress, entry.resource_version)
        if entry.uid in self._deleted:
            if self._scope.is_selective:
                # not the end: DELETED may mean "no longer selected", and the object may have come back before we deleted it
                self._stray(entry.uid)
            else:
                del self._deleted[entry.uid]
                self._strays.pop(entry.uid, None)
        floor = self._floors.get(entry.key)
        if floor is not None and floor.version <= entry.resource_version:
            del self._floors[entry.key]
        present = self.view.of(entry)
        if present is None or present.resource_version > entry.resource_version:
            return []
        return self._drop(present)

    def advance(self, version: int) -> None:
        """A bookmark: the watch has told everything up to ``version``."""
        self._progress = max(self._progress, version)
        for key in [key for key, floor in self._floors.items() if floor.version <= version]:
            del self._floors[key]

    # what our own writes say

    def fold(self, entry: Entry, whole: bytes | None = None) -> list[Change]:
        """The object in the answer to an own write; ``whole`` is that object where the entry holds a part of it."""
        if not self._scope.covers(entry.namespace):
            return []
        if entry.ended:
            return self._end(entry, hidden=entry.resource_version + 1)
        if not self._scope.selects(entry, whole):
            return self._end(entry, hidden=entry.resource_version)
        present = self.view.of(entry)
        if entry.resource_version <= self._progress and (present is None or present.uid != entry.uid):
            return []
        if self._deleted and entry.uid in self._deleted:
            return self._end(entry, hidden=entry.resource_version)
        changes = self._newer((entry,))
        if changes:
            self._writes += 1
            self._own[entry.key] = self._writes
        return changes

    def forget(self, key: Key, uid: str) -> list[Change]:
        """An own DELETE ended the object at once."""
        if not self._scope.covers(key[0]):
            return []
        self._writes += 1
        self._deleted[uid] = self._writes
        present = self.view.get(key)
        if present is None or present.uid != uid:
            self._stray(uid)
            return []
        self._raise_floor(key, present.resource_version)  # a list on its way may still show a predecessor
        return self._drop(present)

    def _end(self, entry: Entry, *, hidden: int) -> list[Change]:
        """The object is gone with this state, or no longer selected; those before version ``hidden`` are not shown again."""
        present = self.view.of(entry)
        version = entry.resource_version
        if version < present.resource_version if present else version <= self._progress:
            return []
        self._writes += 1
        self._raise_floor(entry.key, hidden)
        return self._drop(present) if present else []

    def _raise_floor(self, key: Key, version: int) -> None:
        floor = self._floors.get(key)
        self._floors[key] = _Floor(max(version, floor.version) if floor else version, self._writes)

    # what a list says

    def begin_list(self) -> Incoming:
        """To be called right before a list is requested."""
        self._incoming = Incoming(self.view, self._writes)
        return self._incoming

    def replace(self, incoming: Incoming, version: int) -> Iterator[Change]:
        """Swaps the whole content for a list's, at once, and returns the differences; see the rules above.

        The differences are found as they are taken, so that those of a large list need not be taken all at once.
        """
        listed, begun = incoming.view, incoming.writes
        restarted = version < self._progress  # another history: its numbers can't be compared with ours
        self._hide(listed, since=begun)
        if not restarted:
            self._keep_own_writes(listed, version, since=begun)
        before, self.view, self._incoming = self.view, listed, None
        self._progress = version
        self._own = {key: write for key, write in self._own.items() if write > begun and listed.get(key) is not None}
        self._floors = {key: floor for key, floor in self._floors.items() if floor.write > begun}
        self._deleted = {uid: write for uid, write in self._deleted.items() if write > begun}
        self._strays = {uid: None for uid in self._strays if uid in self._deleted}
        gone = [Change(old, None) for old in before if listed.of(old) is None]
        return _differences(gone, before, list(listed))

    def clear(self) -> list[Change]:
        """Forgets everything: the resource itself is gone, or no longer of interest."""
        before, self.view, self._incoming = self.view, self.view.beside(), None
        self._progress = 0
        for memory in (self._own, self._floors, self._deleted, self._strays):
            memory.clear()
        return [Change(old, None) for old in before]

    def _hide(self, listed: View, *, since: int) -> None:
        """Takes out what tombstones cover that were laid after own write number ``since``."""
        for key, floor in self._floors.items():
            found = listed.get(key)
            if found is not None and floor.write > since and found.resource_version < floor.version:
                listed.drop(found)
        uids = {uid for uid, write in self._deleted.items() if write > since}
        for entry in [entry for entry in listed if entry.uid in uids] if uids else ():
            listed.drop(entry)

    def _keep_own_writes(self, listed: View, version: int, *, since: int) -> None:
        for key, write in self._own.items():
            present = self.view.get(key)
            if present is None or write <= since:
                continue
            rival = listed.get(key)
            if present.resource_version > (version if rival is None else rival.resource_version):
                listed.take_over(present, self.view)

    def _newer(self, entries: Sequence[Entry]) -> list[Change]:
        of, hiding = self.view.of, self._deleted or self._floors
        newer: list[Entry] = []
        for entry in entries:
            present = of(entry)
            if present is not None and present.resource_version >= entry.resource_version:
                continue
            if not hiding or not self._hidden(entry):
                newer.append(entry)
        if not newer:  # as is each own write, when the watch brings it once more
            return []
        before = self.view.put_all(newer)
        for key in [entry.key for entry in newer] if self._own else ():
            self._own.pop(key, None)
        changes: list[Change] = []
        for old, new in zip(before, newer, strict=True):
            changes += _steps(old, new)
        return changes

    def _drop(self, present: Entry) -> list[Change]:
        self.view.drop(present)
        self._own.pop(present.key, None)
        return _steps(present, None)

    def _stray(self, uid: str) -> None:
        self._strays[uid] = None
        if len(self._strays) > _STRAYS:
            oldest = next(iter(self._strays))
            del self._strays[oldest]
            self._deleted.pop(oldest, None)

    def _hidden(self, entry: Entry) -> bool:
        """Whether a tombstone covers this state."""
        if entry.uid in self._deleted:
            return True
        floor = self._floors.get(entry.key)
        return floor is not None and entry.resource_version < floor.version


def _differences(gone: list[Change], before: View, after: list[Entry]) -> Iterator[Change]:
    if not before:
        return map(partial(Change, None), after)
    return chain(gone, chain.from_iterable(_steps(before.of(new), new) for new in after))


def _steps(old: Entry | None, new: Entry | None) -> list[Change]:
    if old is None:
        return [] if new is None else [Change(None, new)]
    if new is None or not new.is_same(old):
        return [Change(old, None), *_steps(None, new)]
    return [] if new.resource_version == old.resource_version else [Change(old, new)]
