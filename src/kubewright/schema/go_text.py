"""Values as the API server's messages print them, which is how Go prints them."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["json_text", "number_text", "quoted", "value_text"]

_ESCAPES = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    "\\": r"\\",
    '"': r"\"",
}
_JSON_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}
_INT64 = range(-(2**63), 2**63)


def quoted(text: str) -> str:
    """A string in double quotes, everything unprintable escaped."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def number_text(value: float) -> str:
    """A number in plain text: integers in full, others with an exponent from 1e+06 on, or below 1e-4."""
    return _number(value, range(-4, 6), "02d")


def _number(value: float, plain: range, exponent_format: str) -> str:
    if isinstance(value, int) and value in _INT64:
        return str(value)
    sign, digits, power = _decimal(float(value))
    if power not in plain:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{fraction}e{'-' if power < 0 else '+'}{format(abs(power), exponent_format)}"
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    whole = digits[: power + 1].ljust(power + 1, "0")
    fraction = digits[power + 1 :]
    return f"{sign}{whole}.{fraction}" if fraction else sign + whole


def _decimal(value: float) -> tuple[str, str, int]:
    """Sign, shortest digits that give the same float, and the power of ten of the first digit."""
    mantissa, _, exponent = repr(value).partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.removeprefix("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return "", "0", 0
    leading = len(whole + fraction) - len(digits)
    return sign, digits.rstrip("0"), len(whole) - 1 - leading + int(exponent or 0)


def json_text(value: Any, *, in_order: bool = False) -> str:
    """Compact JSON, as the server embeds it in messages: with sorted keys, or ``in_order`` of the dicts."""
    if isinstance(value, dict):
        keys = value if in_order else sorted(value)
        return "{" + ",".join(f"{json_text(key)}:{json_text(value[key], in_order=in_order)}" for key in keys) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(json_text(item, in_order=in_order) for item in value) + "]"
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
        return "".join(_JSON_ESCAPES.get(char, char) for char in text)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value, range(-6, 21), "d")
    return json.dumps(value)


def value_text(value: Any) -> str:
    """A refused value: strings quoted, maps and lists as JSON."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, int | float):
        return number_text(value)
    return json_text(value)
