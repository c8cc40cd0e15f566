"""What controllers find objects by, so that the work for one object does not grow with how many others there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from kubewright.api import Resource, Selector, controller_of
from kubewright.cache import IndexBy, Informer
from kubewright.controller import Context
from kubewright.devcluster.controllers.volumes.claim_names import claims_of
from kubewright.kinds import core_v1

__all__ = [
    "controlled",
    "findable",
    "offered",
    "pods_by_claim",
    "selected",
    "selecting",
    "services_by_selector",
    "using",
    "volumes_by_claim",
]

R = TypeVar("R", bound=Resource)

_OWNER = "owner"
_LABEL = "label"
_CLAIM = "claim"
_SELECTOR = "selector"
_FOR_ANYONE = "/"


def findable(informer: Informer[R]) -> None:
    """Declares that objects are looked up by who controls them and by their labels (`controlled`, `selected`)."""
    informer.add_index(_OWNER, IndexBy.path(".metadata.ownerReferences[*].uid"))
    informer.add_index(_LABEL, _labels)


def _labels(obj: Resource) -> Iterable[str]:
    return _pairs(obj.namespace, obj.metadata.labels)


def _pairs(namespace: str | None, labels: Mapping[str, str] | None) -> list[str]:
    return [f"{namespace or ''}/{key}={value}" for key, value in (labels or {}).items()]


def controlled(kind: type[R], owner: Resource, ctx: Context) -> list[R]:
    """The objects that ``owner`` controls, in its namespace. Their informer must be `findable`."""
    owned = ctx.list(kind, namespace=owner.namespace, index=(_OWNER, owner.uid))
    return [obj for obj in owned if (found := controller_of(obj.metadata)) is not None and found.uid == owner.uid]


def selected(kind: type[R], namespace: str | None, selector: Selector, ctx: Context) -> list[R]:
    """The objects of a namespace that ``selector`` selects. Their informer must be `findable`."""
    for requirement in selector.requirements:
        if requirement.operator == "In" and len(requirement.values) == 1:
            [pair] = _pairs(namespace, {requirement.key: next(iter(requirement.values))})
            return ctx.list(kind, namespace=namespace, labels=selector, index=(_LABEL, pair))
    return ctx.list(kind, namespace=namespace, labels=selector)


def pods_by_claim(pods: Informer[core_v1.Pod]) -> None:
    """Declares that pods are looked up by the claims that they mount (`using`)."""
    pods.add_index(_CLAIM, _claims)


def _claims(pod: core_v1.Pod) -> Iterable[str]:
    return [f"{pod.namespace}/{name}" for name in claims_of(pod)]


def using(claim: core_v1.PersistentVolumeClaim, pods: Informer[core_v1.Pod]) -> list[core_v1.Pod]:
    """The pods that mount a claim."""
    return pods.list(claim.namespace, index=(_CLAIM, f"{claim.namespace}/{claim.name}"))


def volumes_by_claim(volumes: Informer[core_v1.PersistentVolume]) -> None:
    """Declares that volumes are looked up by the claim that they are kept for (`offered`)."""
    volumes.add_index(_CLAIM, _claimant)


def _claimant(volume: core_v1.PersistentVolume) -> Iterable[str]:
    claim = volume.spec.claim_ref
    return (_FOR_ANYONE,) if claim is None else (f"{claim.namespace}/{claim.name}",)


def offered(claim: core_v1.PersistentVolumeClaim, ctx: Context) -> list[core_v1.PersistentVolume]:
    """The volumes that are kept for a claim, or for nobody yet."""
    return [
        volume
        for value in (f"{claim.namespace}/{claim.name}", _FOR_ANYONE)
        for volume in ctx.list(core_v1.PersistentVolume, index=(_CLAIM, value))
    ]


def services_by_selector(services: Informer[core_v1.Service]) -> None:
    """Declares that services are looked up by what they select (`selecting`)."""
    services.add_index(_SELECTOR, _first_pair)


def _first_pair(service: core_v1.Service) -> Iterable[str]:
    """One label that all its pods have; enough to find it by."""
    selector = service.spec.selector or {}
    return _pairs(service.namespace, {key: selector[key] for key in sorted(selector)[:1]})


def selecting(pod: core_v1.Pod, services: Informer[core_v1.Service]) -> list[core_v1.Service]:
    """The services that select a pod."""
    return [
        service
        for pair in _pairs(pod.namespace, pod.metadata.labels)
        for service in services.list(pod.namespace, index=(_SELECTOR, pair))
        if Selector.from_labels(service.spec.selector or {}).matches(pod.metadata.labels)
    ]
