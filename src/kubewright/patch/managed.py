"""The books of server-side apply: ``metadata.managedFields`` as entries by manager.

https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, TypeAlias, cast

import msgspec

from kubewright.api import JSON
from kubewright.patch.fields import FieldSet, FieldSetError
from kubewright.patch.values import Object, same

__all__ = [
    "NEVER_OWNED",
    "Books",
    "Entry",
    "ManagedFieldsError",
    "ManagerKey",
    "capped",
    "decode",
    "encode",
    "encode_only",
    "equal_but_times",
    "managed_fields",
    "without_managed_fields",
]

Operation: TypeAlias = Literal["Apply", "Update"]

NEVER_OWNED = FieldSet.of_names(
    "apiVersion",
    "kind",
    "metadata",
    "metadata.name",
    "metadata.namespace",
    "metadata.creationTimestamp",
    "metadata.selfLink",
    "metadata.uid",
    "metadata.clusterName",
    "metadata.generation",
    "metadata.managedFields",
    "metadata.resourceVersion",
)
"""Fields that identify an object or are the server's own."""

_MOST_UPDATERS = 10
_OLDEST = "ancient-changes"
_encode = msgspec.json.Encoder().encode


class ManagedFieldsError(ValueError):
    """A managedFields list that can't be read."""


class ManagerKey(NamedTuple):
    """What entries are told apart by. Who applies has one entry whatever the version: its ``api_version`` is empty."""

    manager: str
    operation: Operation
    api_version: str = ""
    subresource: str = ""

    def describe(self) -> str:
        """The manager as a conflict's message names it: ``"st" with subresource "status"``."""
        text = _quoted(self.manager)
        if self.subresource:
            text += f" with subresource {_quoted(self.subresource)}"
        return f"{text} using {self.api_version}" if self.operation == "Update" else text

    def sort_key(self) -> bytes:
        """Sorts managers as the server does in messages."""
        fields = {
            "manager": self.manager,
            "operation": self.operation,
            "apiVersion": self.api_version,
            "subresource": self.subresource,
        }
        return _encode({name: value for name, value in fields.items() if value})


class Entry(NamedTuple):
    api_version: str
    time: str | None
    fields: FieldSet


Books: TypeAlias = dict[ManagerKey, Entry]


def _quoted(text: str) -> str:
    return _encode(text).decode()


def managed_fields(obj: Mapping[str, JSON]) -> JSON:
    """The list as the object has it; None where it has none."""
    metadata = obj.get("metadata")
    return metadata.get("managedFields") if isinstance(metadata, dict) else None


def without_managed_fields(obj: Object) -> Object:
    return _with(obj, None)


def decode(entries: JSON) -> Books:
    """Reads a managedFields list. Raises `ManagedFieldsError` as the server words it."""
    books: Books = {}
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        if not isinstance(entry, dict):
            raise ManagedFieldsError(f"entry {index} is no object")
        operation = _text(entry, "operation")
        api_version = _text(entry, "apiVersion")
        fields_type = _text(entry, "fieldsType")
        if operation not in {"Apply", "Update"}:
            raise ManagedFieldsError("operation must be `Apply` or `Update`")
        if not api_version:
            raise ManagedFieldsError("apiVersion must not be empty")
        if not fields_type:
            raise ManagedFieldsError(f"missing fieldsType in managed fields entry {index}")
        if fields_type != "FieldsV1":
            raise ManagedFieldsError(f'invalid fieldsType "{fields_type}" in managed fields entry {index}')
        fields = entry.get("fieldsV1")
        try:
            owned = FieldSet.from_fields_v1(fields if isinstance(fields, dict) else {})
        except FieldSetError as error:
            raise ManagedFieldsError(f"managed fields entry {index}: {error}") from error
        key = ManagerKey(
            _text(entry, "manager"),
            cast("Operation", operation),
            api_version if operation == "Update" else "",
            _text(entry, "subresource"),
        )
        books[key] = Entry(api_version, _text(entry, "time") or None, owned)
    return books


def _text(entry: Object, name: str) -> str:
    value = entry.get(name)
    return value if isinstance(value, str) else ""


def encode(obj: Object, books: Books) -> Object:
    """``obj`` with the books in its metadata, in the server's order: who applied first, then by time."""

    def order(item: tuple[ManagerKey, Entry]) -> tuple[str, str, str, str, str]:
        key, entry = item
        return key.operation, entry.time or "", key.manager, entry.api_version, key.subresource

    return _with(obj, [_encode_entry(key, entry) for key, entry in sorted(books.items(), key=order)])


def encode_only(
    obj: Object, key: ManagerKey, fields_v1: Mapping[str, object], *, api_version: str, time: str
) -> Object:
    """``obj`` with books of one entry, whose fields are in the server's order already; without any where it has none."""
    return _with(obj, [_entry(key, fields_v1, api_version, time)] if fields_v1 else None)


def _encode_entry(key: ManagerKey, entry: Entry) -> Object:
    return _entry(key, entry.fields.to_fields_v1(), entry.api_version, entry.time)


def _entry(key: ManagerKey, fields_v1: Mapping[str, object], api_version: str, time: str | None) -> Object:
    encoded: Object = {
        "apiVersion": api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": cast("JSON", fields_v1),
    }
    if key.manager:
        encoded["manager"] = key.manager
    encoded["operation"] = key.operation
    if key.subresource:
        encoded["subresource"] = key.subresource
    if time is not None:
        encoded["time"] = time
    return encoded


def _with(obj: Object, entries: list[JSON] | list[Object] | None) -> Object:
    metadata = obj.get("metadata")
    before = metadata if isinstance(metadata, dict) else {}
    if not entries:
        if "managedFields" not in before:
            return obj
        return {**obj, "metadata": {key: value for key, value in before.items() if key != "managedFields"}}
    return {**obj, "metadata": {**before, "managedFields": [*entries]}}


def capped(books: Books) -> Books:
    """At most ten entries of updaters: the oldest of each API version are put together, as ``ancient-changes``."""
    updaters = [key for key in books if key.operation == "Update"]
    surplus = len(updaters) - _MOST_UPDATERS
    if surplus <= 0:
        return books
    updaters.sort(key=lambda key: (books[key].time or "", key.sort_key()))
    kept = dict(books)
    first: dict[str, ManagerKey] = {}
    for key in updaters:
        if surplus <= 0:
            break
        entry = kept[key]
        if entry.api_version not in first:
            first[entry.api_version] = key
            continue
        bucket = ManagerKey(_OLDEST, "Update", entry.api_version)
        if bucket not in kept:
            kept[bucket] = kept.pop(first[entry.api_version])
        kept[bucket] = Entry(entry.api_version, entry.time, kept[bucket].fields.union(entry.fields))
        if key != bucket:
            del kept[key]
        surplus -= 1
    return kept


def equal_but_times(a: Object, b: Object) -> bool:
    """Whether two objects differ in nothing, or only in when managers did something: a write that changes no more is
    none, and the server keeps the object that it has.
    """
    if a.keys() != b.keys() or not all(same(value, b[key]) for key, value in a.items() if key != "metadata"):
        return False
    if same(a.get("metadata"), b.get("metadata")):
        return True
    if not same(without_managed_fields(a), without_managed_fields(b)):
        return False
    return same(_without_times(managed_fields(a)), _without_times(managed_fields(b)))


def _without_times(entries: JSON) -> list[JSON]:
    timeless: Iterable[JSON] = (
        {key: value for key, value in entry.items() if key != "time"} if isinstance(entry, dict) else entry
        for entry in (entries if isinstance(entries, list) else [])
    )
    return sorted(timeless, key=_encode)
