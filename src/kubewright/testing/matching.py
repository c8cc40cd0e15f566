"""Comparing a live object with the part of it that matters, and showing the difference as YAML."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any

import yaml

__all__ = ["ABSENT", "ANYTHING", "Containing", "Like", "containing", "difference", "like"]


class _Word:
    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


ANYTHING = _Word("ANYTHING")
"""Stands for any value that is there."""
ABSENT = _Word("ABSENT")
"""Stands for a field that is not there."""


class Containing:
    """A list with, among others, an item that matches each of ``items``, such as conditions by type."""

    def __init__(self, *items: Any) -> None:
        self.items = items

    def __repr__(self) -> str:
        return f"containing({', '.join(map(repr, self.items))})"


class Like:
    """Text in which the regular expression is found."""

    def __init__(self, pattern: str) -> None:
        self.pattern = re.compile(pattern)

    def __repr__(self) -> str:
        return f"like({self.pattern.pattern!r})"


def containing(*items: Any) -> Containing:
    return Containing(*items)


def like(pattern: str) -> Like:
    return Like(pattern)


def difference(expected: Any, live: Any) -> str:
    """Empty where ``live`` has what ``expected`` says, otherwise both as YAML, as a unified diff.

    A mapping says only what its keys say; a list has to match item by item and in length, see `containing`.
    """
    wanted, found = _side_by_side(expected, live)
    if wanted == found:
        return ""
    return "\n".join(
        difflib.unified_diff(
            _yaml(wanted), _yaml(found), "expected", "live (what was asked for of it)", lineterm="", n=20
        )
    )


_MISSING = object()


def _side_by_side(expected: Any, live: Any) -> tuple[Any, Any]:
    """Both as plain data: equal where they match, and of the live value only what ``expected`` speaks of."""
    match expected:
        case _ if expected is ANYTHING:
            return (repr(expected), "(absent)") if live is _MISSING else (live, live)
        case _ if expected is ABSENT:
            return (_MISSING, _MISSING) if live is _MISSING else (_MISSING, live)
        case Like():
            found = isinstance(live, str) and expected.pattern.search(live)
            return (live, live) if found else (repr(expected), _shown(live))
        case Containing():
            return _contained(expected, live)
        case Mapping():
            if not isinstance(live, Mapping):
                return _plain(expected), _shown(live)
            pairs = {key: _side_by_side(value, live.get(key, _MISSING)) for key, value in expected.items()}
            return (
                {key: wanted for key, (wanted, _) in pairs.items() if wanted is not _MISSING},
                {key: found for key, (_, found) in pairs.items() if found is not _MISSING},
            )
        case list() | tuple():
            if not isinstance(live, list):
                return _plain(list(expected)), _shown(live)
            both = [_side_by_side(one, other) for one, other in zip(expected, live, strict=False)]
            count = len(both)
            return (
                [wanted for wanted, _ in both] + [_plain(item) for item in expected[count:]],
                [found for _, found in both] + live[count:],
            )
        case _:
            return expected, _shown(live)


def _contained(expected: Containing, live: Any) -> tuple[Any, Any]:
    if not isinstance(live, list):
        return [_plain(item) for item in expected.items], _shown(live)
    if all(any(_matches(item, one) for one in live) for item in expected.items):
        return live, live
    # each wanted item beside the live one that is most like it
    pairs = [_side_by_side(item, _closest(item, live)) for item in expected.items]
    return [wanted for wanted, _ in pairs], [found for _, found in pairs if found is not _MISSING]


def _closest(item: Any, live: list[Any]) -> Any:
    def likeness(one: Any) -> int:
        if not isinstance(item, Mapping) or not isinstance(one, Mapping):
            return int(_matches(item, one))
        return sum(_matches(value, one.get(key, _MISSING)) for key, value in item.items())

    return max(live, key=likeness, default=_MISSING)


def _matches(expected: Any, live: Any) -> bool:
    wanted, found = _side_by_side(expected, live)
    return bool(wanted == found)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if item is not ABSENT}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return repr(value) if isinstance(value, _Word | Like | Containing) else value


def _shown(live: Any) -> Any:
    return "(absent)" if live is _MISSING else live


def _yaml(value: Any) -> list[str]:
    return str(yaml.dump(value, sort_keys=False, allow_unicode=True, width=120)).splitlines()
