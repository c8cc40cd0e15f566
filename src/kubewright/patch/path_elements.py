"""Path elements: one step of a path in server-side apply's books, in the spelling of fieldsV1.

``f:name`` is a field, ``k:{"type":"Ready"}`` an item of a list map, ``v:"a"`` a member of a set, ``i:3`` a place in a
list. One element has one spelling (keys sorted, JSON as Go prints it), so elements can be compared as text.

https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/ (fieldsV1)
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from functools import lru_cache

import msgspec

from kubewright.api import JSON
from kubewright.patch.shape import Shape

__all__ = ["canonical", "describe", "item_element", "key_element", "order", "value_element"]

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode

_UNSAFE = re.compile("[<>&\u2028\u2029]")


def _go_json(value: JSON) -> str:
    """JSON as Go's encoder prints it, which is safe to put into HTML."""
    text = _encode(value).decode()
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) if _UNSAFE.search(text) else text


@lru_cache(64)  # names that come again and again; most values are UIDs, which soon come no more
def _go_text(text: str) -> str:
    return _go_json(text)


def _whole(value: JSON) -> JSON:
    """Go prints a float without a fraction as the integer it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def value_element(value: JSON) -> str:
    """The element of a set's member."""
    if isinstance(value, str):
        return f"v:{_go_text(value)}"
    return f"v:{_go_json(_whole(value))}"


def key_element(keys: Mapping[str, JSON]) -> str:
    """The element of a list map's item, from its key fields in alphabetical order."""
    if len(keys) == 1:
        name, value = next(iter(keys.items()))
        if isinstance(value, str):
            return f"k:{{{_go_text(name)}:{_go_text(value)}}}"
    return f"k:{_go_json({name: _whole(value) for name, value in keys.items()})}"


def item_element(item: JSON, shape: Shape) -> str:
    """The element of an item of a set or list map; ``shape`` is the list's.

    Raises ValueError, in an API server's words, where the item has no identity.
    """
    if shape.list_type == "set":
        return _member_element(item)
    if item is None:
        raise ValueError("associative list with keys may not have a null element")
    if not isinstance(item, dict):
        raise ValueError("associative list with keys may not have non-map elements")  # noqa: TRY004 - as for all others
    keys: dict[str, JSON] = {}
    for name in shape.sorted_keys:
        if name in item:
            keys[name] = item[name]
        elif name in shape.key_defaults:
            keys[name] = shape.key_defaults[name]
    if not keys:
        names = " ".join(_go_json(name) for name in shape.list_map_keys)
        raise ValueError(
            f"associative list with keys has an element that omits all key fields [{names}] "
            "(and doesn't have default values for any key fields)"
        )
    return key_element(keys)


def _member_element(item: JSON) -> str:
    if isinstance(item, dict):
        raise ValueError("associative list without keys has an element that's a map type")  # noqa: TRY004
    if isinstance(item, list):
        raise ValueError("not supported: associative list with lists as elements")  # noqa: TRY004
    if item is None:
        raise ValueError("associative list without keys has an element that's an explicit null")
    return value_element(item)


@lru_cache(512)
def canonical(element: str) -> str | None:
    """The one spelling of an element; None for a kind of element that is not known, which readers skip.

    Raises ValueError for one that can't be read.
    """
    kind, text = element[:2], element[2:]
    if len(kind) < 2:
        raise ValueError(f"{element!r}: key must be 2 characters long")
    if kind[1] != ":":
        raise ValueError(f"{element!r}: missing colon")
    if kind == "f:":
        return element
    if kind == "i:":
        return f"i:{int(text)}"
    if kind not in {"k:", "v:"}:
        return None
    try:
        value: JSON = _decode(text)
    except msgspec.DecodeError as error:
        raise ValueError(f"{element!r}: {error}") from error
    if kind == "v:":
        return value_element(value)
    if not isinstance(value, dict):
        raise ValueError(f"{element!r}: the keys of an item are an object")  # noqa: TRY004 - it is what was read
    return key_element(dict(sorted(value.items())))


def describe(element: str) -> str:
    """The element as messages show it: ``.name``, ``[type="Ready"]``, ``[="a"]``, ``[3]``."""
    kind, text = element[:2], element[2:]
    if kind == "f:":
        return f".{text}"
    if kind == "i:":
        return f"[{text}]"
    value: JSON = _decode(text)
    if kind == "k:" and isinstance(value, dict):
        return f"[{','.join(f'{name}={_shown(key)}' for name, key in value.items())}]"
    return f"[={_shown(value)}]"


def _shown(value: JSON) -> str:
    return _encode(value).decode()


_KIND_ORDER = {"f:": 0, "k:": 1, "v:": 2, "i:": 3}


@lru_cache(512)
def order(element: str) -> tuple[int, Hashable]:
    """Sorts elements as an API server lists them: by kind, names and texts alphabetically, numbers by value."""
    kind, text = element[:2], element[2:]
    rank = _KIND_ORDER[kind]
    if kind == "f:":
        return rank, text
    if kind == "i:":
        return rank, int(text)
    value: JSON = _decode(text)
    if kind == "k:" and isinstance(value, dict):
        return rank, tuple((name, *_value_order(key)) for name, key in value.items())
    return rank, _value_order(value)


def _value_order(value: JSON) -> tuple[int, float | str]:
    """Numbers before texts before booleans, as the server compares scalars."""
    if isinstance(value, bool):
        return 2, int(value)
    if isinstance(value, int | float):
        return 0, value
    if isinstance(value, str):
        return 1, value
    return 3, _encode(
        value,
    ).decode()
