"""`ControlPlane`: everything that makes an embedded cluster alive, as one thing to run."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

from kubewright.api import Clock
from kubewright.client import Transport
from kubewright.devcluster.catalog import Catalog
from kubewright.devcluster.controllers.bootstrap import create_initial_objects
from kubewright.devcluster.controllers.component import Component
from kubewright.devcluster.controllers.deployment.controller import Deployments
from kubewright.devcluster.controllers.disruption import DisruptionBudgets
from kubewright.devcluster.controllers.endpoints import ServiceEndpoints
from kubewright.devcluster.controllers.event_expiry import EventExpiry
from kubewright.devcluster.controllers.garbage.collector import GarbageCollector
from kubewright.devcluster.controllers.kubelet.kubelet import Kubelet
from kubewright.devcluster.controllers.kubelet.node import keep_node
from kubewright.devcluster.controllers.namespaces.defaults import NamespaceDefaults
from kubewright.devcluster.controllers.namespaces.termination import NamespaceTermination
from kubewright.devcluster.controllers.pod_collector import PodCollector
from kubewright.devcluster.controllers.replicaset import ReplicaSets
from kubewright.devcluster.controllers.scheduler import Scheduler
from kubewright.devcluster.controllers.settings import Simulation
from kubewright.devcluster.controllers.statefulset.controller import StatefulSets
from kubewright.devcluster.controllers.volumes.claims import VolumeClaims
from kubewright.devcluster.controllers.volumes.volumes import Volumes
from kubewright.devcluster.store import Store
from kubewright.telemetry import Log

__all__ = ["ControlPlane"]


class ControlPlane:
    """The controller manager, the scheduler and the kubelet of one cluster.

    Guarantees
        Settled means quiet: no writes, no polling (the node's Lease aside, if `Simulation` asks for it). The same clock,
        random numbers and requests give the same trace. No object, however odd, ends `run`.
    """

    def __init__(
        self,
        *,
        store: Store,
        catalog: Catalog,
        transport: Callable[[], Transport],
        clock: Clock,
        rng: random.Random,
        log: Log,
        simulation: Simulation | None = None,
        authority: str = "",
    ) -> None:
        """``transport`` makes a way to the server that keeps ``store``; ``authority``: its CA certificate in PEM."""
        self._simulation = simulation = simulation or Simulation()

        def component(name: str, host: str | None = None) -> Component:
            return Component(name, transport(), clock=clock, rng=rng, log=log, host=host)

        manager = component("kube-controller-manager")
        NamespaceDefaults(manager, authority=authority)
        NamespaceTermination(manager, store, catalog)
        StatefulSets(manager)
        ReplicaSets(manager)
        Deployments(manager)
        ServiceEndpoints(manager)
        DisruptionBudgets(manager)
        PodCollector(manager)
        VolumeClaims(manager)
        Volumes(manager)
        scheduler = component("default-scheduler")
        Scheduler(scheduler, simulation)
        kubelet = component("kubelet", simulation.node_name)
        Kubelet(kubelet, simulation)
        kubelet.beside(lambda: keep_node(kubelet, simulation))
        manager.beside(lambda: create_initial_objects(manager.client, simulation))
        self._components = (manager, scheduler, kubelet)
        self._expiry = EventExpiry(store, clock=clock)
        events = manager.recorder("garbage-collector-controller")
        self._collector = GarbageCollector(store, catalog, transport(), events=events, clock=clock, rng=rng, log=log)

    async def run(self) -> None:
        """Works until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._collector.run(), name="garbage collector")
            tasks.create_task(self._expiry.run(), name="event expiry")
            for component in self._components:
                tasks.create_task(component.run(), name=component.name)
