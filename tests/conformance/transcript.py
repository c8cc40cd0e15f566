"""`Transcript`: the answers of one case, comparable from run to run and from server to server."""

from __future__ import annotations

import json
import re
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


class Transcript:
    """Takes down answers; `steps` gives them with symbols for what no two runs share.

    UIDs become ``uid-1``, ``uid-2``… in order of appearance, resource versions ``rv-1``, ``rv-2``… in order of size (so
    that which is newer still shows), times ``<time>``, and the case's own namespace ``<namespace>``.
    """

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        """Names made for this run → their symbols."""
        self._raw: list[dict[str, Any]] = []

    def add(self, label: str, **taken: Any) -> None:
        self._raw.append({"step": label, **taken})

    def add_answer(self, label: str, status: int, headers: dict[str, str], body: Any) -> None:
        kept = {name: headers[name] for name in _HEADERS if name in headers}
        self.add(label, status=status, headers=kept, body=body)

    def steps(self) -> list[dict[str, Any]]:
        versions = sorted(set(_versions(self._raw)))
        symbols = {str(version): f"rv-{rank}" for rank, version in enumerate(versions, start=1)}
        uids: dict[str, str] = {}
        cleaned: list[dict[str, Any]] = [self._clean(step, symbols, uids) for step in self._raw]
        return cleaned

    def _clean(self, value: Any, versions: dict[str, str], uids: dict[str, str], key: str = "") -> Any:
        if isinstance(value, dict):
            return {
                self._text(name, versions, uids): self._clean(item, versions, uids, name)
                for name, item in value.items()
            }
        if isinstance(value, list):
            return [self._clean(item, versions, uids, key) for item in value]
        if not isinstance(value, str):
            return value
        if key in _TIMES:
            return "<time>"
        if key == "continue" and value:
            return "<token>"
        if key == "resourceVersion":
            return versions.get(value, value)
        return self._text(value, versions, uids)

    def _text(self, text: str, versions: dict[str, str], uids: dict[str, str]) -> str:
        text = _UID.sub(lambda match: uids.setdefault(match[0], f"uid-{len(uids) + 1}"), text)
        text = _STAMP.sub("<time>", text)
        for name, symbol in self._names.items():
            text = text.replace(name, symbol)
        return re.sub(r"\d{2,}", lambda match: versions.get(match[0], match[0]), text)


def _versions(value: Any) -> list[int]:
    if isinstance(value, dict):
        own = value.get("resourceVersion")
        found = [int(own)] if isinstance(own, str) and own.isdecimal() and own != "0" else []
        return found + [version for item in value.values() for version in _versions(item)]
    if isinstance(value, list):
        return [version for item in value for version in _versions(item)]
    return []


def pretty(steps: list[dict[str, Any]]) -> str:
    """The committed form: one line a scalar, so that a difference is a short diff."""
    return json.dumps(steps, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
