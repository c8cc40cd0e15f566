"""`BuiltinStrategy`: the steps of a write to an object of a built-in kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kubewright.api import ResourceInfo
from kubewright.api.selectable import selected_text
from kubewright.devcluster.builtin import allocation, lifecycle
from kubewright.devcluster.builtin.defaults import fill_in
from kubewright.devcluster.builtin.scalars import Mismatch
from kubewright.devcluster.builtin.validation import errors_of
from kubewright.devcluster.builtin.wire import WireType, wire_type
from kubewright.devcluster.naming import (
    dns_label_1035_errors,
    dns_label_errors,
    dns_subdomain_errors,
    path_segment_errors,
)
from kubewright.devcluster.objects import Object
from kubewright.devcluster.statuses import bad_request
from kubewright.devcluster.store import GroupResource
from kubewright.devcluster.strategy import Deletion, Surroundings

if TYPE_CHECKING:
    from kubewright.schema.errors import FieldError

__all__ = ["BuiltinStrategy", "strategy_for"]

NameRule = Callable[..., list[str]]

_NAME_RULES: dict[tuple[str, str], NameRule] = {
    ("", "Namespace"): dns_label_errors,
    ("", "Service"): dns_label_1035_errors,
    ("rbac.authorization.k8s.io", "ClusterRole"): path_segment_errors,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): path_segment_errors,
    ("rbac.authorization.k8s.io", "Role"): path_segment_errors,
    ("rbac.authorization.k8s.io", "RoleBinding"): path_segment_errors,
}
_CRON_JOB_NAME = 52
"""A CronJob's Jobs add eleven characters to its name, and must fit into 63."""

_LABELS_KEPT_BY_STATUS = frozenset({("apps", "Deployment")})


class BuiltinStrategy:
    """One kind's behaviour, as `kubewright.devcluster.strategy.Strategy` describes it."""

    def __init__(self, info: ResourceInfo, definition: str, *, status_apart: bool) -> None:
        """``status_apart``: the kind has a status subresource, so writes to the object leave its status alone."""
        self._group = info.group
        self._kind = info.kind
        self._version = info.version
        self._key = (info.group, info.kind)
        self._status_apart = status_apart
        self._wire: WireType = wire_type(definition)

    @cached_property
    def _new_status(self) -> Any:
        fresh: Object = {"apiVersion": f"{self._group}/{self._version}".lstrip("/"), "metadata": {}}
        fill_in(self._group, self._kind, fresh)
        return fresh.get("status")

    def read(self, obj: Object) -> tuple[Object, list[str]]:
        unknown: list[str] = []
        try:
            return self._wire.read(obj, unknown), unknown
        except Mismatch as mismatch:
            subject = f'{self._kind} in version "{self._version}" cannot be handled as a {self._kind}'
            raise bad_request(f"{subject}: {mismatch}") from mismatch

    def default(self, obj: Object, *, applied: bool = False) -> Object:  # noqa: ARG002 - the protocol's
        return self._filled_in(self._wire.write(obj))

    def _filled_in(self, obj: Object) -> Object:
        """Edits ``obj`` and returns it."""
        fill_in(self._group, self._kind, obj)
        self._wire.complete(obj)
        return obj

    def prepare_create(self, obj: Object, around: Surroundings) -> Object:
        fresh: Object = self._wire.write(obj)
        if self._status_apart and self._key != ("", "Node"):
            fresh.pop("status", None)
            if self._new_status is not None:
                fresh["status"] = self._wire.write({"status": self._new_status})["status"]
        if self._key in lifecycle.COUNTS_GENERATIONS:
            fresh.setdefault("metadata", {})["generation"] = 1
        lifecycle.born(self._group, self._kind, fresh)
        if self._key == ("", "Service"):
            allocation.allocate(fresh, lambda: around.objects(GroupResource("", "services")), around.rng)
        elif self._key == ("", "PersistentVolumeClaim"):
            lifecycle.choose_storage_class(fresh, around.objects(GroupResource("storage.k8s.io", "storageclasses")))
        return self._filled_in(fresh)

    def prepare_update(self, new: Object, old: Object, *, subresource: str, around: Surroundings) -> Object:
        if subresource in {"status", "approval"}:
            return self._status_written(new, old)
        if subresource == "finalize":
            return {**old, "metadata": new.get("metadata", {}), "spec": new.get("spec", {})}
        fresh: Object = self._wire.write(new)
        if subresource == "binding":
            return fresh
        if self._status_apart:
            fresh.pop("status", None)
            if "status" in old:
                fresh["status"] = deepcopy(old["status"])  # what follows edits in place, and the old object is shared
        match self._key:
            case ("", "Namespace"):
                fresh["spec"] = deepcopy(old.get("spec", {}))
            case ("", "Service"):
                allocation.inherit(fresh, old)
                uid = old["metadata"].get("uid")

                def others() -> Iterator[Object]:
                    services = around.objects(GroupResource("", "services"))
                    return (each for each in services if each["metadata"].get("uid") != uid)

                allocation.allocate(fresh, others, around.rng, address="clusterIP" not in (old.get("spec") or {}))
            case ("", "Pod"):
                lifecycle.tolerate(fresh["spec"])
        fresh = self._filled_in(fresh)
        if self._key == ("apps", "DaemonSet"):
            lifecycle.template_generation(fresh, old)
        if self._key in lifecycle.COUNTS_GENERATIONS:
            generation = lifecycle.counted_generation(fresh, old)
        else:
            generation = (old.get("metadata") or {}).get("generation")
        return {**fresh, "metadata": _with_generation(fresh.get("metadata", {}), generation)}

    def _status_written(self, new: Object, old: Object) -> Object:
        """Only the status counts, and most of the metadata."""
        metadata = _with_generation(new.get("metadata", {}), (old.get("metadata") or {}).get("generation"))
        kept: tuple[str, ...] = ()
        if self._key in _LABELS_KEPT_BY_STATUS:
            kept = ("labels",)
        elif self._key == ("", "Pod"):
            kept = ("ownerReferences",)
        for name in kept:
            metadata.pop(name, None)
            if name in old.get("metadata", {}):
                metadata[name] = old["metadata"][name]
        result = {**old, "metadata": metadata}
        result.pop("status", None)
        if "status" in new:
            result["status"] = new["status"]
        return self._filled_in(self._wire.write(result))

    def validate(self, obj: Object, old: Object | None, *, subresource: str) -> list[FieldError]:
        return errors_of(self._group, self._kind, obj, old, subresource=subresource)

    def name_errors(self, name: str, *, prefix: bool) -> list[str]:
        errors = _NAME_RULES.get(self._key, dns_subdomain_errors)(name, prefix=prefix)
        if self._key == ("batch", "CronJob") and not prefix and len(name) > _CRON_JOB_NAME:
            errors = [*errors, f"must be no more than {_CRON_JOB_NAME} characters"]
        return errors

    def warnings(self, obj: Object, old: Object | None) -> list[str]:  # noqa: ARG002 - built-in kinds warn of nothing
        return []

    def deletion(self, obj: Object, requested_grace: int | None) -> Deletion:
        if self._key == ("", "Namespace"):
            status = {**obj.get("status", {}), "phase": "Terminating"}
            return Deletion({**obj, "status": status}, held=bool((obj.get("spec") or {}).get("finalizers")), plain=True)
        if self._key == ("", "Pod"):
            return Deletion(obj, grace_seconds=_pod_grace(obj, requested_grace), graceful=True)
        return Deletion(obj)

    def selectable(self, obj: Object, path: str) -> str:
        return selected_text(*self._key, obj, path)


def _with_generation(metadata: Object, generation: int | None) -> Object:
    rest = {key: value for key, value in metadata.items() if key != "generation"}
    return rest if generation is None else {**rest, "generation": generation}


def _pod_grace(obj: Object, requested: int | None) -> int:
    """A pod that never ran, or has ended, needs no time to stop."""
    spec = obj.get("spec") or {}
    if not spec.get("nodeName") or (obj.get("status") or {}).get("phase") in {"Succeeded", "Failed"}:
        return 0
    own: int = spec.get("terminationGracePeriodSeconds", 30)
    return max(0, own if requested is None else requested)


def strategy_for(info: ResourceInfo, definition: str, *, status_apart: bool) -> BuiltinStrategy:
    """The strategy of one built-in kind; ``definition`` is its name in ``definitions.json``."""
    return BuiltinStrategy(info, definition, status_apart=status_apart)
