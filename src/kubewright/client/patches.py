"""The kinds of patch that a server takes, apart from server-side apply, which `Client.apply` sends.

Each is given as it goes over the wire, or put together step by step: ``JsonPatch().replace("/spec/replicas", 3)``. A
patch never changes; each step makes a new one. Paths are JSON Pointers, or the steps themselves:
``("metadata", "annotations", "example.com/owner")`` needs no escaping.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeAlias

from msgspec import Struct, field

from kubewright.api import JSON, Model
from kubewright.client.media_types import JSON_PATCH, MERGE_PATCH, STRATEGIC
from kubewright.patch.json_patch import escape, unescape

__all__ = ["JsonPatch", "MergePatch", "Patch", "Path", "StrategicMergePatch"]


Path: TypeAlias = str | Sequence[str | int]
"""``/spec/ports/0``, or ``("spec", "ports", 0)``."""
Value: TypeAlias = JSON | Model | Sequence[Model]


class JsonPatch(Struct, frozen=True):
    """RFC 6902: operations in order, all of which apply or none. It can say all there is to say.

    An operation on what is not there, and a `test` that fails, is `Invalid` to the server.
    """

    operations: Sequence[Mapping[str, Any]] = ()

    @property
    def content_type(self) -> str:
        return JSON_PATCH

    @property
    def body(self) -> Any:
        return [dict(operation) for operation in self.operations]

    def add(self, path: Path, value: Value) -> JsonPatch:
        """Sets a field, or inserts an item before the one at the place; ``-`` is behind the last. None writes null."""
        return self._then(op="add", path=_pointer(path), value=value)

    def replace(self, path: Path, value: Value) -> JsonPatch:
        """Sets what must be there already."""
        return self._then(op="replace", path=_pointer(path), value=value)

    def remove(self, path: Path) -> JsonPatch:
        return self._then(op="remove", path=_pointer(path))

    def move(self, source: Path, path: Path) -> JsonPatch:
        return self._then(**{"op": "move", "from": _pointer(source), "path": _pointer(path)})

    def copy(self, source: Path, path: Path) -> JsonPatch:
        return self._then(**{"op": "copy", "from": _pointer(source), "path": _pointer(path)})

    def test(self, path: Path, value: Value) -> JsonPatch:
        """Nothing is applied unless this is there; the server answers `Invalid` then."""
        return self._then(op="test", path=_pointer(path), value=value)

    def bound_to(self, resource_version: str) -> JsonPatch:
        """Nothing is applied unless the object still has this version; the server answers `Conflict` then."""
        return self.replace("/metadata/resourceVersion", resource_version)

    def _then(self, **operation: Any) -> JsonPatch:
        return JsonPatch((*self.operations, operation))


class _DocumentPatch(Struct, frozen=True):
    """A patch that has the form of the object."""

    document: Mapping[str, Any] = field(default_factory=dict)

    @property
    def body(self) -> Any:
        return dict(self.document)

    def set(self, path: Path, value: Value) -> Self:
        """Wants ``value`` at ``path``: a map is merged into what is there, a null inside it removes."""
        return self._with(path, value)

    def remove(self, path: Path) -> Self:
        """Removes a field, whether it is there or not."""
        return self._with(path, None)

    def bound_to(self, resource_version: str) -> Self:
        """Nothing is applied unless the object still has this version; the server answers `Conflict` then."""
        return self._with("/metadata/resourceVersion", resource_version)

    def _with(self, path: Path, value: Any) -> Self:
        document = copy.deepcopy(dict(self.document))
        parent, last = _parent(document, _steps(path))
        parent[last] = value
        return type(self)(document)


class MergePatch(_DocumentPatch, frozen=True):
    """RFC 7386: maps are merged, null removes, lists are replaced whole."""

    @property
    def content_type(self) -> str:
        return MERGE_PATCH


class StrategicMergePatch(_DocumentPatch, frozen=True):
    """A merge patch that knows the keys of lists; built-in kinds only, custom ones answer `UnsupportedMediaType`."""

    @property
    def content_type(self) -> str:
        return STRATEGIC

    def merge_item(self, path: Path, item: Mapping[str, Any] | Model) -> StrategicMergePatch:
        """Merges ``item`` into the one of the list at ``path`` that has its key, or adds it."""
        return self._with_item(path, item)

    def delete_item(self, path: Path, key: Mapping[str, Any]) -> StrategicMergePatch:
        """Takes the item with this key, such as ``{"name": "sidecar"}``, out of the list at ``path``."""
        return self._with_item(path, {"$patch": "delete", **key})

    def replace(self, path: Path, items: Sequence[Mapping[str, Any] | Model]) -> StrategicMergePatch:
        """Puts ``items`` in the place of all that a list has which is merged by a key, such as containers or env.

        Other lists of objects (tolerations) `set` replaces already; here they would get an empty item more. Raises
        TypeError for a map or plain values: of those a server drops or refuses the directive where nothing is there yet.
        """
        if isinstance(items, Mapping) or any(not isinstance(item, Mapping | Model) for item in items):
            where = _pointer(path)
            raise TypeError(f"{where} is no list of objects: JsonPatch().add({where!r}, …) puts it there as a whole")
        return self._with(path, [*items, {"$patch": "replace"}])

    def _with_item(self, path: Path, item: Any) -> StrategicMergePatch:
        parent, last = _parent(copy.deepcopy(dict(self.document)), _steps(path))
        items = parent.get(last, [])
        if not isinstance(items, list):
            raise TypeError(f"{_pointer(path)}: this patch sets something there that is no list")
        return self._with(path, [*items, item])


Patch: TypeAlias = JsonPatch | MergePatch | StrategicMergePatch


def _pointer(path: Path) -> str:
    if not isinstance(path, str):
        return "".join(f"/{escape(str(step))}" for step in path)
    if path and not path.startswith("/"):
        raise ValueError(
            f"{path!r} is no JSON Pointer: write {'/' + path.replace('.', '/')!r}, or its steps as a tuple"
        )
    return path


def _steps(path: Path) -> list[str]:
    if not isinstance(path, str) and any(isinstance(step, int) for step in path):
        raise ValueError(f"{_pointer(path)}: a merge patch can't address one item of a list; use a JsonPatch")
    steps = [unescape(step) for step in _pointer(path).split("/")[1:]]
    if isinstance(path, str) and (number := next((step for step in steps if step.isdecimal()), None)) is not None:
        raise ValueError(
            f"{path}: a merge patch can't address item {number} of a list; use a JsonPatch, or give the steps as a tuple "
            "of strings where it is a map's key"
        )
    if not steps:
        raise ValueError("an empty path is the whole object: give the patch its document instead")
    return steps


def _parent(document: dict[str, Any], steps: list[str]) -> tuple[dict[str, Any], str]:
    """The map in which the last step is, made where it is missing."""
    parent = document
    for step in steps[:-1]:
        parent = parent.setdefault(step, {})
        if not isinstance(parent, dict):
            raise TypeError(f"/{'/'.join(map(escape, steps))}: this patch already sets {step} to {parent!r:.60}")
    return parent, steps[-1]
