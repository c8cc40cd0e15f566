"""`Request`: which object to reconcile. It names, it does not carry: the state is read when the run starts."""

from __future__ import annotations

from msgspec import Struct

from kubewright.api import Resource

__all__ = ["Request"]


class Request(Struct, frozen=True, order=True):
    """The key of a reconcile: cluster (None is the local one), namespace (None for cluster-scoped kinds), name."""

    cluster: str | None
    namespace: str | None
    name: str

    @classmethod
    def of(cls, obj: Resource, *, cluster: str | None = None) -> Request:
        """The request that names ``obj``."""
        return cls(cluster, obj.namespace or None, obj.name)

    def of_cluster(self, cluster: str | None) -> Request:
        """The same in ``cluster``, unless this names one already: mappers need not care where an object is."""
        return self if cluster is None or self.cluster is not None else Request(cluster, self.namespace, self.name)

    def __str__(self) -> str:
        path = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.cluster}:{path}" if self.cluster else path
