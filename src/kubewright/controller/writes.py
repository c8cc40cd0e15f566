"""Applying without a request: what was sent for an object, and whether sending it again could change anything."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct

from kubewright.api import JSON, Resource, resource_info, to_dict
from kubewright.cache import Entry
from kubewright.controller.held_values import Additions, holds, partners
from kubewright.controller.learnt_shape import LearntShape
from kubewright.controller.quantities_written import as_written
from kubewright.patch.shape import Shape

__all__ = ["AppliedIntents", "Intent", "IntentKey", "intent_key", "intent_of"]

IntentKey = tuple[str, str, str]
"""``statefulsets.apps``, namespace (empty for cluster-scoped kinds), name."""

_WAYS = 8
"""How many ways to write the same values are remembered of one object."""
_SERVER_SET = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink")


class Intent(Struct, frozen=True):
    """One object as a controller wants it: only the fields it has an opinion on."""

    key: IntentKey
    body: dict[str, Any]
    digest: bytes
    kind: type[Resource]


class _Applied(Struct):
    intent: bytes
    uid: str
    owned: bytes | None
    values: tuple[bytes, ...]
    """Of the answer; and those that an apply of this intent overwrote although our manager owned them. None where no
    apply was needed."""
    version: int
    """The resource version that was last found to be as it should be."""


def intent_of(obj: Resource) -> Intent:
    """The body of a server-side apply: status and everything that the server sets are left out."""
    info = resource_info(type(obj))
    body = to_dict(obj)
    body.pop("status", None)
    for name in _SERVER_SET:
        body["metadata"].pop(name, None)
    if info.group == "" and info.kind == "Secret" and "stringData" in body:
        # the server turns it into data, of which we would own nothing then, nor notice what becomes of it
        plain = {key: b64encode(value.encode()).decode() for key, value in body.pop("stringData").items()}
        body["data"] = {**body.get("data", {}), **plain}
    return Intent(intent_key(obj), body, _digest(body), type(obj))


def intent_key(obj: Resource) -> IntentKey:
    return resource_info(type(obj)).qualified_plural, obj.namespace or "", obj.name


class AppliedIntents:
    """Tells whether an intent is settled, so that applying it would change nothing.

    It is when our manager owns the fields that the intent has, and no others, and the live values at its paths are the
    intent's own: as they were sent, or as every server writes and completes those of built-in kinds (quantities, the
    defaults in atomic lists). Where a server makes something else of a value, one apply is sent and its answer remembered,
    what was added to a unit for all objects that are seen for the first time: the intent is then settled as long as our
    manager owns what it owned after that and the live values at its paths are those of the answer. Anyone who changes such
    a value takes its ownership away
    (https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts), so drift always shows. A value that
    comes back without that is another way to write the same, and is not fought over.
    """

    def __init__(self, manager: str) -> None:
        self.manager = manager
        self._applied: dict[IntentKey, _Applied] = {}
        self._shapes: defaultdict[str, LearntShape] = defaultdict(LearntShape)
        self._additions: dict[str, Additions] = {}
        self._unclear: set[IntentKey] = set()
        """Found with the right owner and without the right values: the server's additions, or what was wanted before."""
        self._first: dict[str, tuple[IntentKey, asyncio.Event]] = {}
        """The first unclear one of each kind, and whether its apply has ended."""

    def is_settled(self, intent: Intent, entry: Entry) -> bool:
        known = self._applied.get(intent.key)
        first = known is None
        if known is not None and known.intent == intent.digest and known.uid == entry.uid:
            if known.version == entry.resource_version:
                return True
            first = not known.values
            owned = not first and known.owned == entry.owned_by(self.manager)
            if owned and self._values(entry.raw, intent) in known.values:
                known.version = entry.resource_version
                return True
        return self._is_as_wanted(intent, entry, first=first)

    def may_be_settled(self, intent: Intent, entry: Entry) -> bool:
        """False where the metadata alone tells that it is not; else `is_settled` needs the whole object."""
        known, owned = self._applied.get(intent.key), entry.owned_by(self.manager)
        same = known is not None and known.intent == intent.digest and known.uid == entry.uid
        if known is not None and same and (known.version == entry.resource_version or known.owned == owned):
            return True
        return owned is not None and self._shapes[intent.key[0]].digest(intent.body) == owned

    def _is_as_wanted(self, intent: Intent, entry: Entry, *, first: bool) -> bool:
        """Without having applied it: as after a start, or when somebody set back what they had changed.

        ``first``: this intent, and no other for the object, was never applied; only then what the server adds to other
        objects can't be what an intent had before.
        """
        owned = entry.owned_by(self.manager)
        learnt = self._shapes[intent.key[0]]
        if owned is None or learnt.digest(intent.body) != owned:
            return False
        additions = self._additions_of(intent)
        equal = additions.seen if first else additions.known
        live = msgspec.json.decode(entry.raw)
        if not (holds(live, intent.body, learnt.shape, equal) or _holds_as_written(live, intent, learnt.shape, equal)):
            if first:
                self._unclear.add(intent.key)
            return False
        self._remember(intent, entry)  # without values, which take as long again; there is nothing to tell them from
        return True

    async def heard_of_another(self, intent: Intent) -> bool:
        """To be asked before what is not settled is sent: whether it may be settled now, by an answer for another object.

        The first unclear intent of a kind goes ahead and the others wait for its answer, or else after a start each
        worker would send what one answer tells. Whoever goes ahead must call `ended`.
        """
        if intent.key not in self._unclear:
            return False
        first, answered = self._first.setdefault(intent.key[0], (intent.key, asyncio.Event()))
        if first == intent.key:
            return False
        await answered.wait()
        return True

    def ended(self, key: IntentKey) -> None:
        """The apply of an object has ended, well or not."""
        first, answered = self._first.get(key[0], (None, None))
        if first == key and answered is not None:
            answered.set()

    def wants_to_learn(self, intent: Intent, entry: Entry) -> bool:
        """Whether seeing the object's managedFields might show that it is settled after all."""
        return (
            intent.key not in self._applied
            and entry.owned_by(self.manager) is not None
            and not self._shapes[intent.key[0]].covers(intent.body)
        )

    def learn(self, intent: Intent, whole: bytes) -> None:
        """``whole`` is the object with its managedFields, which the cache does without."""
        fields = next((found.fields for found in _whole(whole) if self._is_ours(found)), None)
        if isinstance(fields, dict):
            self._shapes[intent.key[0]].learn(intent.body, fields)

    def record(self, intent: Intent, entry: Entry, answer: bytes, *, before: Entry | None) -> None:
        """The server answered an apply of ``intent``; ``entry`` is what the cache made of that, ``before`` what it had.

        ``entry`` must be of the answer's version: of a newer one it is not known whether it is as wanted.
        """
        if self._shapes[intent.key[0]].digest(intent.body) != entry.owned_by(self.manager):
            self.learn(intent, answer)
        kind = intent.key[0]
        if intent.key in self._unclear:
            self._unclear.discard(intent.key)
            self._additions_of(intent).learn(msgspec.json.decode(answer), intent.body, self._shapes[kind].shape)
        values = [self._values(answer, intent)]
        owned = entry.owned_by(self.manager)
        if before is not None and before.uid == entry.uid and before.owned_by(self.manager) == owned:
            values.append(self._values(before.raw, intent))
            known = self._applied.get(intent.key)
            if known is not None and known.intent == intent.digest and known.owned == owned:
                values += known.values
        self._remember(intent, entry, *list(dict.fromkeys(values))[:_WAYS])

    def _remember(self, intent: Intent, entry: Entry, *values: bytes) -> None:
        owned = entry.owned_by(self.manager)
        self._applied[intent.key] = _Applied(intent.digest, entry.uid, owned, values, entry.resource_version)

    def _additions_of(self, intent: Intent) -> Additions:
        kind = intent.key[0]
        found = self._additions.get(kind)
        if found is None:
            found = self._additions[kind] = Additions(kind)
        return found

    def forget(self, key: IntentKey) -> None:
        """The object is gone, or is to be deleted."""
        self._applied.pop(key, None)
        self._unclear.discard(key)

    def _is_ours(self, found: _Managed) -> bool:
        return found.manager == self.manager and found.operation == "Apply" and not found.subresource

    def _values(self, raw: bytes, intent: Intent) -> bytes:
        return _digest(_project(msgspec.json.decode(raw), intent.body, self._shapes[intent.key[0]].shape))


class _Managed(Struct):
    manager: str = ""
    operation: str = ""
    subresource: str = ""
    fields: Any = msgspec.field(name="fieldsV1", default=None)


class _Meta(Struct):
    managed: list[_Managed] | None = msgspec.field(name="managedFields", default=None)


class _Whole(Struct):
    metadata: _Meta


_decode_whole = msgspec.json.Decoder(_Whole).decode
_encode = msgspec.json.Encoder(order="deterministic").encode


def _whole(raw: bytes) -> list[_Managed]:
    return _decode_whole(raw).metadata.managed or []


def _digest(value: JSON) -> bytes:
    return blake2b(_encode(value), digest_size=16).digest()


def _holds_as_written(live: JSON, intent: Intent, shape: Shape, equal: Callable[[JSON, JSON, str], bool]) -> bool:
    written = as_written(intent.body, intent.kind)
    return written is not intent.body and holds(live, written, shape, equal)


def _project(live: JSON, wanted: JSON, shape: Shape) -> JSON:
    """The part of ``live`` that ``wanted`` speaks of; a list counts as a whole unless its items have keys."""
    if isinstance(live, dict) and isinstance(wanted, dict):
        return {key: _project(live[key], value, shape.child(key)) for key, value in wanted.items() if key in live}
    if isinstance(live, list) and isinstance(wanted, list) and shape.list_type == "map":
        found = partners(live, wanted, shape)
        if found is not None:
            return [_project(live[index], item, shape.items) for index, item in zip(found, wanted, strict=True)]
    return live
