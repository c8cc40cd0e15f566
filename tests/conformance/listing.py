"""Lists of widgets: objects to list, and lists taken down in short."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from tests.conformance.resources import WIDGETS, widget
from tests.conformance.world import Answer, World

__all__ = ["brief", "brief_list", "labelled", "read_token", "token", "widgets"]


async def widgets(w: World, *names: str) -> list[Answer]:
    """Creates widgets, in this order; then every read shows them (`caught_up`)."""
    made = [await w.create(WIDGETS, widget(name)) for name in names]
    await caught_up(w)
    return made


async def caught_up(w: World, path: str = WIDGETS) -> None:
    """Waits until every read shows what was written.

    A real server answers from its cache wherever a version is named, or a watch names none, and the cache may be behind.
    A list of now waits for it.
    """
    await w.get(path)


def labelled(name: str, labels: Mapping[str, str], **spec: Any) -> dict[str, Any]:
    """A Widget with labels."""
    body = widget(name, **spec)
    return {**body, "metadata": {"name": name, "labels": dict(labels)}}


def brief(w: World, label: str, answer: Answer) -> Answer:
    """Takes a list down with the names of its objects only; anything else whole."""
    body = answer.body
    if isinstance(body, dict) and isinstance(body.get("items"), list):
        body = {**body, "items": [item["metadata"]["name"] for item in body["items"]]}
    w.transcript.add_answer(label, answer.status, answer.headers, body)
    return answer


async def brief_list(w: World, path: str, **query: str) -> Answer:
    """Lists, and takes it down in short under the query itself."""
    label = "&".join(f"{key}={value}" for key, value in query.items()) or "no options"
    return brief(w, label, await w.get(path, query=query))


def token(**content: Any) -> str:
    """A continue token of one's own making."""
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


def read_token(text: str) -> dict[str, Any]:
    """What is in a continue token, which clients should not want to know."""
    content: dict[str, Any] = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    return content
