"""Reading and applying JSON Patch operations (RFC 6902), with an API server's habits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias, cast

import msgspec

from kubewright.api import JSON
from kubewright.patch.errors import PatchError
from kubewright.patch.go_text import json_kind
from kubewright.patch.values import Object, same

__all__ = ["MAX_OPERATIONS", "apply", "escape", "unescape"]

MAX_OPERATIONS: Final = 10_000
"""How many operations the API server takes in one patch."""

Name: TypeAlias = Literal["add", "remove", "replace", "move", "copy", "test"]
_NAMES = frozenset({"add", "remove", "replace", "move", "copy", "test"})
_INDEX = re.compile(r"[+-]?[0-9]+")


def escape(name: str) -> str:
    """A field's name as one step of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def unescape(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")


def apply(doc: JSON, operations: list[Object] | JSON) -> JSON:
    """``doc`` after all operations, in order; ``doc`` itself stays as it was.

    Errors: `PatchError` with code 400 when the operations can't be read, 413 when there are too many, 422 when one
    does not apply; the first that fails ends the patch.
    """
    for operation in _read(operations):
        doc = _apply(doc, operation)
    return doc


class _Operation(NamedTuple):
    name: Name
    path: str
    value: JSON
    source: str


def _read(operations: list[Object] | JSON) -> list[_Operation]:
    target = "[]handlers.jsonPatchOp"
    if operations is None:
        raise PatchError("error decoding patch: unexpected end of JSON input", code=400)
    if not isinstance(operations, list):
        raise PatchError(_cannot_unmarshal(operations, f"value of type {target}"), code=400)
    if len(operations) > MAX_OPERATIONS:
        raise PatchError(
            "Request entity too large: The allowed maximum operations in a JSON patch is "
            f"{MAX_OPERATIONS}, got {len(operations)}",
            code=413,
        )
    for operation in operations:
        _check_types(operation)
    return [_read_one(cast("Mapping[str, JSON]", operation)) for operation in operations]


def _check_types(operation: JSON) -> None:
    if not isinstance(operation, dict):
        raise PatchError(_cannot_unmarshal(operation, "value of type handlers.jsonPatchOp"), code=400)
    for field in ("op", "path", "from"):
        value = operation.get(field)
        if not (value is None or isinstance(value, str)):
            raise PatchError(_cannot_unmarshal(value, f"struct field jsonPatchOp.{field} of type string"), code=400)


def _cannot_unmarshal(value: list[Object] | JSON, target: str) -> str:
    return f"error decoding patch: json: cannot unmarshal {json_kind(value)} into Go {target}"


def _read_one(operation: Mapping[str, JSON]) -> _Operation:
    def refused(why: str) -> PatchError:
        text = msgspec.json.encode(operation).decode()
        return PatchError(f"invalid operation {text}: {why}", code=400)

    name = operation.get("op")
    if name not in _NAMES:
        raise refused("unsupported operation")
    path, source = operation.get("path"), operation.get("from")
    if not isinstance(path, str):
        raise refused("failed to decode 'path': operation missing path field: missing value")
    if name in {"add", "replace"} and "value" not in operation:
        raise refused("failed to decode 'value': operation, missing value field: missing value")
    if name in {"move", "copy"} and not isinstance(source, str):
        raise refused("failed to decode 'from': operation, missing from field: missing value")
    return _Operation(cast("Name", name), path, operation.get("value"), source if isinstance(source, str) else "")


def _apply(doc: JSON, operation: _Operation) -> JSON:
    name, path, value, source = operation
    try:
        match name:
            case "add":
                return _edit(doc, path, _Add(value))
            case "remove":
                return _edit(doc, path, _Remove())
            case "replace":
                return value if path == "" else _edit(doc, path, _Replace(value))
            case "move":
                return _edit(_edit(doc, source, _Remove()), path, _Add(_get(doc, source)))
            case "copy":
                return _edit(doc, path, _Add(_get(doc, source)))
            case "test":
                if not same(_get(doc, path, missing_is_null=True), value):
                    raise PatchError("the value there is another")  # noqa: TRY301 - gets its operation and path below
                return doc
    except PatchError as error:
        where = f" from {source!r}" if name in {"move", "copy"} else ""
        raise PatchError(f"{name} {path!r}{where}: {error}") from None


class _Add(NamedTuple):
    value: JSON


class _Replace(NamedTuple):
    value: JSON


class _Remove(NamedTuple):
    pass


_Change: TypeAlias = _Add | _Replace | _Remove


def _edit(doc: JSON, path: str, change: _Change) -> JSON:
    """``doc`` with one place changed, sharing everything beside the way there."""
    steps = [unescape(step) for step in path.split("/")[1:]]
    if not steps:
        raise PatchError("no field is named")
    return _edit_at(doc, steps, 0, change)


def _edit_at(node: JSON, steps: list[str], depth: int, change: _Change) -> JSON:
    step = steps[depth]
    last = depth == len(steps) - 1
    if isinstance(node, dict):
        if last:
            return _edit_dict(node, step, change)
        if step not in node:
            raise PatchError(f"there is no {_pointer(steps, depth)}")
        return {**node, step: _edit_at(node[step], steps, depth + 1, change)}
    if isinstance(node, list):
        if last:
            return _edit_list(node, step, change)
        index = _index(step, node)
        return [*node[:index], _edit_at(node[index], steps, depth + 1, change), *node[index + 1 :]]
    raise PatchError(f"there is neither object nor list at {_pointer(steps, depth - 1)}")


def _edit_dict(node: dict[str, JSON], key: str, change: _Change) -> JSON:
    if isinstance(change, _Add):
        return {**node, key: change.value}
    if key not in node:
        raise PatchError(f"there is no key {key!r}")
    if isinstance(change, _Replace):
        return {**node, key: change.value}
    return {name: value for name, value in node.items() if name != key}


def _edit_list(node: list[JSON], step: str, change: _Change) -> JSON:
    if isinstance(change, _Add):
        index = len(node) if step == "-" else _insertion_index(step, node)
        return [*node[:index], change.value, *node[index:]]
    index = _index(step, node)
    kept = [change.value] if isinstance(change, _Replace) else []
    return [*node[:index], *kept, *node[index + 1 :]]


def _insertion_index(step: str, node: list[JSON]) -> int:
    index = _number(step)
    if index < 0:
        index += len(node) + 1
    if not 0 <= index <= len(node):
        raise PatchError(f"index {step} is out of bounds of a list of {len(node)}")
    return index


def _index(step: str, node: list[JSON]) -> int:
    index = _number(step)
    if index < 0:
        index += len(node)
    if not 0 <= index < len(node):
        raise PatchError(f"index {step} is out of bounds of a list of {len(node)}")
    return index


def _number(step: str) -> int:
    if not _INDEX.fullmatch(step):
        raise PatchError(f"{step!r} is no index of a list")
    return int(step)


def _get(doc: JSON, path: str, *, missing_is_null: bool = False) -> JSON:
    """``missing_is_null`` forgives a missing last key, and nothing else."""
    steps = [unescape(step) for step in path.split("/")[1:]]
    node = doc
    for depth, step in enumerate(steps):
        if isinstance(node, dict):
            if step not in node and not (missing_is_null and depth == len(steps) - 1):
                raise PatchError(f"there is no {_pointer(steps, depth)}")
            node = node.get(step)
        elif isinstance(node, list):
            node = node[_index(step, node)]
        else:
            raise PatchError(f"there is neither object nor list at {_pointer(steps, depth - 1)}")
    return node


def _pointer(steps: list[str], depth: int) -> str:
    return repr("".join(f"/{escape(step)}" for step in steps[: depth + 1]))
