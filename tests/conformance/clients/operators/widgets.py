"""A small operator written with Kopf: a ConfigMap for each Widget, and word of all that happens in its annotations."""

from __future__ import annotations

import asyncio
from typing import Any

import kopf
from kubernetes import client, config

GROUP = "conformance.kubewright.dev"


@kopf.on.startup()
def prepare(settings: kopf.OperatorSettings, **_: Any) -> None:
    settings.persistence.finalizer = "kopf.kubewright.dev/finalizer"
    config.load_kube_config()


@kopf.index("configmaps", labels={"named": kopf.PRESENT})
def names(name: str, labels: Any, **_: Any) -> dict[str, str]:
    return {labels["named"]: name}


def make(namespace: str, config_map: Any) -> None:
    """Unless it is there: Kopf may call a handler again before it sees what that did."""
    try:
        client.CoreV1Api().create_namespaced_config_map(namespace, config_map)
    except client.ApiException as error:
        if error.status != 409:
            raise


@kopf.on.create(GROUP, "v1", "widgets")
def create(name: str, namespace: str, spec: Any, patch: Any, **_: Any) -> None:
    child = {"metadata": {"name": f"of-{name}", "labels": {"widget": name}}, "data": {"size": str(spec["size"])}}
    kopf.adopt(child)
    make(namespace, child)
    patch.status["phase"] = "Created"


@kopf.on.update(GROUP, "v1", "widgets", field="spec.size")
def resize(body: Any, name: str, namespace: str, old: int, new: int, patch: Any, names: Any, **_: Any) -> None:
    kopf.info(body, reason="Resized", message=f"from {old} to {new}")
    client.CoreV1Api().patch_namespaced_config_map(f"of-{name}", namespace, {"data": {"size": str(new)}})
    patch.status["phase"] = f"From{old}To{new}"
    patch.metadata.annotations["indexed"] = ",".join(sorted(names.get(name, [])))


@kopf.on.delete(GROUP, "v1", "widgets")
def delete(name: str, namespace: str, **_: Any) -> None:
    make(namespace, {"metadata": {"name": f"left-by-{name}"}})


@kopf.timer(GROUP, "v1", "widgets", initial_delay=0.5, interval=0.2)
def tick(status: Any, patch: Any, **_: Any) -> None:
    if status.get("ready", 0) < 3:
        patch.status["ready"] = status.get("ready", 0) + 1


@kopf.daemon(GROUP, "v1", "widgets", cancellation_polling=0.2)
async def accompany(name: str, namespace: str, stopped: kopf.DaemonStopped, **_: Any) -> None:
    core = client.CoreV1Api()
    await asyncio.to_thread(make, namespace, {"metadata": {"name": f"with-{name}"}})
    await stopped.wait()
    await asyncio.to_thread(core.delete_namespaced_config_map, f"with-{name}", namespace)
