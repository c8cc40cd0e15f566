"""How API servers write the quantities of an intent: ``1000m`` comes back as ``1``, and means no other state."""

from __future__ import annotations

import types
import typing
from typing import Annotated, Any, get_args, get_origin

from kubewright.api import JSON, Model, Quantity, Resource, resource_info
from kubewright.api.codec import declared_types

__all__ = ["as_written"]


def as_written(body: dict[str, Any], kind: type[Resource]) -> dict[str, Any]:
    """``body`` with its quantities as a server writes them; itself where they are.

    Those of built-in kinds: a custom resource is kept as it was sent.
    """
    if resource_info(kind).custom:
        return body
    written = _written(body, kind)
    return written if isinstance(written, dict) else body


def _written(value: JSON, hint: Any) -> JSON:
    if value is None or isinstance(value, bool):
        return value
    if hint == Quantity:
        return _quantity(value)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _written(value, inner[0])
    if origin is typing.Union or origin is types.UnionType:
        for each in inner:
            written = _written(value, each)
            if written is not value:
                return written
        return value
    if origin is list and isinstance(value, list):
        items = [_written(item, inner[0]) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if not isinstance(value, dict):
        return value
    if origin is dict:
        changed = {key: _written(item, inner[1]) for key, item in value.items()}
    elif isinstance(hint, type) and issubclass(hint, Model):
        hints = declared_types(hint)
        names = zip(hint.__struct_encode_fields__, hint.__struct_fields__, strict=True)
        changed = {name: _written(value[name], hints[attribute]) for name, attribute in names if name in value}
    else:
        return value
    return {**value, **changed} if any(new is not value[name] for name, new in changed.items()) else value


def _quantity(value: JSON) -> JSON:
    from kubewright.api.quantities import QuantityError, canonical  # noqa: PLC0415 - decimal numbers take a while to load

    if not isinstance(value, str | int | float):
        return value
    try:
        written = canonical(value)
    except QuantityError:  # the server will say what is wrong with it
        return value
    return value if written == value else written
