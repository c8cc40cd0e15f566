"""Applying without a request: what was sent for an object, and whether sending it again could change anything."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct

from kubewright.api import JSON, Resource, resource_info, to_dict
from kubewright.cache import Entry

__all__ = ["AppliedIntents", "Intent", "IntentKey", "intent_key", "intent_of"]

IntentKey = tuple[str, str, str]
"""``statefulsets.apps``, namespace (empty for cluster-scoped kinds), name."""


class Intent(Struct, frozen=True):
    """One object as a controller wants it: only the fields it has an opinion on."""

    key: IntentKey
    body: dict[str, Any]
    digest: bytes


class _Applied(Struct, frozen=True):
    intent: bytes
    uid: str
    owned: bytes | None
    values: bytes


def intent_of(obj: Resource) -> Intent:
    """The body of a server-side apply: status and everything that the server sets are left out."""
    body = to_dict(obj)
    body.pop("status", None)
    for name in ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"):
        body["metadata"].pop(name, None)
    return Intent(intent_key(obj), body, _digest(body))


def intent_key(obj: Resource) -> IntentKey:
    return resource_info(type(obj)).qualified_plural, obj.namespace or "", obj.name


class AppliedIntents:
    """Remembers the server's answer to each intent.

    An intent is settled when it is the one that was sent last, our manager still owns what it owned after that apply,
    and the live values at the intent's paths are those of the answer. Anyone who changes such a value takes its
    ownership away (https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts), so drift always shows.
    """

    def __init__(self, manager: str) -> None:
        self.manager = manager
        self._applied: dict[IntentKey, _Applied] = {}

    def is_settled(self, intent: Intent, entry: Entry, live: bytes) -> bool:
        applied = self._applied.get(intent.key)
        return (
            applied is not None
            and applied.intent == intent.digest
            and applied.uid == entry.uid
            and applied.owned == entry.owned_by(self.manager)
            and applied.values == _values(live, intent.body)
        )

    def record(self, intent: Intent, entry: Entry, answer: bytes) -> None:
        self._applied[intent.key] = _Applied(
            intent.digest, entry.uid, entry.owned_by(self.manager), _values(answer, intent.body)
        )

    def forget(self, key: IntentKey) -> None:
        """The object is gone, or is to be deleted."""
        self._applied.pop(key, None)


def _digest(value: JSON) -> bytes:
    return blake2b(msgspec.json.encode(value, order="deterministic"), digest_size=16).digest()


def _values(raw: bytes, body: dict[str, Any]) -> bytes:
    metadata = {key: value for key, value in body["metadata"].items() if key != "uid"}  # sent as a precondition only
    return _digest(_project(msgspec.json.decode(raw), {**body, "metadata": metadata}))


def _project(live: Any, wanted: Any) -> Any:
    """The part of ``live`` that ``wanted`` speaks of; a list counts as a whole."""
    if isinstance(live, dict) and isinstance(wanted, dict):
        return {key: _project(live[key], value) for key, value in wanted.items() if key in live}
    return live
