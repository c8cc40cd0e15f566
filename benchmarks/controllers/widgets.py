"""`Widget`: what the stub serves, as a class of ours; the same kind is installed on the embedded cluster."""

from __future__ import annotations

from benchmarks.cache.resources import WIDGETS
from kubewright.api import Condition, Int32, Model, field, resource
from kubewright.api import Resource as Kind

__all__ = ["Widget", "body"]


class WidgetSpec(Model):
    replicas: Int32 | None = None
    image: str = ""
    size: str = ""
    ports: list[Int32] = field(default_factory=list)
    selector: dict[str, str] = field(default_factory=dict)
    paused: bool = False


class WidgetStatus(Model):
    observed_generation: int | None = None
    ready_replicas: Int32 | None = None
    phase: str | None = None
    conditions: list[Condition] = field(default_factory=list)


@resource("example.com/v1")
class Widget(Kind):
    spec: WidgetSpec
    status: WidgetStatus = field(default_factory=WidgetStatus)


def body(number: int) -> dict[str, object]:
    """One to create, with what the stub's have in their metadata and spec."""
    _, name = WIDGETS.address(number)
    labels = {"app": "bench", "tier": "backend", "idx": str(number), "team": f"team-{number % 20:02}"}
    spec = {"replicas": 3, "image": "registry.example.com/app:1.2.3", "size": "large", "ports": [80, 443]}
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": name, "namespace": "default", "labels": labels, "annotations": {"note": "x" * 200}},
        "spec": {**spec, "selector": {"app": "bench", "tier": "backend"}, "paused": False},
    }
