"""Server-side apply: merge what a manager wants into the live object, and keep books of who owns which field.

`apply` is the request with the verb apply, `track_update` the bookkeeping of every other write.

https://kubernetes.io/docs/reference/using-api/server-side-apply/
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import TypeAlias

from kubewright.api import JSON, Conflict, Status, StatusCause, StatusDetails
from kubewright.patch.checking import check
from kubewright.patch.comparison import compare
from kubewright.patch.creation import created_fields
from kubewright.patch.errors import PatchError
from kubewright.patch.fields import NOTHING, FieldSet
from kubewright.patch.last_applied import last_applied_fields, with_last_applied
from kubewright.patch.managed import (
    NEVER_OWNED,
    Books,
    Entry,
    ManagedFieldsError,
    ManagerKey,
    capped,
    decode,
    encode,
    encode_only,
    equal_but_times,
    managed_fields,
    without_managed_fields,
)
from kubewright.patch.merging import merge
from kubewright.patch.other_versions import Versions, check_known, check_prunable, check_visible
from kubewright.patch.ownership import applied_fields, conflicts_with, fitted, pruned, restricted, yielded
from kubewright.patch.shape import Shape
from kubewright.patch.values import Object, same

__all__ = [
    "NEVER_OWNED",
    "ApplyConflict",
    "applied_fields",
    "apply",
    "described_kind",
    "equal_but_times",
    "track_update",
]

_BEFORE = "before-first-apply"
_UNNAMED = "unknown"

Conflicting: TypeAlias = Sequence[tuple[str, str]]


class ApplyConflict(Conflict):
    """Other managers own fields that an apply would change.

    ``conflicts`` has the other manager, as messages describe it, and the path, one pair for each field.
    """

    def __init__(self, conflicts: Conflicting) -> None:
        self.conflicts = list(conflicts)
        super().__init__(
            Status(
                status="Failure",
                message=_conflict_message(self.conflicts),
                reason="Conflict",
                details=StatusDetails(
                    causes=[
                        StatusCause(reason="FieldManagerConflict", message=f"conflict with {manager}", field=path)
                        for manager, path in self.conflicts
                    ]
                ),
                code=409,
            )
        )


def _conflict_message(conflicts: Conflicting) -> str:
    if len(conflicts) == 1:
        manager, path = conflicts[0]
        return f"Apply failed with 1 conflict: conflict with {manager}: {path}"
    lines: list[str] = []
    for manager in dict.fromkeys(manager for manager, _ in conflicts):
        lines.append(f"conflicts with {manager}:")
        lines.extend(f"- {path}" for other, path in conflicts if other == manager)
    return f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)


def apply(
    live: Object | None,
    applied: Object,
    *,
    manager: str,
    force: bool,
    shape: Shape,
    api_version: str,
    now: str,
    subresource: str = "",
    ignored: FieldSet = NOTHING,
    only: FieldSet | None = None,
    versions: Versions = MappingProxyType({}),
) -> Object:
    """The live object after ``manager`` applied ``applied``.

    ``live`` is None when the object is to be created. ``now`` is RFC 3339 with whole seconds. ``ignored`` are fields
    that a write at this endpoint does not touch (``status`` at the main resource of a kind that has a status
    subresource), ``only`` the fields that it touches at most (``status`` at a custom resource's status). ``versions`` are
    the shapes of all versions of a custom resource.

    Guarantees
        An apply that changes neither object nor ownership returns ``live`` itself.

    Assumptions
        ``live`` has its managedFields. What comes back is not yet defaulted, pruned by the schema or validated.

    Caveats
        A map or list that loses its last field but stays is null, and a strict schema refuses that: as in an API server.

    Errors
        `ApplyConflict`; `PatchError` where ``applied`` does not fit the schema, with the code that the server answers.
    """
    shape = shape.as_resource()
    _check_applied(live, applied, shape, api_version)
    bare: Object = {} if live is None else without_managed_fields(live)
    identity: Object = {key: applied[key] for key in ("apiVersion", "kind")}
    try:
        books = decode(managed_fields(live)) if live is not None else {}
    except ManagedFieldsError as error:
        raise PatchError(f"failed to decode managed fields: {error}", code=500) from error
    if not books and live is not None:
        books = _first_entry(identity, bare, shape, api_version, now, ignored, only)
    own = ManagerKey(manager or _UNNAMED, "Apply", "", subresource)
    last = books.get(own)
    check_known(books, versions)
    books = {key: entry._replace(fields=fitted(entry.fields, shape)) for key, entry in books.items()}
    wanted = restricted(FieldSet.of(applied, shape), ignored=ignored, only=only)
    books[own] = Entry(api_version, last.time if last else None, wanted)
    base = bare or identity
    merged = merge(base, applied, shape)
    if last is not None:
        check_prunable(merged, books, last.api_version, api_version, versions)
        merged = pruned(merged, books, last.fields, shape)

    check_visible(base, merged, books, api_version, versions)
    changes = compare(base, merged, shape)
    if only is not None:
        changes = changes.within(only)
    changes = changes.without(ignored)
    conflicts = conflicts_with(books, own, changes)
    if conflicts and not force:
        allowed = last_applied_fields(bare, shape, api_version) if manager == "kubectl" else NOTHING
        refused = [
            (key.describe(), path)
            for key in sorted(conflicts, key=ManagerKey.sort_key)
            for path in conflicts[key].difference(allowed).paths()
        ]
        if refused:
            raise ApplyConflict(refused)
    books = yielded(books, own, changes)
    if own in books:
        kept = wanted.difference(NEVER_OWNED)
        time = books[own].time if same(base, merged) and live is not None else now
        books[own] = Entry(api_version, time, kept)
        if kept.is_empty():
            del books[own]
    if manager == "kubectl":
        merged = with_last_applied(merged, applied)
    if live is not None and same(bare, merged) and books == _decoded(live):
        return live
    return encode(merged, books)


def _decoded(obj: Object) -> Books | None:
    try:
        return decode(managed_fields(obj))
    except ManagedFieldsError:
        return None


def _check_applied(live: Object | None, applied: Object, shape: Shape, api_version: str) -> None:
    version, kind = applied.get("apiVersion"), applied.get("kind")
    expected = kind if live is None else live.get("kind", kind)
    described = described_kind(applied)
    if version != api_version or not kind or kind != expected:
        raise PatchError(f"invalid object type: {described}", code=400)
    if managed_fields(applied) is not None:
        raise PatchError("metadata.managedFields must be nil", code=400)
    problems = check(applied, shape)
    if problems:
        metadata = applied.get("metadata")
        names = metadata if isinstance(metadata, dict) else {}
        where = f"{names.get('namespace') or ''}/{names.get('name') or ''}; {described}"
        text = problems[0] if len(problems) == 1 else "\n  ".join(["errors:", *problems])
        raise PatchError(f"failed to create typed patch object ({where}): {text}", code=500)


def described_kind(obj: Object) -> str:
    """An object's kind as messages name it: ``apps/v1, Kind=Deployment``, ``/v1, Kind=Pod``."""
    version, kind = obj.get("apiVersion"), obj.get("kind")
    group, _, name = (version if isinstance(version, str) else "").rpartition("/")
    return f"{group}/{name}, Kind={kind if isinstance(kind, str) else ''}"


def _first_entry(
    identity: Object,
    live: Object,
    shape: Shape,
    api_version: str,
    now: str,
    ignored: FieldSet,
    only: FieldSet | None,
) -> Books:
    """What is there before anyone applied to an object without books belongs to a manager of that name."""
    fields = restricted(compare(identity, live, shape).added, ignored=ignored, only=only).difference(NEVER_OWNED)
    if fields.is_empty():
        return {}
    return {ManagerKey(_BEFORE, "Update", api_version): Entry(api_version, now, fields)}


def track_update(
    old: Object | None,
    new: Object,
    *,
    manager: str,
    shape: Shape,
    api_version: str,
    now: str,
    subresource: str = "",
    ignored: FieldSet = NOTHING,
    only: FieldSet | None = None,
    versions: Versions = MappingProxyType({}),
) -> Object:
    """``new`` with the books after ``manager`` wrote it by create, update or patch.

    ``old`` is the object before, None when it is created; an ``old`` without a uid is creation too, and says what
    the object starts from (a built-in kind's empty spec is there before anyone owns it). ``new`` may bring its own
    managedFields (a client that edits the books); ``[{}]`` clears them, and from then on nothing is tracked until
    someone applies. Where it has none the old ones hold, and at a subresource always.

    The writer owns what it added or modified; whoever owned that before does no more. Its entry's time moves only then.
    Books of versions that can't show the object (see `other_versions`) are lost.
    """
    shape = shape.as_resource()
    if old is None and only is None and managed_fields(new) is None:
        fields = created_fields(new, shape, ignored=ignored)
        if fields is not None:
            own = ManagerKey(manager or _UNNAMED, "Update", api_version, subresource)
            return encode_only(new, own, fields, api_version=api_version, time=now)
    books = _books_for_update(old, new, subresource)
    bare = without_managed_fields(new)
    created = old is None or _uid(old) is None
    if not books and not created:
        return bare
    if old is not None:
        before = without_managed_fields(old)
    else:
        before = {key: value for key, value in new.items() if key in {"apiVersion", "kind"}}
    try:
        check_known(books, versions)
        check_visible(before, bare, books, api_version, versions)
    except PatchError:
        return bare
    changes = compare(before, bare, shape)
    if only is not None:
        changes = changes.within(only)
    changes = changes.without(ignored)

    books = {key: entry._replace(fields=fitted(entry.fields, shape)) for key, entry in books.items()}
    books = yielded(books, None, changes)
    taken = changes.modified.union(changes.added).difference(NEVER_OWNED)
    if not taken.is_empty():
        own = ManagerKey(manager or _UNNAMED, "Update", api_version, subresource)
        previous = books.get(own)
        books[own] = Entry(api_version, now, previous.fields.union(taken) if previous else taken)
    return encode(bare, capped(books))


def _uid(obj: Object) -> JSON:
    metadata = obj.get("metadata")
    return metadata.get("uid") if isinstance(metadata, dict) else None


def _books_for_update(old: Object | None, new: Object, subresource: str) -> Books:
    known = (_decoded(old) if old is not None else None) or {}
    if subresource:
        return known
    given = managed_fields(new)
    if given == [{}]:
        return {}
    return _decoded(new) or known
