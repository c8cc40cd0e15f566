"""`Transcript`: the answers of one case, comparable from run to run and from server to server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

__all__ = ["Transcript"]

_TIMES = frozenset(
    {
        "creationTimestamp",
        "deletionTimestamp",
        "lastTransitionTime",
        "lastProbeTime",
        "lastUpdateTime",
        "lastHeartbeatTime",
        "startTime",
        "time",
        "eventTime",
        "firstTimestamp",
        "lastTimestamp",
        "renewTime",
        "acquireTime",
    }
)
_HEADERS = ("content-type", "warning", "retry-after", "allow", "location")
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_MOMENTS = (
    (re.compile(r"too old resource version: \d+ \(\d+\)"), "too old resource version: <asked> (<oldest>)"),
    (re.compile(r"(?<=, current: )\d+"), "<now>"),
)
"""Versions in messages that are those of a whole server."""


class Transcript:
    """Takes down answers; `steps` gives them with symbols for what no two runs share.

    UIDs become ``uid-1``, ``uid-2``… in order of appearance, resource versions of objects ``rv-1``, ``rv-2``… in order of
    size (so that which is newer still shows), times ``<time>``, and the case's own namespace ``<namespace>``. A list and
    a bookmark carry the version of a whole server, which does other things too: it becomes ``<now>`` when nothing newer was
    taken down before, else ``<as of STEP>`` when it is that of an earlier list, else that of an object.
    """

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        """Names made for this run → their symbols."""
        self._newest = 0
        self._lists: dict[int, str] = {}
        """The versions of earlier steps' lists → the step."""
        self._raw: list[dict[str, Any]] = []

    def name(self, text: str, symbol: str) -> None:
        """Makes comparable what only this run has."""
        self._names[text] = symbol

    def add(self, label: str, **taken: Any) -> None:
        self._raw.append({"step": label, **taken})

    def add_answer(self, label: str, status: int, headers: dict[str, str], body: Any) -> None:
        kept = {name: headers[name] for name in _HEADERS if name in headers}
        self.add(label, status=status, headers=kept, body=body)

    def steps(self) -> list[dict[str, Any]]:
        versions = sorted({version for version, of_list in _versions(self._raw) if not of_list})
        symbols = {str(version): f"rv-{rank}" for rank, version in enumerate(versions, start=1)}
        uids: dict[str, str] = {}
        self._newest, self._lists = 0, {}
        cleaned: list[dict[str, Any]] = []
        for step in self._raw:
            cleaned.append(self._clean(step, symbols, uids))
            for version in (version for version, of_list in _versions(step) if of_list):
                self._lists.setdefault(version, step["step"])
        return cleaned

    def _clean(self, value: Any, versions: dict[str, str], uids: dict[str, str], key: str = "") -> Any:
        if isinstance(value, dict):
            cleaned = {
                self._text(name, versions, uids): self._clean(item, versions, uids, _inner(key, name))
                for name, item in value.items()
            }
            own = _own_version(value)
            if own and _is_list(value, key):
                cleaned["metadata"]["resourceVersion"] = self._moment(own, versions)
            self._newest = max(self._newest, own)
            return cleaned
        if isinstance(value, list):
            value = _in_fixed_order(value, key)
            return [self._clean(item, versions, uids, _bookmark(item) or key) for item in value]
        if not isinstance(value, str):
            return value
        if key in _TIMES:
            return "<time>"
        if key == "continue" and value:
            return "<token>"
        if key == "resourceVersion":
            return versions.get(value, value)
        return self._text(value, versions, uids)

    def _moment(self, version: int, versions: dict[str, str]) -> str:
        if version >= self._newest:
            return "<now>"
        if version in self._lists:
            return f"<as of {self._lists[version]}>"
        return versions.get(str(version), "<other>")

    def _text(self, text: str, versions: dict[str, str], uids: dict[str, str]) -> str:
        text = _UID.sub(lambda match: uids.setdefault(match[0], f"uid-{len(uids) + 1}"), text)
        text = _STAMP.sub("<time>", text)
        for pattern, symbol in _MOMENTS:
            text = pattern.sub(symbol, text)
        for name, symbol in self._names.items():
            text = text.replace(name, symbol)
        return re.sub(r"\d{2,}", lambda match: versions.get(match[0], match[0]), text)


def _in_fixed_order(items: list[Any], key: str) -> list[Any]:
    """Without what depends on the moment or on chance, where that is all there is to it.

    Entries of managedFields are ordered by time, and within a second by manager: where a server did that, by manager.
    Conflicts of several managers come in no order.
    """
    if not all(isinstance(item, dict) for item in items):
        return items
    if key == "managedFields" and items == sorted(items, key=lambda entry: _entry_order(entry, timed=True)):
        return sorted(items, key=lambda entry: _entry_order(entry, timed=False))
    if key == "causes" and all(item.get("reason") == "FieldManagerConflict" for item in items):
        return sorted(items, key=lambda cause: str(cause["message"]))
    return items


def _entry_order(entry: dict[str, Any], *, timed: bool) -> list[str]:
    keys = ("operation", "time", "manager", "apiVersion", "subresource")
    return [str(entry.get(key, "")) for key in keys if timed or key != "time"]


def _versions(value: Any, key: str = "") -> Iterator[tuple[int, bool]]:
    """The resource versions in an answer, and whether each is a list's or a bookmark's."""
    if isinstance(value, dict):
        if own := _own_version(value):
            yield own, _is_list(value, key)
        for name, item in value.items():
            yield from _versions(item, _inner(key, name))
    elif isinstance(value, list):
        for item in value:
            yield from _versions(item, _bookmark(item) or key)


def _own_version(value: dict[str, Any]) -> int:
    metadata = value.get("metadata")
    own = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    return int(own) if isinstance(own, str) and own.isdecimal() else 0


def _bookmark(event: Any) -> str:
    return "BOOKMARK" if isinstance(event, dict) and event.get("type") == "BOOKMARK" else ""


def _inner(key: str, name: str) -> str:
    """Where ``name`` is, which in a bookmark's event, and in the rows of its Table, is still the bookmark."""
    return key if key == "BOOKMARK" and name in {"object", "rows"} else name


def _is_list(value: dict[str, Any], key: str) -> bool:
    return key == "BOOKMARK" or ("items" in value and "kind" in value) or "rows" in value


def pretty(steps: list[dict[str, Any]]) -> str:
    """The committed form: one line a scalar, so that a difference is a short diff."""
    return json.dumps(steps, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
