"""Who is measured how, and with how many objects."""

from __future__ import annotations

from benchmarks.cache.resources import PODS, WIDGETS
from benchmarks.cache.running import Cell

__all__ = ["OBJECTS", "cells"]

OBJECTS = 50_000
_QUICK = 5
"""How many times fewer everything is when it must be quick."""

_SLOW = {
    "Kopf": (1_500, 500),
    "official": (20_000, 1_500),
    "official aio": (20_000, 1_500),
    "kubernetes_asyncio": (20_000, 1_500),
    "lightkube": (50_000, 10_000),
    "kr8s": (3_000, 500),
}
"""Widgets and pods of those for whom 50,000 would take minutes. All cost as much for each of many objects as of few, but
Kopf, whose first reading takes longer for each the more there are."""
_EVENTS = (50_000, 10_000)
"""Changes of widgets and of pods at most, one of each object."""
_GETS = {
    "kubewright": 10_000,
    "official aio": 4_000,
    "kubernetes_asyncio": 4_000,
    "lightkube": 4_000,
    "httpx2": 4_000,
    "kr8s": 1_000,
    "httpx": 1_000,
}


def cells(*, quick: bool) -> list[Cell]:
    divisor, rounds = (_QUICK, 1) if quick else (1, 3)
    planned: list[Cell] = []
    for kind, number in ((WIDGETS, 0), (PODS, 1)):
        events = _EVENTS[number] // divisor
        go_rounds = rounds if kind is WIDGETS else 1  # half a minute each time
        for form in ("stream", "list"):
            changed = events if form == "stream" else 0
            planned += [
                Cell(name, "follow", kind, OBJECTS // divisor, form, changed, times)
                for name, times in (("kubewright", rounds), ("client-go", go_rounds))
            ]
        planned.append(Cell("kubewright", "follow", kind, OBJECTS // divisor, "function", events, rounds))
        planned.append(Cell("kubewright", "follow", kind, OBJECTS // divisor, "metadata"))
        for name, counts in _SLOW.items():
            count = counts[number] // divisor
            planned.append(Cell(name, "follow", kind, count, events=min(count, events)))
    planned += [Cell("kubewright", "pause", WIDGETS, OBJECTS, form, rounds=rounds) for form in ("stream", "list")]
    planned += [
        Cell(name, "pause", WIDGETS, OBJECTS)
        for name in ("official aio", "kubernetes_asyncio", "lightkube")
        if not quick
    ]
    planned.append(Cell("kubewright", "reads", WIDGETS, OBJECTS, "function"))
    planned += [Cell(name, "gets", WIDGETS, count // divisor, rounds=rounds) for name, count in _GETS.items()]
    return planned
