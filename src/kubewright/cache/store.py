"""`Store`: what the server has, as far as we know, and never older than what we wrote. Pure; time does not occur.

The rules
    Resource versions order all states of one resource. Per key the newest state wins, whether a watch, a list or the
    answer to our own write brought it.

    A *tombstone* marks an object (by UID) that we know to be gone: states of it that still come down the watch are
    ignored. One with a resource version hides states up to that version; one without (the answer to a DELETE has none)
    hides all of them, since UIDs are not reused. It ends when the watch has passed it, or with a list begun after it.

    ``progress`` is how far the watch has told everything. An own write's answer that arrives after the watch has passed
    it, for an object the store does not have, is about an object that is gone: it is ignored.

    The one gap: the answer to a DELETE has no version, so when it ends an object that we never saw while we still show
    its predecessor of the same name, the predecessor stays until the watch has told of both.

    A list shows the state at one version at least as new as its request (lists are consistent reads). Only own writes
    whose answers came after its request, and are newer than it, survive it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from kubewright.cache.entry import Entry, Key
from kubewright.cache.events import Change
from kubewright.cache.scope import Scope

__all__ = ["ListBegun", "Store"]

_STRAY_TOMBSTONES = 1000
"""How many tombstones without a version are kept for objects that the store does not hold."""


class ListBegun(Struct, frozen=True):
    """The moment a list was asked for, in our own writes; made by `Store.begin_list`."""

    writes: int


class _Tombstone(Struct, frozen=True):
    version: int | None
    write: int


class Store:
    """Entries by key. Every method that changes something returns the changes, in order, for subscribers."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._entries: dict[Key, Entry] = {}
        self._progress = 0
        self._writes = 0
        self._own: dict[Key, int] = {}
        self._tombstones: dict[str, _Tombstone] = {}
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
        self._end_tombstone(entry)
        present = self._entries.get(entry.key)
        if present is None or present.resource_version > entry.resource_version:
            return []
        return self._drop(present)

    def advance(self, version: int) -> None:
        """A bookmark: the watch has told everything up to ``version``."""
        self._progress = max(self._progress, version)
        passed = [uid for uid, grave in self._tombstones.items() if grave.version and grave.version <= version]
        for uid in passed:
            del self._tombstones[uid]

    # what our own writes say

    def fold(self, entry: Entry) -> list[Change]:
        """The object in the answer to an own write."""
        if not self._scope.covers(entry.namespace):
            return []
        if entry.ended or not self._scope.selects(entry):
            return self._bury(entry.key, entry.uid, entry.resource_version)
        present = self._entries.get(entry.key)
        if entry.resource_version <= self._progress and (present is None or present.uid != entry.uid):
            return []
        changes = self._newer(entry)
        if changes:
            self._writes += 1
            self._own[entry.key] = self._writes
        return changes

    def forget(self, key: Key, uid: str) -> list[Change]:
        """An own DELETE ended the object at once."""
        return self._bury(key, uid, None) if self._scope.covers(key[0]) else []

    def _bury(self, key: Key, uid: str, version: int | None) -> list[Change]:
        """The object ended, or left the selection, at ``version``; None when the answer did not tell."""
        present = self._entries.get(key)
        if present is not None and present.uid != uid:
            present = None
        if version is not None:
            passed = self._progress >= version if present is None else present.resource_version > version
            if passed:
                return []
        grave = self._tombstones.get(uid)
        if grave is not None:
            version = None if version is None or grave.version is None else max(version, grave.version)
        self._writes += 1
        self._tombstones[uid] = _Tombstone(version, self._writes)
        if present is not None:
            return self._drop(present)
        if version is None:
            self._bound(uid)
        return []

    # what a list says

    def begin_list(self) -> ListBegun:
        """To be called right before a list is requested."""
        return ListBegun(self._writes)

    def replace(self, entries: Iterable[Entry], version: int, begun: ListBegun) -> list[Change]:
        """Swaps the whole content for a list's, and returns the differences; see the rules above."""
        listed = {entry.key: entry for entry in entries if not self._buried(entry, since=begun.writes)}
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
        self._tombstones = {uid: grave for uid, grave in self._tombstones.items() if grave.write > begun.writes}
        self._strays = {uid: None for uid in self._strays if uid in self._tombstones}
        gone = [change for key, old in before.items() if key not in listed for change in _steps(old, None)]
        return gone + [change for key, new in listed.items() for change in _steps(before.get(key), new)]

    def _newer(self, entry: Entry) -> list[Change]:
        present = self._entries.get(entry.key)
        if self._buried(entry) or (present is not None and present.resource_version >= entry.resource_version):
            return []
        self._entries[entry.key] = entry
        self._own.pop(entry.key, None)
        return _steps(present, entry)

    def _drop(self, present: Entry) -> list[Change]:
        del self._entries[present.key]
        self._own.pop(present.key, None)
        return _steps(present, None)

    def _end_tombstone(self, entry: Entry) -> None:
        grave = self._tombstones.get(entry.uid)
        if grave is None:
            return
        if grave.version is None:
            # DELETED may mean "no longer selected", and the object may come back into the selection before it goes
            self._bound(entry.uid)
        elif grave.version <= entry.resource_version:
            del self._tombstones[entry.uid]

    def _bound(self, uid: str) -> None:
        """Keeps a tombstone of which we may never hear again, and lets the oldest such one go."""
        self._strays[uid] = None
        if len(self._strays) > _STRAY_TOMBSTONES:
            oldest = next(iter(self._strays))
            del self._strays[oldest]
            self._tombstones.pop(oldest, None)

    def _buried(self, entry: Entry, *, since: int = 0) -> bool:
        grave = self._tombstones.get(entry.uid)
        if grave is None or grave.write <= since:
            return False
        return grave.version is None or entry.resource_version <= grave.version


def _steps(old: Entry | None, new: Entry | None) -> list[Change]:
    if old is None:
        return [] if new is None else [Change(None, new)]
    if new is None or new.uid != old.uid:
        return [Change(old, None), *_steps(None, new)]
    return [] if new.resource_version == old.resource_version else [Change(old, new)]
