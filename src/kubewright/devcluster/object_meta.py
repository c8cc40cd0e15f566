"""`metadata`, which is the same for all kinds: read, filled in, checked."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from kubewright.devcluster.objects import Object, metadata_of, with_metadata
from kubewright.schema.go_text import quoted

__all__ = [
    "generated_name",
    "kept_from",
    "new_uid",
    "read_metadata",
    "stamped",
]

_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
_TIMES = frozenset({"creationTimestamp", "deletionTimestamp"})
_TEXT = (str, "string", None, "")
_NUMBER = (int, "int64", None, "")
_TEXTS = (dict, "map[string]string", str, "string")
_TYPES: Mapping[str, tuple[type, str, type | None, str]] = {
    "name": _TEXT,
    "generateName": _TEXT,
    "namespace": _TEXT,
    "selfLink": _TEXT,
    "uid": _TEXT,
    "resourceVersion": _TEXT,
    "generation": _NUMBER,
    "creationTimestamp": _TEXT,
    "deletionTimestamp": _TEXT,
    "deletionGracePeriodSeconds": _NUMBER,
    "labels": _TEXTS,
    "annotations": _TEXTS,
    "ownerReferences": (list, "[]v1.OwnerReference", dict, "v1.OwnerReference"),
    "finalizers": (list, "[]string", str, "string"),
    "managedFields": (list, "[]v1.ManagedFieldsEntry", dict, "v1.ManagedFieldsEntry"),
}
_PLAIN = frozenset(key for key, value in _TYPES.items() if value is _TEXT) - _TIMES
_NOTHING = object()
_JSON_NAMES = {str: "string", bool: "bool", int: "number", float: "number", list: "array", dict: "object"}

_SUFFIX_LENGTH = 5
_SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_LONGEST_GENERATED = 63


def _wrong(value: Any, field: str, go_type: str) -> ValueError:
    found = _JSON_NAMES.get(type(value), "value")
    return ValueError(f"json: cannot unmarshal {found} into Go struct field ObjectMeta.{field} of type {go_type}")


def read_metadata(metadata: Any, before: Mapping[str, Any] = MappingProxyType({})) -> tuple[dict[str, Any], list[str]]:
    """An ObjectMeta without nulls, empty values and unknown fields, and the paths of those.

    ``before`` is one that was read already: what ``metadata`` shares with it is taken as it is.

    Raises ValueError, in the words of Go's decoder, for values of the wrong type.
    """
    if not isinstance(metadata, dict):
        found = _JSON_NAMES.get(type(metadata), "value")
        raise ValueError(f"json: cannot unmarshal {found} into Go value of type v1.ObjectMeta")  # noqa: TRY004
    result = {}
    unknown = []
    for key, value in metadata.items():
        if (type(value) is str and value and key in _PLAIN) or before.get(key, _NOTHING) is value:
            result[key] = value
        elif key not in _TYPES:
            unknown.append(f"metadata.{key}")
        elif value is not None:
            _check(key, value)
            if key in _ITEMS:
                value = _read_items(key, value, unknown)  # noqa: PLW2901
            elif key in _TEXTS_ONLY:
                value = _without_nulls(value)  # noqa: PLW2901
            if value or key == "deletionGracePeriodSeconds":
                result[key] = value
    return result, unknown


_ITEMS = {
    "ownerReferences": frozenset({"apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"}),
    "managedFields": frozenset({"manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"}),
}


_TEXTS_ONLY = frozenset({"labels", "annotations", "finalizers"})


def _without_nulls(texts: Any) -> Any:
    """Go's decoder leaves a string empty for a null: a label without a value in YAML is such a null."""
    if isinstance(texts, dict):
        return {key: text or "" for key, text in texts.items()} if None in texts.values() else texts
    return [text or "" for text in texts]


def _read_items(key: str, items: list[dict[str, Any]], unknown: list[str]) -> list[dict[str, Any]]:
    known = _ITEMS[key]
    if all(item.keys() <= known for item in items):
        return items
    unknown += [
        f"metadata.{key}[{index}].{name}" for index, item in enumerate(items) for name in item if name not in known
    ]
    return [{name: value for name, value in item.items() if name in known} for item in items]


def _holds(expected: type, value: Any) -> bool:
    return isinstance(value, expected) and not isinstance(value, bool)  # to JSON, true is no number


def _check(key: str, value: Any) -> None:
    expected, go_type, item_type, item_go_type = _TYPES[key]
    if not _holds(expected, value):
        raise _wrong(value, key, go_type)
    if key in _TIMES and value and _TIME.fullmatch(value) is None:
        layout = '"2006-01-02T15:04:05Z07:00"'
        raise ValueError(f'parsing time {quoted(value)} as {layout}: cannot parse {quoted(value)} as "2006"')
    if item_type is not None:
        for item in value.values() if expected is dict else value:
            if not _holds(item_type, item) and not (item is None and item_type is str):
                raise _wrong(item, key, item_go_type)


_VERSION_AND_VARIANT = 0x4000_8000_0000_0000_0000
_RANDOM_BITS = 2**128 - 1 - 0xF000_C000_0000_0000_0000


def new_uid(rng: random.Random) -> str:
    """A random UUID (RFC 9562, version 4)."""
    digits = f"{rng.getrandbits(128) & _RANDOM_BITS | _VERSION_AND_VARIANT:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def generated_name(prefix: str, rng: random.Random) -> str:
    """``prefix`` and a random ending, of letters and digits that spell no words."""
    ending = "".join(rng.choices(_SUFFIX_ALPHABET, k=_SUFFIX_LENGTH))
    return prefix[: _LONGEST_GENERATED - _SUFFIX_LENGTH] + ending


_SERVERS_OWN = ("generation", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion")


def stamped(obj: Object, *, namespace: str, now: str, rng: random.Random) -> Object:
    """A new object with what only the server sets: uid and creation time; nothing of what the caller put there."""
    metadata = {**metadata_of(obj), "namespace": namespace, "uid": new_uid(rng), "creationTimestamp": now}
    if not namespace:
        del metadata["namespace"]
    for key in _SERVERS_OWN:
        metadata.pop(key, None)
    return {**obj, "metadata": metadata}


def kept_from(old: Object, new: Object) -> Object:
    """``new`` with the parts of its metadata that an update never changes taken from ``old``."""
    before, after = metadata_of(old), metadata_of(new)
    return with_metadata(
        new,
        uid=after.get("uid") or before.get("uid"),
        creationTimestamp=before.get("creationTimestamp"),
        generation=before.get("generation"),
        deletionTimestamp=before.get("deletionTimestamp") or after.get("deletionTimestamp"),
        deletionGracePeriodSeconds=after.get("deletionGracePeriodSeconds", before.get("deletionGracePeriodSeconds")),
        selfLink=None,
    )
