"""Whether an object has come up, and in a word how it is; after the conventions that kstatus follows."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

__all__ = ["Readiness", "readiness", "summary"]

_GOOD_PHASES = frozenset({"Active", "Bound", "Complete", "Ready", "Running", "Succeeded"})


class Readiness(Struct, frozen=True):
    ready: bool
    reason: str


def readiness(obj: dict[str, Any]) -> Readiness:
    """From ``Ready`` or else ``Available`` among the conditions, else from the phase; an object with neither is ready.

    None is that says ``Stalled``, or ``Reconciling``, which a controller sets whose run failed.
    """
    status = obj.get("status") or {}
    generation = obj["metadata"].get("generation")
    conditions = {condition["type"]: condition for condition in status.get("conditions") or ()}
    phase = status.get("phase")
    if any(conditions.get(kind, {}).get("status") == "True" for kind in ("Stalled", "Reconciling")):
        return Readiness(False, _reason(phase, conditions))
    for kind in ("Ready", "Available"):
        if kind in conditions:
            condition = conditions[kind]
            if condition.get("observedGeneration", generation) != generation:
                return Readiness(False, f"{kind} is not known yet for generation {generation}")
            if condition["status"] == "True":
                return Readiness(True, condition.get("reason", ""))
            return Readiness(False, _reason(phase, conditions))
    if phase is not None:
        looked_for = f"neither a condition Ready or Available nor a phase {', '.join(sorted(_GOOD_PHASES))}"
        return Readiness(phase in _GOOD_PHASES, f"its phase is {phase} (it has {looked_for})")
    if "status" in obj or generation is None:
        return Readiness(True, "")
    return Readiness(False, "the operator has not written its status yet")


def _reason(phase: str | None, conditions: dict[str, dict[str, Any]]) -> str:
    told = [
        f"{condition['type']}={condition['status']} ({condition.get('reason', '')}: {condition.get('message', '')})"
        for condition in conditions.values()
    ]
    return "; ".join(([f"its phase is {phase}"] if phase else []) + told)


def summary(obj: dict[str, Any]) -> str:
    """``Running``, ``2/3``: the phase, or ready of wanted replicas, or that it exists."""
    status = obj.get("status") or {}
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    if "phase" in status:
        return str(status["phase"])
    wanted = (obj.get("spec") or {}).get("replicas")
    if isinstance(wanted, int) and status:
        return f"{status.get('readyReplicas', 0)}/{wanted}"
    return "created"
