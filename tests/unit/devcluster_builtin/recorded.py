"""What real API servers answered, and the embedded one's strategies to hold against it."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from kubewright.api import Clock, LoopClock
from kubewright.devcluster.builtin.catalog import builtin_resources
from kubewright.devcluster.catalog import ServedResource
from kubewright.devcluster.objects import Object
from kubewright.devcluster.store import GroupResource

__all__ = ["Around", "document", "recorded", "served"]


@cache
def document(name: str) -> Any:
    return json.loads((Path(__file__).parent / "data" / f"{name}.json").read_text())


def recorded(name: str) -> list[Any]:
    cases: list[Any] = document(name)["cases"]
    return cases


def served(obj: Object) -> ServedResource:
    """The resource that an object is one of."""
    group, _, version = obj["apiVersion"].rpartition("/")
    for each in builtin_resources():
        if (each.info.group, each.info.version, each.info.kind) == (group, version, obj["kind"]):
            return each
    raise LookupError(f"{obj['apiVersion']} {obj['kind']} is not served")


class Around:
    """A cluster with the given Services and nothing else."""

    def __init__(self, services: Sequence[Object] = ()) -> None:
        self._services = services

    @property
    def clock(self) -> Clock:
        return LoopClock()

    @property
    def rng(self) -> random.Random:
        return random.Random(1)

    def objects(self, resource: GroupResource, namespace: str = "") -> Sequence[Object]:
        return self._services if resource == GroupResource("", "services") else ()
