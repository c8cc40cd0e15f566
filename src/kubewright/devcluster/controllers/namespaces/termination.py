"""How a namespace ends: its contents are deleted, and once nothing is left its finalizer goes.

See https://kubernetes.io/docs/tasks/administer-cluster/namespaces/#deleting-a-namespace
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

import msgspec

from kubewright.api import ApiError, Conflict, NotFound, encode, resource_info, whole_seconds
from kubewright.client.requests import delete_options
from kubewright.controller import Context, ControllerSpec, Request
from kubewright.devcluster.catalog import Catalog, ServedResource
from kubewright.devcluster.controllers.component import Component
from kubewright.devcluster.controllers.log_reader import LogReader
from kubewright.devcluster.objects import Object, metadata_of, name_of
from kubewright.devcluster.store import Compacted, Store
from kubewright.kinds import core_v1

__all__ = ["NamespaceTermination"]

_FINALIZER = "kubernetes"


class NamespaceTermination:
    """Reads the store directly, since the contents are of every kind; writes through the API."""

    def __init__(self, component: Component, store: Store, catalog: Catalog) -> None:
        self._client = component.client
        self._store = store
        self._catalog = catalog
        self._controller = component.add(
            ControllerSpec(
                kind=core_v1.Namespace, reconcile=self.reconcile, name="namespace-termination", while_deleting=True
            )
        )
        self._namespaces = component.informer(core_v1.Namespace)
        component.beside(self._watch_contents)

    async def reconcile(self, namespace: core_v1.Namespace, ctx: Context) -> None:
        if namespace.metadata.deletion_timestamp is None or _FINALIZER not in (namespace.spec.finalizers or ()):
            return
        failures = []
        for served, obj in self._contents(namespace.name):
            if metadata_of(obj).get("deletionTimestamp") is None:
                failures += await self._delete(served, obj, namespace.name)
        remaining = self._contents(namespace.name)
        if remaining or failures:
            _report(namespace, remaining, failures, ctx)
            if failures:
                raise RuntimeError(f"namespace {namespace.name} was not emptied: {failures[0]}")
            return
        await self._finalize(namespace)

    def _contents(self, namespace: str) -> list[tuple[ServedResource, Object]]:
        served = {each.storage: each for each in self._catalog if each.info.namespaced and "delete" in each.verbs}
        return [
            (served[resource], obj)
            for resource in self._store.resources()
            if resource in served
            for obj in self._store.list(resource, namespace)
        ]

    async def _delete(self, served: ServedResource, obj: Object, namespace: str) -> list[str]:
        body = delete_options(propagation="Background", uid=metadata_of(obj).get("uid"))
        try:
            await self._client.rest.delete(served.info, name_of(obj), body, namespace=namespace)
        except (NotFound, Conflict):
            return []
        except ApiError as error:
            return [f"{served.info.qualified_plural} {name_of(obj)}: {error}"]
        return []

    async def _finalize(self, namespace: core_v1.Namespace) -> None:
        finalizers = [each for each in namespace.spec.finalizers or () if each != _FINALIZER]
        body = msgspec.json.decode(encode(namespace))
        body["spec"] = {"finalizers": finalizers}
        with suppress(NotFound):
            await self._client.rest.update(
                resource_info(core_v1.Namespace), namespace.name, msgspec.json.encode(body), subresource="finalize"
            )

    async def _watch_contents(self) -> None:
        """Wakes an ending namespace when something in it goes."""
        while True:
            with LogReader(self._store) as log, suppress(Compacted):
                for entry in self._namespaces.entries():
                    self._wake(entry.name)
                while True:
                    gone = {change.namespace: None for change in await log.next() if change.type == "DELETED"}
                    for namespace in gone:
                        self._wake(namespace)

    def _wake(self, namespace: str) -> None:
        entry = self._namespaces.entry(None, namespace)
        if entry is not None and entry.deleting:
            self._controller.queue.add(Request(None, None, namespace))


def _report(
    namespace: core_v1.Namespace, remaining: list[tuple[ServedResource, Object]], failures: list[str], ctx: Context
) -> None:
    kinds = Counter(served.info.plural + "." + served.info.group for served, _ in remaining)
    finalizers = Counter(each for _, obj in remaining for each in metadata_of(obj).get("finalizers") or ())
    resources = ", ".join(f"{kind} has {count} resource instances" for kind, count in sorted(kinds.items()))
    held = ", ".join(f"{name} in {count} resource instances" for name, count in sorted(finalizers.items()))
    wanted = {
        "NamespaceDeletionDiscoveryFailure": ("False", "ResourcesDiscovered", "All resources successfully discovered"),
        "NamespaceDeletionGroupVersionParsingFailure": (
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        "NamespaceDeletionContentFailure": ("True", "ContentDeletionFailed", "; ".join(failures))
        if failures
        else ("False", "ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
        "NamespaceContentRemaining": ("True", "SomeResourcesRemain", f"Some resources are remaining: {resources}")
        if kinds
        else ("False", "ContentRemoved", "All content successfully removed"),
        "NamespaceFinalizersRemaining": (
            "True",
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {held}",
        )
        if finalizers
        else ("False", "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
    }
    before = {condition.type: condition for condition in namespace.status.conditions or ()}
    conditions = []
    for kind, (status, reason, message) in wanted.items():
        old = before.pop(kind, None)
        since = old.last_transition_time if old is not None and old.status == status else None
        conditions.append(
            core_v1.NamespaceCondition(
                type=kind,
                status=status,
                reason=reason,
                message=message,
                last_transition_time=since or whole_seconds(ctx.now()),
            )
        )
    namespace.status.conditions = [*before.values(), *conditions]
