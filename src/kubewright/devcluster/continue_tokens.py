"""Continue tokens: where the next page of a list begins, and at which revision.

Clients must not look inside; the form is a real server's all the same, so that a token of one is refused by the other
only where it makes no sense there.
"""

from __future__ import annotations

import base64
import posixpath
import re
from typing import Any

import msgspec

from kubewright.devcluster.bodies import load_json
from kubewright.devcluster.statuses import StatusError, bad_request

__all__ = ["INCONSISTENT", "continue_token", "read_continue_token"]

INCONSISTENT = -1
"""The revision of a token that goes on with the list as it is by then."""

_VERSION = "meta.k8s.io/v1"
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9_\r\n-]")
_GO_TYPES = {"v": (str, "string"), "rv": (int, "int64"), "start": (str, "string")}
_JSON_NAMES = {str: "string", bool: "bool", int: "number", float: "number", list: "array", dict: "object"}


def continue_token(revision: int, start: str) -> str:
    """The token for a page that begins at the key ``start``, relative to the list's own place."""
    body = msgspec.json.encode({"v": _VERSION, "rv": revision, "start": start})
    return base64.urlsafe_b64encode(body).decode().rstrip("=")


def read_continue_token(text: str) -> tuple[int, str]:
    """The revision and the key. Raises `StatusError` in the server's words."""
    try:
        token = _fields(load_json(_from_base64(text.encode()))[0])
    except ValueError as error:
        raise _refused(str(error)) from error
    if token["v"] != _VERSION:
        raise _refused(f"server does not recognize this encoded version {token['v']}")
    revision, start = token["rv"], token["start"]
    if revision == 0:
        raise _refused(f"incorrect encoded start resourceVersion (version {_VERSION})")
    if not start:
        raise _refused(f"encoded start key empty (version {_VERSION})")
    key = start if start.startswith("/") else f"/{start}"
    if posixpath.normpath(key) != key:
        raise _refused(start)
    return revision, key.removeprefix("/")


def _refused(why: str) -> StatusError:
    return bad_request(f"invalid continue token: continue key is not valid: {why}")


def _from_base64(text: bytes) -> bytes:
    bad = _NOT_BASE64.search(text)
    text = re.sub(rb"[\r\n]", b"", text)
    if bad is not None or len(text) % 4 == 1:
        position = len(text) - 1 if bad is None else bad.start()
        raise ValueError(f"illegal base64 data at input byte {position}")
    return base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))


def _fields(value: Any) -> dict[str, Any]:
    """The token's fields, empty or zero where it lacks them."""
    if value is None:
        value = {}
    if not isinstance(value, dict):
        kind = _JSON_NAMES[type(value)]
        raise ValueError(f"json: cannot unmarshal {kind} into Go value of type storage.continueToken")  # noqa: TRY004
    found: dict[str, Any] = {}
    for key, (expected, name) in _GO_TYPES.items():
        given = value.get(key)
        if given is not None and type(given) is not expected:
            kind = _JSON_NAMES[type(given)]
            raise ValueError(f"json: cannot unmarshal {kind} into Go struct field continueToken.{key} of type {name}")
        found[key] = expected() if given is None else given
    return found
