"""`Store`: what the server has, as far as we know, and never older than what we wrote. Pure; time does not occur.

The rules
    Resource versions order all states of one resource. Per key the newest state wins, whether a watch, a list or the
    answer to our own write brought it.

    What an own write removed leaves a *tombstone*, or events still on their way would bring it back. Where the answer
    has a version (the object left the selection, or its last finalizer went), states of the key up to that version are
    hidden. The answer to a DELETE has none: all states of that UID are hidden, since UIDs are not reused. Tombstones
    end when the watch has passed them, or with a list begun after them.

    ``progress`` is how far the watch has told everything. An own write's answer that arrives after the watch has passed
    it, for an object the store does not have, is about an object that is gone: it is ignored.

    A list shows the state at one version at least as new as its request (lists are consistent reads). Only own writes
    whose answers came after its request, and are newer than it, survive it.

    The one gap: since the answer to a DELETE has no version, one that ends an object we never saw hides that object, but
    not older ones of the same name; the watch tells of their end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from kubewright.cache.entry import Entry, Key
from kubewright.cache.events import Change
from kubewright.cache.scope import Scope

__all__ = ["ListBegun", "Store"]

_STRAYS = 1000
"""How many UIDs of deleted objects are kept of which the watch may never say again that they are gone."""


class ListBegun(Struct, frozen=True):
    """The moment a list was asked for, in our own writes; made by `Store.begin_list`."""

    writes: int


class _Floor(Struct, frozen=True):
    """Up to which version states of a key are hidden, and which own write said so."""

    version: int
    write: int


class Store:
    """Entries by key. Every method that changes something returns the changes, in order, for subscribers."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._entries: dict[Key, Entry] = {}
        self._progress = 0
        self._writes = 0
        self._own: dict[Key, int] = {}
        self._floors: dict[Key, _Floor] = {}
        self._deleted: dict[str, int] = {}
        self._strays: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def get(self, key: Key) -> Entry | None:
        return self._entries.get(key)

    # what the watch says

    def upsert(self, entry: Entry) -> list[Change]:
        """ADDED or MODIFIED."""
        self._progress = max(self._progress, entry.resource_version)
        return self._newer(entry)

    def remove(self, entry: Entry) -> list[Change]:
        """DELETED: gone, or no longer selected; ``entry`` is its last state at the version of its going."""
        self._progress = max(self._progress, entry.resource_version)
        if entry.uid in self._deleted:
            # not the end: DELETED may mean "no longer selected", and the object may have come back before we deleted it
            self._stray(entry.uid)
        floor = self._floors.get(entry.key)
        if floor is not None and floor.version <= entry.resource_version:
            del self._floors[entry.key]
        present = self._entries.get(entry.key)
        if present is None or present.resource_version > entry.resource_version:
            return []
        return self._drop(present)

    def advance(self, version: int) -> None:
        """A bookmark: the watch has told everything up to ``version``."""
        self._progress = max(self._progress, version)
        for key in [key for key, floor in self._floors.items() if floor.version <= version]:
            del self._floors[key]

    # what our own writes say

    def fold(self, entry: Entry) -> list[Change]:
        """The object in the answer to an own write."""
        if not self._scope.covers(entry.namespace):
            return []
        if entry.ended or not self._scope.selects(entry):
            return self._end(entry.key, entry.resource_version)
        present = self._entries.get(entry.key)
        if entry.resource_version <= self._progress and (present is None or present.uid != entry.uid):
            return []
        if entry.uid in self._deleted:
            return self._end(entry.key, entry.resource_version)
        changes = self._newer(entry)
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
        present = self._entries.get(key)
        if present is None or present.uid != uid:
            self._stray(uid)
            return []
        self._raise_floor(key, present.resource_version)  # a list on its way may still show a predecessor
        return self._drop(present)

    def _end(self, key: Key, version: int) -> list[Change]:
        """What the key had up to ``version`` is gone, or no longer selected."""
        present = self._entries.get(key)
        if version < present.resource_version if present else version <= self._progress:
            return []
        self._writes += 1
        self._raise_floor(key, version)
        return self._drop(present) if present else []

    def _raise_floor(self, key: Key, version: int) -> None:
        floor = self._floors.get(key)
        self._floors[key] = _Floor(max(version, floor.version) if floor else version, self._writes)

    # what a list says

    def begin_list(self) -> ListBegun:
        """To be called right before a list is requested."""
        return ListBegun(self._writes)

    def replace(self, entries: Iterable[Entry], version: int, begun: ListBegun) -> list[Change]:
        """Swaps the whole content for a list's, and returns the differences; see the rules above."""
        listed = {entry.key: entry for entry in entries if not self._hidden(entry, since=begun.writes)}
        restarted = version < self._progress  # another history: its numbers can't be compared with ours
        for key, present in self._entries.items():
            own = self._own.get(key, 0) > begun.writes and not restarted
            rival = listed.get(key)
            floor = version if rival is None else rival.resource_version
            if own and present.resource_version > floor:
                listed[key] = present
        before, self._entries = self._entries, listed
        self._progress = version
        self._own = {key: write for key, write in self._own.items() if write > begun.writes and key in listed}
        self._floors = {key: floor for key, floor in self._floors.items() if floor.write > begun.writes}
        self._deleted = {uid: write for uid, write in self._deleted.items() if write > begun.writes}
        self._strays = {uid: None for uid in self._strays if uid in self._deleted}
        gone = [change for key, old in before.items() if key not in listed for change in _steps(old, None)]
        return gone + [change for key, new in listed.items() for change in _steps(before.get(key), new)]

    def _newer(self, entry: Entry) -> list[Change]:
        present = self._entries.get(entry.key)
        if self._hidden(entry) or (present is not None and present.resource_version >= entry.resource_version):
            return []
        self._entries[entry.key] = entry
        self._own.pop(entry.key, None)
        return _steps(present, entry)

    def _drop(self, present: Entry) -> list[Change]:
        del self._entries[present.key]
        self._own.pop(present.key, None)
        return _steps(present, None)

    def _stray(self, uid: str) -> None:
        self._strays[uid] = None
        if len(self._strays) > _STRAYS:
            oldest = next(iter(self._strays))
            del self._strays[oldest]
            self._deleted.pop(oldest, None)

    def _hidden(self, entry: Entry, *, since: int = 0) -> bool:
        """Whether a tombstone laid after own write number ``since`` covers this state."""
        floor = self._floors.get(entry.key)
        if floor is not None and floor.write > since and entry.resource_version <= floor.version:
            return True
        return self._deleted.get(entry.uid, 0) > since


def _steps(old: Entry | None, new: Entry | None) -> list[Change]:
    if old is None:
        return [] if new is None else [Change(None, new)]
    if new is None or new.uid != old.uid:
        return [Change(old, None), *_steps(None, new)]
    return [] if new.resource_version == old.resource_version else [Change(old, new)]
