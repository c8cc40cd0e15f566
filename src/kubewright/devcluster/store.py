"""`Store`: every object at every retained revision.

Objects are kept as the JSON that goes out, which is a third of what they take decoded and nothing to the garbage
collector; the latest ones are kept decoded as well, for whoever reacts to their being written.

Guarantees
    Each write makes one new revision and one `Change`; changes are seen in the order of their revisions. Objects are
    never changed in place, so what a reader got stays as it was. All calls are synchronous: between two awaits of the
    caller nobody else writes.

Errors
    `Compacted` for a revision that is no longer retained. The caller has checked existence before `create`, `update` and
    `delete`: they raise KeyError otherwise. `TooLarge` where the caller sets a limit.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from sys import intern
from typing import Literal, NamedTuple

import msgspec

from kubewright.devcluster.objects import Object, has_whole_floats, with_metadata, without_whole_floats

__all__ = ["Change", "ChangeType", "Compacted", "GroupResource", "State", "Store", "TooLarge"]

_KEPT_DECODED = 256

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode

ChangeType = Literal["ADDED", "MODIFIED", "DELETED"]


class GroupResource(NamedTuple):
    """Where objects are kept: one place for all versions of a kind."""

    group: str
    plural: str

    def __str__(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural


class State:
    """One object at one revision."""

    __slots__ = ("_decoded", "api_version", "data")

    def __init__(self, obj: Object) -> None:
        self.api_version = intern(obj.get("apiVersion") or "")
        data = _encode(obj)
        if has_whole_floats(data):
            obj = without_whole_floats(obj)
            data = _encode(obj)
        self.data = bytes(memoryview(data))  # a copy, as the encoder leaves room at the end: up to as much again
        """Its JSON."""
        self._decoded: Object | None = obj

    @property
    def obj(self) -> Object:
        """The object; decoded anew each time, but for a while after it was written."""
        found = self._decoded
        if found is None:
            found = _decode(self.data)
        return found

    def forget(self) -> Object | None:
        """Keeps the JSON alone; returns the object that was kept besides."""
        found, self._decoded = self._decoded, None
        return found


class Change(NamedTuple):
    """One write."""

    revision: int
    type: ChangeType
    resource: GroupResource
    namespace: str
    name: str
    before: State | None
    after: State
    """Carries the write's resource version, of a deletion too, where it is the last state."""

    @property
    def old(self) -> Object | None:
        """The object before, None where there was none."""
        return None if self.before is None else self.before.obj

    @property
    def new(self) -> Object:
        """The object after."""
        return self.after.obj


class Compacted(LookupError):
    """The revision is older than what the store still knows."""

    def __init__(self, requested: int, oldest: int) -> None:
        super().__init__(f"too old resource version: {requested} ({oldest})")
        self.requested = requested
        self.oldest = oldest


class TooLarge(ValueError):
    """The object is larger than the caller lets it be; nothing was written."""


_revision_of = attrgetter("revision")


class _Shelf:
    """The objects of one resource, in etcd's order of keys, and its part of the log."""

    __slots__ = ("forgotten", "keys", "listeners", "log", "objects")

    def __init__(self, forgotten: int) -> None:
        self.forgotten = forgotten
        """The latest of its changes that the log no longer has: everything after this revision is known."""
        self.objects: dict[str, State] = {}
        self.keys: list[str] = []
        self.log: list[Change] = []
        self.listeners: dict[int, Callable[[], None]] = {}


def _key(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


class Store:
    """Objects by resource, namespace and name, with a log of ``retained`` changes at least.

    ``first_revision`` is the revision of the empty store.
    """

    def __init__(self, *, first_revision: int, retained: int = 10_000) -> None:
        self._first = first_revision
        self._revision = first_revision
        self._oldest = first_revision
        self._retained = retained
        self._shelves: dict[GroupResource, _Shelf] = {}
        self._log: list[Change] = []
        self._listeners: dict[int, Callable[[], None]] = {}
        self._subscriptions = 0
        self._latest: deque[State] = deque()
        self._encoded: dict[int, bytes] = {}
        """The JSON of those that are kept decoded, by the objects' ids."""

    @property
    def revision(self) -> int:
        """Of the latest write."""
        return self._revision

    @property
    def oldest(self) -> int:
        """Everything after this revision is still in the log, and lists can be read as of it.

        Of a resource that is written less often than others more is known.
        """
        return self._oldest

    def _shelf(self, resource: GroupResource) -> _Shelf:
        return self._shelves.setdefault(resource, _Shelf(self._first))

    # Reading

    def get(self, resource: GroupResource, namespace: str, name: str) -> Object | None:
        """One object as it is now; ``namespace`` is empty for cluster-scoped ones."""
        found = self.state(resource, namespace, name)
        return None if found is None else found.obj

    def state(self, resource: GroupResource, namespace: str, name: str) -> State | None:
        """The same with its JSON."""
        shelf = self._shelves.get(resource)
        return shelf.objects.get(_key(namespace, name)) if shelf else None

    def list(self, resource: GroupResource, namespace: str = "", *, at: int | None = None) -> Sequence[Object]:
        """The objects of one namespace, or of all, in order of ``namespace/name``; as of revision ``at`` if given."""
        return [state.obj for state in self.states(resource, namespace, at=at)]

    def states(self, resource: GroupResource, namespace: str = "", *, at: int | None = None) -> Sequence[State]:
        """The same with their JSON, and none decoded."""
        shelf = self._shelves.get(resource)
        if shelf is None:
            return []
        if at is not None and at < self._revision:
            past = self._as_of(shelf, at)
            prefix = f"{namespace}/" if namespace else ""
            return [past[key] for key in sorted(past) if key.startswith(prefix)]
        keys = shelf.keys
        if namespace:  # "0" is the character after "/"
            keys = keys[bisect_left(keys, f"{namespace}/") : bisect_left(keys, f"{namespace}0")]
        return [shelf.objects[key] for key in keys]

    def encoded(self, obj: Object) -> bytes | None:
        """The JSON of an object that was written a moment ago; None where it is not at hand."""
        return self._encoded.get(id(obj))

    def _as_of(self, shelf: _Shelf, revision: int) -> dict[str, State]:
        if revision < shelf.forgotten:
            raise Compacted(revision, shelf.forgotten)
        objects = dict(shelf.objects)
        for change in reversed(shelf.log):
            if change.revision <= revision:
                break
            key = _key(change.namespace, change.name)
            if change.before is None:
                del objects[key]
            else:
                objects[key] = change.before
        return objects

    def resources(self) -> Iterator[GroupResource]:
        """The resources that have, or had, objects."""
        return iter(tuple(self._shelves))

    # Writing

    def create(
        self, resource: GroupResource, namespace: str, name: str, obj: Object, *, largest: int | None = None
    ) -> Object:
        """Adds an object and returns it with its resource version. Raises `TooLarge` for more than ``largest`` bytes."""
        key = _key(namespace, name)
        shelf = self._shelf(resource)
        if key in shelf.objects:
            raise KeyError(f"{resource} {key} exists")
        state = self._next(obj, largest)
        insort(shelf.keys, key)
        return self._write(shelf, key, Change(self._revision + 1, "ADDED", resource, namespace, name, None, state))

    def update(
        self, resource: GroupResource, namespace: str, name: str, obj: Object, *, largest: int | None = None
    ) -> Object:
        """Replaces an object and returns it with its new resource version. Raises `TooLarge` as well."""
        key = _key(namespace, name)
        shelf = self._shelves[resource]
        old = shelf.objects[key]
        state = self._next(obj, largest)
        return self._write(shelf, key, Change(self._revision + 1, "MODIFIED", resource, namespace, name, old, state))

    def delete(self, resource: GroupResource, namespace: str, name: str) -> Object:
        """Removes an object and returns its last state, with the resource version of the deletion."""
        key = _key(namespace, name)
        shelf = self._shelves[resource]
        old = shelf.objects[key]
        state = self._next(old.obj, None)
        return self._write(shelf, key, Change(self._revision + 1, "DELETED", resource, namespace, name, old, state))

    def _next(self, obj: Object, largest: int | None) -> State:
        """What the next write stores of an object."""
        obj = with_metadata(obj, resourceVersion=str(self._revision + 1))
        state = State(obj)
        if largest is not None and len(state.data) > largest:
            raise TooLarge(f"{len(state.data)} bytes are more than {largest}")
        self._latest.append(state)
        self._encoded[id(state.obj)] = state.data
        if len(self._latest) > _KEPT_DECODED:
            self._encoded.pop(id(self._latest.popleft().forget()), None)
        return state

    def _write(self, shelf: _Shelf, key: str, change: Change) -> Object:
        if change.type == "DELETED":
            del shelf.objects[key]
            del shelf.keys[bisect_left(shelf.keys, key)]
        else:
            shelf.objects[key] = change.after
        self._revision = change.revision
        shelf.log.append(change)
        self._log.append(change)
        if len(self._log) >= 2 * self._retained:
            self.compact(self._log[-self._retained - 1].revision)
        for listener in (*shelf.listeners.values(), *self._listeners.values()):
            listener()
        return change.after.obj

    # The log

    def changes(
        self, after: int, *, resource: GroupResource | None = None, limit: int | None = None
    ) -> Sequence[Change]:
        """What was written after a revision, to one resource or to all, oldest first. Raises `Compacted`."""
        if resource is None:
            log, forgotten = self._log, self._oldest
        else:
            shelf = self._shelf(resource)
            log, forgotten = shelf.log, shelf.forgotten
        if after < forgotten:
            raise Compacted(after, forgotten)
        if len(log) > 1 and log[-2].revision <= after:  # all but the latest are known, as to most who were just woken
            return log[-1:] if log[-1].revision > after else []
        start = bisect_right(log, after, key=_revision_of)
        return log[start : None if limit is None else start + limit]

    def subscribe(self, listener: Callable[[], None], *, resource: GroupResource | None = None) -> Callable[[], None]:
        """Calls ``listener`` after each write, to one resource or to any, until the function returned is called.

        A listener is called in the middle of a write: it may set an event, and must not write.
        """
        listeners = self._listeners if resource is None else self._shelf(resource).listeners
        self._subscriptions += 1
        number = self._subscriptions
        listeners[number] = listener
        return lambda: listeners.pop(number, None) and None

    def compact(self, revision: int) -> None:
        """Forgets the history up to a revision; watches and lists from before it get `Compacted`."""
        self._oldest = max(self._oldest, min(revision, self._revision))
        del self._log[: bisect_right(self._log, self._oldest, key=_revision_of)]
        for shelf in self._shelves.values():
            count = bisect_right(shelf.log, self._oldest, key=_revision_of)
            if count:
                shelf.forgotten = shelf.log[count - 1].revision
                del shelf.log[:count]
