"""The columns of pods: what a pod's state comes down to in one word."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kubewright.devcluster.builtin.printing import NONE, age_of, at, listed

__all__ = ["POD"]

Json = dict[str, Any]


def _initializing(pod: Json) -> tuple[str, int] | None:
    """The word and the restarts while init containers run, None when they are through."""
    restarts = 0
    total = len(at(pod, "spec", "initContainers") or ())
    for index, status in enumerate(at(pod, "status", "initContainerStatuses") or ()):
        restarts += status.get("restartCount", 0)
        state = status.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting")
        if ended is not None and not ended.get("exitCode"):
            continue
        if ended is not None:
            return f"Init:{ended.get('reason') or _ended(ended)}", restarts
        reason = (waiting or {}).get("reason")
        if reason and reason != "PodInitializing":
            return f"Init:{reason}", restarts
        return f"Init:{index}/{total}", restarts
    return None


def _ended(terminated: Json) -> str:
    if signal := terminated.get("signal"):
        return f"Signal:{signal}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _state(pod: Json) -> tuple[str, int, int]:
    """The word, the containers that are ready, and the restarts."""
    word = at(pod, "status", "reason") or at(pod, "status", "phase") or ""
    ready, restarts, running = 0, 0, False
    if (initializing := _initializing(pod)) is not None:
        word, restarts = initializing
    else:
        for status in reversed(at(pod, "status", "containerStatuses") or ()):
            restarts += status.get("restartCount", 0)
            state = status.get("state") or {}
            waiting, ended = state.get("waiting") or {}, state.get("terminated")
            if waiting.get("reason"):
                word = waiting["reason"]
            elif ended is not None:
                word = ended.get("reason") or _ended(ended)
            elif status.get("ready") and "running" in state:
                running = True
                ready += 1
        if word == "Completed" and running:
            word = "Running" if _is_ready(pod) else "NotReady"
    if at(pod, "metadata", "deletionTimestamp"):
        word = "Unknown" if at(pod, "status", "reason") == "NodeLost" else "Terminating"
    return word, ready, restarts


def _is_ready(pod: Json) -> bool:
    conditions = at(pod, "status", "conditions") or ()
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _gates(pod: Json) -> str:
    gates = at(pod, "spec", "readinessGates")
    if not gates:
        return NONE
    true = {each.get("type") for each in at(pod, "status", "conditions") or () if each.get("status") == "True"}
    return f"{sum(gate.get('conditionType') in true for gate in gates)}/{len(gates)}"


def _cells(pod: Json, now: datetime) -> list[Any]:
    word, ready, restarts = _state(pod)
    total = len(at(pod, "spec", "containers") or ())
    addresses = at(pod, "status", "podIPs") or [{"ip": at(pod, "status", "podIP")}]
    return [
        f"{ready}/{total}",
        word,
        restarts,
        age_of(pod, now),
        addresses[0].get("ip") or NONE,
        at(pod, "spec", "nodeName") or NONE,
        at(pod, "status", "nominatedNodeName") or NONE,
        _gates(pod),
    ]


_ENDED = {"Succeeded": "The pod has completed successfully.", "Failed": "The pod failed."}


def _conditions(pod: Json) -> list[dict[str, str]]:
    """What lets a client tell rows of pods that are over."""
    phase = at(pod, "status", "phase")
    if phase not in _ENDED:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _ENDED[phase]}]


POD = listed(
    "Ready",
    "Status",
    "Restarts:integer",
    "Age",
    wide=("IP", "Node", "Nominated Node", "Readiness Gates"),
    cells=_cells,
    conditions=_conditions,
)
