"""`Simulation`: what the simulated machine of an embedded cluster looks like and how fast it works."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["FAULT_ANNOTATION", "READY_AFTER_ANNOTATION", "Simulation"]

FAULT_ANNOTATION = "kubewright.dev/simulate"
"""On a pod (or its template): ``image-pull-error`` or ``crash-loop``. Without it the pod recovers."""

READY_AFTER_ANNOTATION = "kubewright.dev/ready-after"
"""On a pod (or its template): how long it takes to become ready, such as ``5s`` or ``1m30s``."""


class Simulation(Struct, frozen=True, kw_only=True):
    """All durations are in seconds."""

    node_name: str = "kubewright"
    node_address: str = "172.18.0.2"
    pod_network: str = "10.244.0.0/16"
    ready_after: float = 1.0
    """From the binding of a pod to its being ready, unless its annotation says otherwise."""
    stop_after: float = 0.5
    """From the deletion of a pod to its end; never longer than its grace period."""
    fail_after: float = 0.5
    """How long a container that crashes runs, and how long an error shows before back-off begins."""
    first_back_off: float = 10.0
    longest_back_off: float = 300.0
    renew_lease_every: float | None = None
    """How often the node's Lease is renewed; None: never, so that a settled cluster writes nothing at all."""
    default_storage_class: str | None = "standard"
    """The name of the storage class that a new cluster has; None for a cluster without."""
