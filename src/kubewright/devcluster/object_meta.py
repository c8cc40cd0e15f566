"""`metadata`, which is the same for all kinds: read, filled in, checked."""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from kubewright.api import Clock
from kubewright.devcluster.naming import label_value_errors, qualified_name_errors
from kubewright.devcluster.objects import Object, metadata_of, timestamp, with_metadata
from kubewright.schema.errors import FieldError, forbidden, invalid, required, too_long
from kubewright.schema.go_text import quoted

__all__ = [
    "create_errors",
    "generated_name",
    "kept_from",
    "new_uid",
    "read_metadata",
    "stamped",
    "update_errors",
]

NameErrors = Callable[..., list[str]]

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
_JSON_NAMES = {str: "string", bool: "bool", int: "number", float: "number", list: "array", dict: "object"}
_ANNOTATIONS_LIMIT = 256 * 1024

_SUFFIX_LENGTH = 5
_SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_LONGEST_GENERATED = 63


def _wrong(value: Any, field: str, go_type: str) -> ValueError:
    found = _JSON_NAMES.get(type(value), "value")
    return ValueError(f"json: cannot unmarshal {found} into Go struct field ObjectMeta.{field} of type {go_type}")


def read_metadata(metadata: Any) -> tuple[dict[str, Any], list[str]]:
    """An ObjectMeta without nulls, empty values and unknown fields, and the paths of those.

    Raises ValueError, in the words of Go's decoder, for values of the wrong type.
    """
    if not isinstance(metadata, dict):
        found = _JSON_NAMES.get(type(metadata), "value")
        raise ValueError(f"json: cannot unmarshal {found} into Go value of type v1.ObjectMeta")  # noqa: TRY004
    result = {}
    unknown = []
    for key, value in metadata.items():
        if key not in _TYPES:
            unknown.append(f"metadata.{key}")
        elif value is not None:
            _check(key, value)
            if value or key == "deletionGracePeriodSeconds":
                result[key] = value
    return result, unknown


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
            if not _holds(item_type, item):
                raise _wrong(item, key, item_go_type)


def new_uid(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def generated_name(prefix: str, rng: random.Random) -> str:
    """``prefix`` and a random ending, of letters and digits that spell no words."""
    ending = "".join(rng.choices(_SUFFIX_ALPHABET, k=_SUFFIX_LENGTH))
    return prefix[: _LONGEST_GENERATED - _SUFFIX_LENGTH] + ending


def stamped(obj: Object, *, namespace: str, clock: Clock, rng: random.Random) -> Object:
    """A new object with what only the server sets: uid and creation time; nothing of what the caller put there."""
    return with_metadata(
        obj,
        namespace=namespace or None,
        uid=new_uid(rng),
        creationTimestamp=timestamp(clock.now()),
        generation=None,
        deletionTimestamp=None,
        deletionGracePeriodSeconds=None,
        selfLink=None,
        resourceVersion=None,
    )


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


def create_errors(metadata: Mapping[str, Any], name_errors: NameErrors) -> list[FieldError]:
    """What is wrong with a new object's metadata. ``name_errors`` is the kind's rule, `Strategy.name_errors`."""
    errors = []
    if prefix := metadata.get("generateName"):
        errors += [invalid("metadata.generateName", prefix, each) for each in name_errors(prefix, prefix=True)]
    if name := metadata.get("name"):
        errors += [invalid("metadata.name", name, each) for each in name_errors(name, prefix=False)]
    else:
        errors.append(required("metadata.name", "name or generateName is required"))
    return errors + _common_errors(metadata)


def _common_errors(metadata: Mapping[str, Any]) -> list[FieldError]:
    errors: list[FieldError] = []
    for key, value in sorted((metadata.get("labels") or {}).items()):
        errors += [invalid("metadata.labels", key, each) for each in qualified_name_errors(key)]
        errors += [invalid("metadata.labels", value, each) for each in label_value_errors(value)]
    annotations = metadata.get("annotations") or {}
    for key in sorted(annotations):
        errors += [invalid("metadata.annotations", key, each) for each in qualified_name_errors(key.lower())]
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > _ANNOTATIONS_LIMIT:
        errors.append(too_long("metadata.annotations", _ANNOTATIONS_LIMIT))
    errors += _owner_errors(metadata.get("ownerReferences") or [])
    for finalizer in metadata.get("finalizers") or []:
        errors += [invalid("metadata.finalizers", finalizer, each) for each in qualified_name_errors(finalizer)]
    return errors


def _owner_errors(owners: list[Mapping[str, Any]]) -> list[FieldError]:
    errors: list[FieldError] = []
    controller: Mapping[str, Any] | None = None
    for owner in owners:
        where = "metadata.ownerReferences"
        group_version = owner.get("apiVersion") or ""
        if not group_version.rpartition("/")[2]:
            errors.append(invalid(f"{where}.apiVersion", group_version, "version must not be empty"))
        errors += [
            invalid(f"{where}.{field}", "", "must not be empty")
            for field in ("kind", "name", "uid")
            if not owner.get(field)
        ]
        if (group_version, owner.get("kind")) == ("v1", "Event"):
            errors.append(invalid(where, owner, "/v1, Kind=Event is disallowed from being an owner"))
        if owner.get("controller"):
            if controller is not None:
                names = f"{controller.get('kind')}/{controller.get('name')} and {owner.get('kind')}/{owner.get('name')}"
                text = f"Only one reference can have Controller set to true. Found {quoted('true')} in references for {names}"
                errors.append(invalid(where, owners, text))
                break
            controller = owner
    return errors


_IMMUTABLE = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")


def update_errors(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[FieldError]:
    """What is wrong with an updated object's metadata."""
    errors = []
    if old.get("deletionTimestamp"):
        held = set(old.get("finalizers") or [])
        added = [each for each in new.get("finalizers") or [] if each not in held]
        if added:
            listed = ", ".join(map(quoted, sorted(added)))
            text = "no new finalizers can be added if the object is being deleted, found new finalizers "
            errors.append(forbidden("metadata.finalizers", f"{text}[]string{{{listed}}}"))
    for field in _IMMUTABLE:
        if new.get(field) != old.get(field):
            errors.append(invalid(f"metadata.{field}", new.get(field), "field is immutable"))  # noqa: PERF401
    return errors + _common_errors(new)
