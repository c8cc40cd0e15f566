"""Equality of decoded JSON, where Python's own is too generous: ``True == 1``."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from kubewright.api import JSON

__all__ = ["Object", "copied", "same"]

Object: TypeAlias = dict[str, JSON]

_encode = msgspec.json.Encoder(order="deterministic").encode
_CONTAINERS = (dict, list)


def same(a: JSON, b: JSON) -> bool:
    """Whether two values are the same JSON; the order of keys is no difference, and neither is ``1`` or ``1.0``."""
    if a is b:
        return True
    if a != b:
        return False
    if isinstance(a, str):
        return True
    if isinstance(a, _CONTAINERS):
        if _made_of_the_same(a, b):
            return True
        first, second = _encode(a), _encode(b)
        if first == second or not (_may_have_booleans(first) or _may_have_booleans(second)):
            return True
        return _same_inside(a, b)
    return isinstance(a, bool) == isinstance(b, bool)


def _made_of_the_same(a: JSON, b: JSON) -> bool:
    """Whether two equal objects share their values, as copies do that differed in one key or other for a while."""
    return isinstance(a, dict) and isinstance(b, dict) and all(b[key] is value for key, value in a.items())


def _may_have_booleans(text: bytes) -> bool:
    """Nothing else is equal in Python and is not the same."""
    return b"true" in text or b"false" in text


def _same_inside(a: JSON, b: JSON) -> bool:
    """The thorough comparison of values that Python takes for equal and that print differently."""
    if isinstance(a, dict) and isinstance(b, dict):
        return all(same(value, b[key]) for key, value in a.items())
    if isinstance(a, list) and isinstance(b, list):
        return all(same(x, y) for x, y in zip(a, b, strict=True))
    return False


def copied(value: JSON) -> JSON:
    """A copy that shares no dict or list with the original."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value
