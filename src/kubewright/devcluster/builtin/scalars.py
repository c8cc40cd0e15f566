"""The scalars of the wire format: which JSON values the server takes for them, and how it writes them back.

The wording of refusals is that of the server's JSON decoder.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from kubewright.api.quantities import PATTERN_MESSAGE, QuantityError, canonical, quantity

__all__ = ["SCALARS", "Mismatch", "Scalar", "json_type"]


class Mismatch(Exception):
    """A JSON value that its field can't hold. `inside` is called on the way out, field by field."""

    def __init__(self, found: str, wanted: str, *, message: str = "") -> None:
        super().__init__(message)
        self._found = found
        self._wanted = wanted
        self._message = message
        self._struct = ""
        self._path: list[str] = []

    def inside(self, struct: str, field: str) -> None:
        self._struct = self._struct or struct
        self._path.append(field)

    def __str__(self) -> str:
        if self._message:
            return self._message
        where = f"Go struct field {self._struct}.{'.'.join(reversed(self._path))}" if self._path else "Go value"
        return f"json: cannot unmarshal {self._found} into {where} of type {self._wanted}"


def json_type(value: object) -> str:
    """The kind of a decoded JSON value, as the decoder names it."""
    if isinstance(value, bool):
        return "bool"
    return {str: "string", int: "number", float: "number", list: "array", dict: "object"}.get(type(value), "null")


@dataclass(frozen=True)
class Scalar:
    """One scalar type: its Go name, its zero value, a check that raises `Mismatch`, and how a value is written."""

    go_name: str
    zero: str | int | float | bool | None
    check: Callable[[Any], None]
    canonical: Callable[[Any], Any]

    @property
    def verbatim(self) -> bool:
        """Whether values are written just as they were read."""
        return self.canonical is _same


def _same(value: Any) -> Any:
    return value


def _check_string(value: Any) -> None:
    if not isinstance(value, str):
        raise Mismatch(json_type(value), "string")


def _check_bool(value: Any) -> None:
    if not isinstance(value, bool):
        raise Mismatch(json_type(value), "bool")


def _integer(bits: int) -> Callable[[Any], None]:
    bound = 1 << (bits - 1)

    def check(value: Any) -> None:
        if isinstance(value, float) or (type(value) is int and not -bound <= value < bound):
            raise Mismatch(f"number {value}", f"int{bits}")
        if type(value) is not int:
            raise Mismatch(json_type(value), f"int{bits}")

    return check


def _check_number(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Mismatch(json_type(value), "float64")


def _check_bytes(value: Any) -> None:
    if not isinstance(value, str):
        raise Mismatch(json_type(value), "[]uint8")
    text = value.replace("\n", "").replace("\r", "")
    bad = re.search(r"[^A-Za-z0-9+/=]", text)
    if bad is not None:
        raise Mismatch("", "", message=f"illegal base64 data at input byte {bad.start()}")
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise Mismatch("", "", message=f"illegal base64 data at input byte {len(text) - len(text) % 4}") from error


def _check_quantity(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Mismatch("", "", message=PATTERN_MESSAGE)
    try:
        quantity(value.strip() if isinstance(value, str) else value)
    except QuantityError as error:
        raise Mismatch("", "", message=str(error)) from error


def _canonical_quantity(value: Any) -> Any:
    return canonical(value.strip() if isinstance(value, str) else value)


def _check_int_or_string(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise Mismatch(json_type(value), "int32")


_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)")


def _moment(layout: str, *, fraction: int) -> Callable[[Any], None]:
    def check(value: Any) -> None:
        _check_string(value)
        match = _TIME.fullmatch(value)
        if match is None:
            raise Mismatch("", "", message=f'parsing time "{value}" as "{layout}": cannot parse "{value}" as "2006"')
        if fraction and len(match[2] or "") != fraction + 1:
            raise Mismatch(
                "",
                "",
                message=f'parsing time "{value}" as "{layout}": cannot parse "{match[3]}" as ".{"0" * fraction}"',
            )

    return check


def _canonical_time(value: Any) -> Any:
    match = _TIME.fullmatch(value)
    if match is None or match[3] == "Z":
        return f"{match[1]}Z" if match else value
    return datetime.fromisoformat(match[1] + match[3]).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


SCALARS: dict[tuple[str, str], Scalar] = {
    ("string", ""): Scalar("string", "", _check_string, _same),
    ("string", "byte"): Scalar("[]uint8", "", _check_bytes, _same),
    ("string", "date-time"): Scalar("string", None, _moment("2006-01-02T15:04:05Z07:00", fraction=0), _canonical_time),
    ("boolean", ""): Scalar("bool", False, _check_bool, _same),
    ("integer", ""): Scalar("int", 0, _integer(64), _same),
    ("integer", "int32"): Scalar("int32", 0, _integer(32), _same),
    ("integer", "int64"): Scalar("int64", 0, _integer(64), _same),
    ("number", "double"): Scalar("float64", 0, _check_number, _same),
    ("Quantity", ""): Scalar("resource.Quantity", None, _check_quantity, _canonical_quantity),
    ("IntOrString", ""): Scalar("intstr.IntOrString", None, _check_int_or_string, _same),
    ("Time", ""): Scalar("string", None, _moment("2006-01-02T15:04:05Z07:00", fraction=0), _canonical_time),
    ("MicroTime", ""): Scalar("string", None, _moment("2006-01-02T15:04:05.000000Z07:00", fraction=6), _same),
}
"""By OpenAPI type and format, or by the name of the definition."""
