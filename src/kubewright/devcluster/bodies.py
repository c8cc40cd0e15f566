"""Request bodies: bytes to decoded JSON, with a real server's words for what does not parse."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kubewright.devcluster.statuses import StatusError, bad_request, status_body
from kubewright.schema.go_text import quoted

__all__ = [
    "BODY_TYPES",
    "JSON",
    "LARGEST_BODY",
    "YAML",
    "check_size",
    "json_error",
    "load_json",
    "load_merged",
    "media_type",
    "not_a_struct",
    "not_an_object",
    "unrecognized",
    "unsupported",
]

JSON = "application/json"
YAML = "application/yaml"
LARGEST_BODY = 3 * 1024 * 1024
"""What a real server takes, in bytes."""

_PROTOBUF = "application/vnd.kubernetes.protobuf"
BODY_TYPES = (JSON, YAML, _PROTOBUF)
"""What a real server takes as an object's body. We take the first two."""


def media_type(headers: Mapping[str, str]) -> str:
    """The Content-Type without its parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def check_size(body: bytes) -> None:
    """Raises `StatusError` (413) for a body that a real server would not read to its end."""
    if len(body) > LARGEST_BODY:
        message = f"Request entity too large: limit is {LARGEST_BODY}"
        raise StatusError(status_body(413, "RequestEntityTooLarge", message))


def unsupported(accepted: Sequence[str]) -> StatusError:
    """415: the body is of a type that is not among those."""
    message = f"the body of the request was in an unknown format - accepted media types include: {', '.join(accepted)}"
    return StatusError(status_body(415, "UnsupportedMediaType", message))


def load_json(body: bytes, *, duplicates: bool = False) -> tuple[Any, list[str]]:
    """Decodes JSON and, if asked, finds fields that appear twice (``spec.engine``).

    Raises ValueError with the text of Go's decoder.
    """
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise ValueError(json_error(body)) from None
    return value, _duplicates(body) if duplicates and not _has_each_once(body, value) else []


_encode = msgspec.json.Encoder().encode


def _has_each_once(body: bytes, value: Any) -> bool:
    """Whether there certainly are no duplicates: what was decoded encodes to the very same text, but for white space."""
    again = _encode(value)
    return again == body or again == msgspec.json.format(body, indent=-1)


def load_merged(body: bytes) -> Any:
    """Decodes JSON that has fields twice as Go decodes it into structs: objects of one name are put together."""
    return json.loads(body, object_pairs_hook=_put_together)


def _put_together(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for key, value in pairs:
        before = merged.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            value = _put_together([*before.items(), *value.items()])  # noqa: PLW2901
        merged[key] = value
    return merged


class _Pairs(list[tuple[str, Any]]):
    """An object as it was written."""


def _duplicates(body: bytes) -> list[str]:
    found: list[str] = []

    def walk(value: Any, path: str) -> None:
        if isinstance(value, _Pairs):
            seen = set()
            for key, item in value:
                where = f"{path}.{key}" if path else key
                if key in seen:
                    found.append(where)
                seen.add(key)
                walk(item, where)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                walk(item, f"{path}[{index}]")

    walk(json.loads(body, object_pairs_hook=_Pairs), "")
    return found


_LOOKING_FOR = {
    "Expecting value": "looking for beginning of value",
    "Expecting property name enclosed in double quotes": "looking for beginning of object key string",
    "Illegal trailing comma before end of object": "looking for beginning of object key string",
    "Illegal trailing comma before end of array": "looking for beginning of value",
    "Expecting ':' delimiter": "after object key",
    "Extra data": "after top-level value",
}


def json_error(body: bytes) -> str:
    """What Go's JSON decoder says about a body that does not parse."""
    text = body.decode(errors="replace")
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        comma = error.msg.startswith("Illegal trailing comma")  # 3.13 points to it, 3.12 and Go to what follows
        rest = text[error.pos + comma :].lstrip()
        if not rest or error.msg.startswith("Unterminated"):
            return "unexpected end of JSON input"
        char = "'\\''" if rest[0] == "'" else f"'{rest[0]}'"
        if error.msg == "Expecting ',' delimiter":
            inside = (
                "array element"
                if text[: error.pos].rfind("[") > text[: error.pos].rfind("{")
                else "object key:value pair"
            )
            return f"invalid character {char} after {inside}"
        where = _LOOKING_FOR.get(error.msg, "in string literal")
        return f"invalid character {char} {where}"
    except RecursionError:
        return "exceeded max depth"
    return "invalid JSON"


def not_an_object(kind: str, value: Any, body: bytes) -> StatusError:
    """400 for a body that is no JSON object."""
    return bad_request(
        f"the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse error: "
        f"{not_a_struct(value)} ({_shown(body)})"
    )


def not_a_struct(value: Any) -> str:
    """What Go's decoder says when it looks for kind and apiVersion in something else than an object."""
    name = {list: "array", str: "string", bool: "bool", int: "number", float: "number"}.get(type(value), "null")
    return (
        f"json: cannot unmarshal {name} into Go value of type struct {{ APIVersion string "
        f"{quoted(_GO_TAG.format('apiVersion'))}; Kind string {quoted(_GO_TAG.format('kind'))} }}"
    )


_GO_TAG = 'json:"{},omitempty"'
_LONGEST_SHOWN = 30


def _shown(body: bytes) -> str:
    """The start of a body, as messages quote it: text where it looks like JSON, else hexadecimal."""
    if not body:
        return "<empty>"
    shown = body[:_LONGEST_SHOWN]
    text = shown.decode(errors="replace") if body[:1] == b"{" else shown.hex()
    return text + (" ..." if len(body) > _LONGEST_SHOWN else "")


def unrecognized(kind: str, why: str, body: bytes) -> StatusError:
    """400 for a body that does not even say what it is."""
    return bad_request(f"the object provided is unrecognized (must be of type {kind}): {why} ({_shown(body)})")
