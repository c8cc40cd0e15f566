"""What must not be read by everybody who reads logs, conditions and events: credentials, and what objects hold."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, ItemsView, KeysView, Mapping, ValuesView
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from uuid import UUID

from msgspec import Struct

from kubewright.api import Resource, describe

__all__ = ["described", "loggable", "said", "shown", "without_credentials"]

_CREDENTIAL = r"(?=[\w.~+/=%-]*\d)[\w.~+/=%-]{8,}"
_HEADER = re.compile(rf"\b(Bearer|Basic)(\s+|%20|\+){_CREDENTIAL}", re.IGNORECASE)
_JWT = re.compile(r"\beyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*")
_USER = re.compile(r"(?<=://)[^\s/@'\"]+(?=@)")
_HIDDEN = "…"


def without_credentials(text: str) -> str:
    """``text`` without tokens, passwords in URLs and ``Authorization`` headers, as proxies repeat them in their errors.

    What UTF-8 can't write, as undecodable names of files have it, is escaped: neither logs nor servers take it.
    """
    if not text.isascii():
        text = text.encode(errors="backslashreplace").decode()
    text = _JWT.sub(_HIDDEN, text) if "eyJ" in text else text
    text = _USER.sub(_HIDDEN, text) if "://" in text else text
    return _HEADER.sub(rf"\1\2{_HIDDEN}", text)


def shown(value: object) -> str:
    """A value in a message: objects by their names, as any may hold a Secret's data; all else as Python writes it."""
    told = loggable(value)
    return told if isinstance(value, Resource) and isinstance(told, str) else repr(told)


def said(error: BaseException) -> str:
    """What it says; one whose class fails even at that must not be of harm to whoever reports it."""
    try:
        return str(error)
    except Exception as failure:
        return f"(its message can't be made: {type(failure).__name__})"


def described(error: BaseException) -> str:
    """``ValueError: no``."""
    return f"{type(error).__name__}: {said(error)}"


def loggable(value: object, opaque: Callable[[object], object] | None = None) -> object:
    """The same for a value of a log line, which keeps its structure. It never raises.

    ``opaque`` is what becomes of a value that holds nothing to look into; default its text without credentials.
    """
    try:
        return _loggable(value, opaque or _opaque)
    except Exception as error:  # it is the value's own, and must not be of harm to whoever logs it
        return f"a {type(value).__name__} that can't be shown: {type(error).__name__}"


def _loggable(value: object, opaque: Callable[[object], object]) -> object:
    match value:
        case str():
            return without_credentials(value)
        case None | bool() | int() | float() | Decimal() | date() | time() | timedelta() | UUID():
            return value
        case Resource():
            return describe(value)
        case bytes() | bytearray() | memoryview():
            return f"{len(value)} bytes"
        case Mapping():
            return {without_credentials(str(key)): _loggable(each, opaque) for key, each in value.items()}
        case list() | tuple() | set() | frozenset() | deque() | KeysView() | ValuesView() | ItemsView():
            return [_loggable(each, opaque) for each in value]
        case _ if type(value).__str__ is object.__str__ and (held := _fields(value)) is not None:
            return {name: _loggable(each, opaque) for name, each in held.items()}
        case _:
            return opaque(value)


def _fields(value: object) -> dict[str, object] | None:
    """Of what is nothing but its fields, those that are set."""
    if isinstance(value, Struct):
        names = dict(zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True))
    elif is_dataclass(value) and not isinstance(value, type):
        names = {each.name: each.name for each in fields(value)}
    else:
        return None
    return {name: each for name, attribute in names.items() if (each := getattr(value, attribute)) is not None}


def _opaque(value: object) -> object:
    if isinstance(value, Enum):
        return loggable(value.value)
    return without_credentials(repr(value) if _fields(value) is None else str(value))
