"""What must not be read by everybody who reads logs, conditions and events: credentials, and what objects hold."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kubewright.api import Resource, describe

__all__ = ["loggable", "shown", "without_credentials"]

_CREDENTIAL = r"(?=[\w.~+/=%-]*\d)[\w.~+/=%-]{8,}"
_HEADER = re.compile(rf"\b(Bearer|Basic)(\s+|%20|\+){_CREDENTIAL}", re.IGNORECASE)
_JWT = re.compile(r"\beyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*")
_USER = re.compile(r"(?<=://)[^\s/@'\"]+(?=@)")
_HIDDEN = "…"


def without_credentials(text: str) -> str:
    """``text`` without tokens, passwords in URLs and ``Authorization`` headers, as proxies repeat them in their errors."""
    text = _JWT.sub(_HIDDEN, text) if "eyJ" in text else text
    text = _USER.sub(_HIDDEN, text) if "://" in text else text
    return _HEADER.sub(rf"\1\2{_HIDDEN}", text)


def shown(value: object) -> str:
    """A value in a message: objects by their names, as any may hold a Secret's data; all else as Python writes it."""
    told = loggable(value)
    return told if isinstance(value, Resource) and isinstance(told, str) else repr(told)


def loggable(value: object) -> object:
    """The same for a value of a log line, which keeps its structure."""
    if isinstance(value, Resource):
        return describe(value)
    if isinstance(value, str):
        return without_credentials(value)
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, Mapping):
        return {str(key): loggable(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [loggable(each) for each in value]
    return value
