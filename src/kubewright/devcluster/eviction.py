"""Whether a Pod's PodDisruptionBudget lets it be evicted.

https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubewright.api import LabelSelector, Selector, convert
from kubewright.devcluster.admission import forbidden
from kubewright.devcluster.conditions import condition
from kubewright.devcluster.objects import Object, metadata_of, name_of, namespace_of
from kubewright.devcluster.statuses import StatusError, status_body
from kubewright.devcluster.store import GroupResource

if TYPE_CHECKING:
    from kubewright.devcluster.catalog import Catalog
    from kubewright.devcluster.registry import Registry

__all__ = ["check_budgets"]

_BUDGETS = GroupResource("policy", "poddisruptionbudgets")
_REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
_STILL_COUNTING = 10
_MOST_REMEMBERED = 2000


def check_budgets(registry: Registry, catalog: Catalog, pod: Object, *, dry_run: bool) -> None:
    """Takes one disruption from the Pod's budget; raises `StatusError` (429) where none is left.

    A Pod that is not up, or is going anyway, disturbs nobody and needs no budget.
    """
    if _is_spare(pod):
        return
    budgets = [budget for budget in registry.store.list(_BUDGETS, namespace_of(pod)) if _covers(budget, pod)]
    if len(budgets) > 1:
        text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        raise StatusError(status_body(500, "", text))
    for budget in budgets:
        if not _may_go_unready(budget, pod):
            _take(registry, catalog, budget, pod, dry_run=dry_run)


def _is_spare(pod: Object) -> bool:
    phase = (pod.get("status") or {}).get("phase")
    return phase in {"Succeeded", "Failed", "Pending"} or bool(metadata_of(pod).get("deletionTimestamp"))


def _covers(budget: Object, pod: Object) -> bool:
    selector = (budget.get("spec") or {}).get("selector")
    if selector is None:
        return False
    return Selector.from_object(convert(selector, LabelSelector)).matches(metadata_of(pod).get("labels"))


def _may_go_unready(budget: Object, pod: Object) -> bool:
    """A Pod that is not ready counts for nothing, so a budget whose needs are met can spare it."""
    if condition(pod, "Ready").get("status") == "True":
        return False
    status = budget.get("status") or {}
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    current, desired = status.get("currentHealthy") or 0, status.get("desiredHealthy") or 0
    return bool(desired > 0 and current >= desired)


def _take(registry: Registry, catalog: Catalog, budget: Object, pod: Object, *, dry_run: bool) -> None:
    resource = catalog.find("policy", "v1", _BUDGETS.plural)
    if resource is None:
        raise LookupError("a catalog with evictions has budgets")
    name, status = name_of(budget), budget.get("status") or {}
    if (status.get("observedGeneration") or 0) < (metadata_of(budget).get("generation") or 0):
        raise _refused(f"The disruption budget {name} is still being processed by the server.", _STILL_COUNTING)
    allowed = status.get("disruptionsAllowed") or 0
    if allowed < 0:
        raise forbidden(resource.info, name, "pdb disruptions allowed is negative")
    disrupted = dict(status.get("disruptedPods") or {})
    if len(disrupted) > _MOST_REMEMBERED:
        raise forbidden(
            resource.info, name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        )
    if not allowed:
        needed, healthy = status.get("desiredHealthy") or 0, status.get("currentHealthy") or 0
        raise _refused(f"The disruption budget {name} needs {needed} healthy pods and has {healthy} currently")
    if dry_run:
        return
    disrupted[name_of(pod)] = registry.now()
    counted = {**budget, "status": {**status, "disruptionsAllowed": allowed - 1, "disruptedPods": disrupted}}
    registry.store.update(_BUDGETS, namespace_of(budget), name, counted)


def _refused(why: str, seconds: int = 0) -> StatusError:
    details = {"causes": [{"reason": "DisruptionBudget", "message": why}], "retryAfterSeconds": seconds}
    headers = {"retry-after": str(seconds)} if seconds else {}
    return StatusError(status_body(429, "TooManyRequests", _REFUSED, details=details), headers=headers)
