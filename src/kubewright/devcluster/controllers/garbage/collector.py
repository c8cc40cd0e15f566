"""`GarbageCollector`: follows the store's log and carries out the verdicts, through the API like everybody else."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kubewright.api import ApiError, Clock, Conflict, NotFound, ObjectMeta, ResourceInfo, unstructured
from kubewright.client import RestClient, Transport, TransportError
from kubewright.client.requests import delete_options
from kubewright.controller import Request, WorkQueue
from kubewright.devcluster.catalog import Catalog, ServedResource
from kubewright.devcluster.controllers.garbage.graph import Graph, Node, Owner
from kubewright.devcluster.controllers.garbage.verdict import (
    Delete,
    DropOwners,
    Finish,
    Orphan,
    OwnerState,
    Undecided,
    Verdict,
    decide,
)
from kubewright.devcluster.controllers.log_reader import LogReader
from kubewright.devcluster.controllers.recorder import EventRecorder
from kubewright.devcluster.finalizers import FOREGROUND, ORPHAN
from kubewright.devcluster.objects import Object, metadata_of, name_of
from kubewright.devcluster.store import Compacted, GroupResource, Store
from kubewright.telemetry import Log

__all__ = ["GarbageCollector"]

_NAME = "kube-controller-manager"
_AGENT = "kube-controller-manager/garbage-collector"
_NO_DEPENDENTS = GroupResource("", "events")
_NAMESPACES = GroupResource("", "namespaces")


class GarbageCollector:
    """Deletes what belongs to nobody any more.

    Guarantees: an object is deleted only if it is the one that was judged (UID and resource version), and only when all
    of its owners are known to be gone or to wait for it. What fails is tried again with growing delay.
    """

    def __init__(
        self,
        store: Store,
        catalog: Catalog,
        transport: Transport,
        *,
        events: EventRecorder,
        clock: Clock,
        rng: random.Random,
        log: Log,
    ) -> None:
        self._store = store
        self._catalog = catalog
        self._rest = RestClient(transport, user_agent=_AGENT, clock=clock, rng=rng)
        self._events = events
        self._log = log.bind(component=_AGENT)
        self._graph = Graph()
        self._queue = WorkQueue(rng)
        self._undecided: dict[str, None] = {}
        self._generation = catalog.generation

    async def run(self) -> None:
        """Works until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._follow(), name="garbage log")
                tasks.create_task(self._work(), name="garbage worker")
        finally:
            self._queue.close()

    # from changes to the queue

    async def _follow(self) -> None:
        while True:
            with LogReader(self._store) as log:
                self._load()
                try:
                    while True:
                        for change in await log.next():
                            if change.resource != _NO_DEPENDENTS:
                                self._examine(self._graph.take(change))
                        self._retry_undecided()
                except Compacted:
                    self._log.warning("fell behind the log; reading everything anew")

    def _load(self) -> None:
        self._graph = Graph()
        for resource in self._store.resources():
            if resource != _NO_DEPENDENTS:
                self._graph.load(resource, self._store.list(resource))
        self._examine([node.uid for node in self._graph])

    def _examine(self, uids: list[str]) -> None:
        for uid in uids:
            self._queue.add(Request(None, None, uid))

    def _retry_undecided(self) -> None:
        if self._catalog.generation != self._generation:
            self._generation = self._catalog.generation
            waiting, self._undecided = self._undecided, {}
            self._examine(list(waiting))

    # from the queue to requests

    async def _work(self) -> None:
        while True:
            request = await self._queue.get()
            try:
                await self._judge(request)
            finally:
                self._queue.done(request)

    async def _judge(self, request: Request) -> None:
        node = self._graph.get(request.name)
        if node is None:
            self._queue.forget(request)
            return
        try:
            await self._carry_out(decide(node, self._graph, self._state_of), node)
        except NotFound:
            self._queue.forget(request)
        except Conflict:
            self._queue.retry(request)
        except (ApiError, TransportError) as error:
            delay = self._queue.retry(request)
            self._log.warning(
                "not collected", resource=str(node.resource), name=node.name, error=str(error), retry_in=round(delay, 3)
            )
        except Exception:  # one odd object must not keep the others from being collected
            self._queue.retry(request)
            self._log.exception("not collected", resource=str(node.resource), name=node.name)
        else:
            self._queue.forget(request)

    def _state_of(self, owner: Owner, dependent: Node) -> OwnerState:
        if self._graph.saw_end_of(owner.uid):  # also when its kind went with it
            return OwnerState.ABSENT
        group, _, version = owner.api_version.rpartition("/")
        served = self._catalog.find_kind(group, version, owner.kind)
        if served is None:
            return OwnerState.UNKNOWN
        if served.info.namespaced and not dependent.namespace:
            return OwnerState.IMPOSSIBLE
        namespace = dependent.namespace if served.info.namespaced else ""
        found = self._store.get(served.storage, namespace, owner.name)
        if found is None or metadata_of(found).get("uid") != owner.uid:
            return OwnerState.ABSENT
        node = self._graph.get(owner.uid)
        return OwnerState.WAITING if node is not None and node.waits_for_dependents else OwnerState.SOLID

    async def _carry_out(self, verdict: Verdict, node: Node) -> None:
        match verdict:
            case None:
                return
            case Undecided():
                self._undecided[node.uid] = None
            case Finish():
                await self._remove_finalizer(node, FOREGROUND)
            case Orphan(dependents=dependents):
                for dependent in dependents:
                    await self._keep_owners(dependent, lambda reference: reference.get("uid") != node.uid)
                await self._remove_finalizer(node, ORPHAN)
            case DropOwners(uids=uids):
                await self._keep_owners(node, lambda reference: reference.get("uid") not in uids)
            case Delete(policy=policy, unblock=unblock):
                if unblock:
                    await self._unblock(node)
                await self._tell_of_owners_elsewhere(node)
                await self._delete(node, policy, versioned=not unblock)

    async def _tell_of_owners_elsewhere(self, node: Node) -> None:
        """An owner in another namespace is none, which surprises many whose object is gone a moment later."""
        info = self._info(node)
        for owner in node.owners:
            if info is None or self._graph.saw_end_of(owner.uid) or not self._is_elsewhere(owner, node):
                continue
            kind = f"{owner.api_version}/{owner.kind}"
            said = f"[{kind}, namespace: {node.namespace}, name: {owner.name}, uid: {owner.uid}]"
            why = f'ownerRef {said} does not exist in namespace "{node.namespace}"'
            about = unstructured(info.api_version, info.kind, plural=info.plural)(
                metadata=ObjectMeta(name=node.name, namespace=node.namespace, uid=node.uid)
            )
            await self._events.record(about, "Warning", "OwnerRefInvalidNamespace", why)

    def _is_elsewhere(self, owner: Owner, dependent: Node) -> bool:
        group, _, version = owner.api_version.rpartition("/")
        served = self._catalog.find_kind(group, version, owner.kind)
        if served is None or not served.info.namespaced:
            return False
        namespaces = {name_of(each) for each in self._store.list(_NAMESPACES)} - {dependent.namespace}
        named = (self._store.get(served.storage, namespace, owner.name) for namespace in namespaces)
        return any(found is not None and metadata_of(found).get("uid") == owner.uid for found in named)

    async def _delete(self, node: Node, policy: Any, *, versioned: bool) -> None:
        info = self._info(node)
        if info is None:
            return
        version = node.version if versioned else None
        body = delete_options(propagation=policy, uid=node.uid, resource_version=version)
        await self._rest.delete(info, node.name, body, namespace=node.namespace or None)

    async def _remove_finalizer(self, node: Node, finalizer: str) -> None:
        await self._patch(node, {"finalizers": [each for each in node.finalizers if each != finalizer]})

    async def _keep_owners(self, node: Node, wanted: Callable[[Mapping[str, Any]], bool]) -> None:
        current = self._current(node)
        if current is None:
            return
        references = metadata_of(current).get("ownerReferences") or []
        kept = [reference for reference in references if wanted(reference)]
        if kept != references:
            await self._patch(node, {"ownerReferences": kept or None})

    async def _unblock(self, node: Node) -> None:
        current = self._current(node)
        if current is not None:
            references = metadata_of(current).get("ownerReferences") or []
            await self._patch(
                node, {"ownerReferences": [{**reference, "blockOwnerDeletion": False} for reference in references]}
            )

    def _current(self, node: Node) -> Object | None:
        found = self._store.get(node.resource, node.namespace, node.name)
        return found if found is not None and metadata_of(found).get("uid") == node.uid else None

    async def _patch(self, node: Node, changes: dict[str, Any]) -> None:
        """Bound to the object as it was judged: it must still have that UID and version."""
        info = self._info(node)
        current = self._current(node)
        if info is None or current is None:
            return
        metadata = {"uid": node.uid, "resourceVersion": metadata_of(current)["resourceVersion"], **changes}
        await self._rest.patch(
            info,
            node.name,
            msgspec.json.encode({"metadata": metadata}),
            content_type="application/merge-patch+json",
            namespace=node.namespace or None,
            query=[("fieldManager", _NAME)],
        )

    def _info(self, node: Node) -> ResourceInfo | None:
        """A version in which the object can be written; None when its kind is not served any more."""
        found: ServedResource | None = None
        for served in self._catalog:
            if served.storage == node.resource and (found is None or served.storage_version):
                found = served
        return found.info if found else None
