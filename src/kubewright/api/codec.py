"""JSON ↔ objects.

Guarantees
    Decoding ignores unknown fields, accepts null where a list or map is declared (the server's empty slices), and takes
    any string where a ``Literal`` of strings is declared. Encoding a resource writes its apiVersion and kind first.

Errors
    `DecodeError` names the kind and the field's path; TypeError names the class and field whose annotation does not
    resolve.
"""

from __future__ import annotations

import copy
import operator
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial, reduce
from typing import Annotated, Any, Literal, TypeVar, cast, get_args, get_origin

import msgspec

from kubewright.api.annotations import annotations_as_written
from kubewright.api.meta import ListMeta, ObjectMeta
from kubewright.api.model import Model
from kubewright.api.resource import Resource, resource_info
from kubewright.api.unstructured import Unstructured

__all__ = [
    "DecodeError",
    "check_decodable",
    "convert",
    "declared_types",
    "decode",
    "decode_what_fits",
    "encode",
    "split_list",
    "to_dict",
]

M = TypeVar("M", bound=Model)

_json = msgspec.json.Encoder()


class DecodeError(ValueError):
    """JSON that does not fit the model; the message names the class and the path."""


@cache
def declared_types(model: type[Model]) -> dict[str, Any]:
    """The fields' types as written, ``Annotated`` markers and ``Literal`` members included, by attribute name."""
    try:
        hints = typing.get_type_hints(model, include_extras=True)
    except NameError as error:
        where = _field_using(model, error.name or "")
        raise TypeError(f"{model.__qualname__}{where}: the name {error.name!r} is not defined in its module") from error
    return {name: hints[name] for name in model.__struct_fields__}


def _field_using(model: type[Model], name: str) -> str:
    for attribute, annotation in annotations_as_written(model).items():
        if isinstance(annotation, str) and name in annotation:
            return f".{attribute}"
    return ""


def _union(members: Iterable[Any]) -> Any:
    return reduce(operator.or_, members)


def _tolerant(hint: Any) -> Any:
    """What the decoder checks for a declared type: its shape, not its constraints."""
    origin = get_origin(hint)
    if origin is Annotated:
        return _tolerant(get_args(hint)[0])
    if origin is Literal:
        return _union(type(member) for member in get_args(hint))
    if origin in {typing.Union, types.UnionType}:
        return _union(_tolerant(arg) for arg in get_args(hint))
    if origin in {list, dict}:
        return origin[tuple(_tolerant(arg) for arg in get_args(hint))]
    return hint


def _models_in(hint: Any) -> Iterator[type[Model]]:
    if isinstance(hint, type) and get_origin(hint) is None and issubclass(hint, Model):
        yield hint
    for arg in get_args(hint):
        yield from _models_in(arg)


def _prepare(model: type[Model], seen: set[type[Model]]) -> None:
    """Swaps the annotations that the decoder will read for tolerant ones, here and in every model referred to."""
    if model in seen:
        return
    seen.add(model)
    annotations = {}
    for name, hint in declared_types(model).items():
        tolerant = _tolerant(hint)
        annotations[name] = tolerant | None if get_origin(tolerant) in {list, dict} else tolerant
        for nested in _models_in(tolerant):
            _prepare(nested, seen)
    model.__annotations__ = annotations


class _Head(Model):
    metadata: ObjectMeta


@cache
def _decoder(model: type[M]) -> Callable[[bytes | str | msgspec.Raw], M]:
    if issubclass(model, Unstructured):
        return cast("Callable[[bytes | str | msgspec.Raw], M]", partial(_decode_unstructured, kind=model))
    models: set[type[Model]] = set()
    _prepare(model, models)
    try:
        return msgspec.json.Decoder(model).decode
    except TypeError as error:
        raise TypeError(f"{_undecodable(models, model)}: {error}") from error


def _undecodable(models: Iterable[type[Model]], whole: type[Model]) -> str:
    """The field that keeps ``whole`` from being decoded: one that can't be, although the models in it can."""
    for model in models:
        for name, hint in declared_types(model).items():
            tolerant = _tolerant(hint)
            if not _decodes(tolerant) and all(map(_decodes, _models_in(tolerant))):
                return f"{model.__qualname__}.{name}"
    return whole.__qualname__


def _decodes(hint: Any) -> bool:
    try:
        msgspec.json.Decoder(hint)
    except TypeError:
        return False
    return True


def check_decodable(model: type[Model]) -> None:
    """Raises TypeError, by class and field, for a model that no object can be decoded to."""
    _decoder(model)


def _decode_unstructured(data: bytes | str | msgspec.Raw, *, kind: type[Unstructured]) -> Unstructured:
    return _unstructured(msgspec.json.decode(data), kind)


def _unstructured(body: Any, kind: type[Unstructured]) -> Unstructured:
    """Takes ``body`` over."""
    if not isinstance(body, dict):
        raise msgspec.ValidationError(f"Expected `object`, got `{type(body).__name__}`")
    body.pop("apiVersion", None)
    body.pop("kind", None)
    _decoder(_Head)
    head = msgspec.convert({"metadata": body.pop("metadata", {})}, _Head)
    return kind(metadata=head.metadata, content=body)


def decode(data: bytes | str | msgspec.Raw, model: type[M]) -> M:
    """One object from JSON. Raises `DecodeError` where it does not fit."""
    try:
        result: M = _decoder(model)(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DecodeError(f"not a {model.__qualname__}: {error}") from error
    return result


def decode_what_fits(data: bytes, model: type[M]) -> M:
    """As `decode`, but with None for a top-level field that is missing or does not fit. Raises `DecodeError` where not even
    the rest does.

    For those who must act on an object whatever became of its schema, going by its metadata.
    """
    try:
        return decode(data, model)
    except DecodeError:
        fields = msgspec.json.decode(data)
    types = declared_types(model)
    found: dict[str, Any] = {}
    for info in msgspec.structs.fields(model):
        required = info.default is msgspec.NODEFAULT and info.default_factory is msgspec.NODEFAULT
        if info.encode_name not in fields:
            if required:
                found[info.name] = None
            continue
        try:
            found[info.name] = msgspec.convert(fields[info.encode_name], _tolerant(types[info.name]))
        except msgspec.ValidationError as error:
            if info.name == "metadata":
                raise DecodeError(f"not a {model.__qualname__}: {error}") from error
            found[info.name] = None
    return model(**found)


def convert(data: Any, model: type[M]) -> M:
    """One object from decoded JSON (dicts and lists). Raises `DecodeError` where it does not fit."""
    _decoder(model)
    try:
        if issubclass(model, Unstructured):
            return cast("M", _unstructured(copy.deepcopy(data), model))
        return msgspec.convert(data, model)
    except msgspec.ValidationError as error:
        raise DecodeError(f"not a {model.__qualname__}: {error}") from error


def encode(obj: Model) -> bytes:
    """JSON of one object; a resource's apiVersion and kind come first."""
    if isinstance(obj, Unstructured):
        return _json.encode(to_dict(obj))
    body = _json.encode(obj)
    if not isinstance(obj, Resource):
        return body
    info = resource_info(type(obj))
    head = _json.encode({"apiVersion": info.api_version, "kind": info.kind})
    return head[:-1] + (b"," if len(body) > 2 else b"") + body[1:]


def to_dict(obj: Model) -> dict[str, Any]:
    """The same as `encode`, as dicts and lists."""
    body: dict[str, Any] = msgspec.to_builtins(obj)
    if not isinstance(obj, Resource):
        return body
    if isinstance(obj, Unstructured):
        body = {"metadata": body["metadata"], **body["content"]}
    info = resource_info(type(obj))
    return {"apiVersion": info.api_version, "kind": info.kind, **body}


class _RawList(msgspec.Struct):
    metadata: msgspec.Raw = msgspec.Raw(b"{}")
    items: list[msgspec.Raw] | None = None


_raw_list = msgspec.json.Decoder(_RawList)


def split_list(data: bytes) -> tuple[ListMeta, list[bytes]]:
    """A list's metadata and its items' own JSON. Each item is a copy: a view would keep the whole list alive."""
    try:
        raw = _raw_list.decode(data)
    except msgspec.DecodeError as error:
        raise DecodeError(f"not a list of objects: {error}") from error
    return decode(raw.metadata, ListMeta), [bytes(item) for item in raw.items or ()]
