"""The JSONPath that printer columns and scale paths use: names, indexes, wildcards, slices and simple filters.

https://kubernetes.io/docs/reference/kubectl/jsonpath/
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["JsonPath", "JsonPathError"]

Step = Callable[[Any], Iterator[Any]]


class JsonPathError(ValueError):
    """A path that does not parse; the message quotes it."""


_NAME = re.compile(r"\.?(?P<name>(?:[^.\[\]\s\\]|\\.)+)")
_QUOTED = re.compile(r"\[(?P<quote>['\"])(?P<name>.*?)(?P=quote)\]")
_INDEX = re.compile(r"\[(?P<index>-?\d+)\]")
_SLICE = re.compile(r"\[(?P<start>-?\d*):(?P<stop>-?\d*)\]")
_EVERY = re.compile(r"\.?\[\*\]|\.\*")
_FILTER = re.compile(r"\[\?\(\s*@(?P<path>[^=!<>\s)]*)\s*(?:(?P<op>==|!=|<=|>=|<|>)\s*(?P<value>[^)]*?))?\s*\)\]")
_DEEP = re.compile(r"\.\.(?P<name>[^.\[\]]+)")

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class JsonPath:
    """A parsed path such as ``.status.conditions[?(@.type=="Ready")].status``; braces around it are allowed."""

    def __init__(self, text: str) -> None:
        """Raises `JsonPathError`."""
        inner = text.strip()
        if inner.startswith("{") and inner.endswith("}"):
            inner = inner[1:-1].strip()
        self.text = text
        self._steps = list(_parse(inner.removeprefix("$"), text))

    def find(self, obj: Any) -> list[Any]:
        """Every value at the path, in order; empty where the object has none. Never raises."""
        found = [obj]
        for step in self._steps:
            found = [value for each in found for value in step(each)]
        return found

    def first(self, obj: Any) -> Any:
        """The first value at the path, None where there is none."""
        return next(iter(self.find(obj)), None)


def _parse(rest: str, whole: str) -> Iterator[Step]:
    while rest and rest != ".":
        for pattern, make in _FORMS:
            match = pattern.match(rest)
            if match is not None:
                yield make(match)
                rest = rest[match.end() :]
                break
        else:
            raise JsonPathError(f"{whole!r} is no JSONPath: can't understand {rest!r}")


def _name(match: re.Match[str]) -> Step:
    name = re.sub(r"\\(.)", r"\1", match["name"])

    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and name in value:
            yield value[name]

    return step


def _index(match: re.Match[str]) -> Step:
    index = int(match["index"])

    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list) and -len(value) <= index < len(value):
            yield value[index]

    return step


def _slice(match: re.Match[str]) -> Step:
    bounds = slice(*(int(match[name]) if match[name] else None for name in ("start", "stop")))

    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list):
            yield from value[bounds]

    return step


def _every(_match: re.Match[str]) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list):
            yield from value
        elif isinstance(value, dict):
            yield from value.values()

    return step


def _deep(match: re.Match[str]) -> Step:
    name = match["name"]

    def step(value: Any) -> Iterator[Any]:
        children: list[Any] = []
        if isinstance(value, dict):
            if name in value:
                yield value[name]
            children = list(value.values())
        elif isinstance(value, list):
            children = value
        for child in children:
            yield from step(child)

    return step


def _filter(match: re.Match[str]) -> Step:
    path = JsonPath(match["path"])
    compare = _OPERATORS.get(match["op"] or "")
    wanted = _literal(match["value"]) if match["value"] is not None else None

    def holds(item: Any) -> bool:
        found = path.find(item)
        if compare is None:
            return bool(found)
        try:
            return any(bool(compare(each, wanted)) for each in found)
        except TypeError:
            return False  # values of different types have no order

    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list):
            yield from (item for item in value if holds(item))

    return step


def _literal(text: str) -> Any:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if text in {"true", "false"}:
        return text == "true"
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Step]], ...] = (
    (_FILTER, _filter),
    (_QUOTED, _name),
    (_INDEX, _index),
    (_SLICE, _slice),
    (_EVERY, _every),
    (_DEEP, _deep),
    (_NAME, _name),
)
