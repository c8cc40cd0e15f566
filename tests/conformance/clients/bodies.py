"""What the clients create, as decoded JSON."""

from __future__ import annotations

from typing import Any

__all__ = ["config_map", "deployment"]

Body = dict[str, Any]


def config_map(name: str, *, labels: dict[str, str] | None = None, **data: str) -> Body:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, **({"labels": labels} if labels else {})},
        "data": data,
    }


def deployment(name: str, *, replicas: int = 1, image: str = "nginx:1") -> Body:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": image}]},
            },
        },
    }
