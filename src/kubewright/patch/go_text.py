"""How Go prints decoded JSON: the API server's messages show values that way."""

from __future__ import annotations

from kubewright.api import JSON

__all__ = ["json_kind", "literal", "plain"]

_KINDS = {dict: "object", list: "array", str: "string", bool: "bool", int: "number", float: "number"}


def json_kind(value: object) -> str:
    """What a value is called where it can't be decoded."""
    return _KINDS.get(type(value), "null")


def plain(value: JSON) -> str:
    """The value as ``%v`` prints it."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case list():
            return f"[{' '.join(map(plain, value))}]"
        case dict():
            return f"map[{' '.join(f'{key}:{plain(item)}' for key, item in sorted(value.items()))}]"
        case _:
            return str(value)


def literal(value: JSON) -> str:
    """The value as ``%#v`` prints it."""
    match value:
        case None:
            return "interface {}(nil)"
        case str():
            return f'"{value}"'
        case list():
            return f"[]interface {{}}{{{', '.join(map(literal, value))}}}"
        case dict():
            inside = ", ".join(f'"{key}":{literal(item)}' for key, item in sorted(value.items()))
            return f"map[string]interface {{}}{{{inside}}}"
        case _:
            return plain(value)
