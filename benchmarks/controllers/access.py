"""`Access`: where a server is, and how it knows us; what a contestant is told on its command line."""

from __future__ import annotations

import ssl
from pathlib import Path

import msgspec

from benchmarks.devcluster.servers import address_in
from kubewright.client import ClusterConfig
from kubewright.client.kubeconfig import load

__all__ = ["Access"]


class Access(msgspec.Struct, frozen=True):
    """Of the stub, which speaks plain HTTP and knows everybody, or of a cluster, by its kubeconfig."""

    where: str

    @property
    def is_stub(self) -> bool:
        return self.where.startswith("http:")

    @property
    def config(self) -> ClusterConfig:
        return ClusterConfig(server=self.where) if self.is_stub else load(Path(self.where))

    @property
    def url(self) -> str:
        return self.config.server

    @property
    def token(self) -> str:
        return "" if self.is_stub else address_in(Path(self.where)).token

    @property
    def tls(self) -> ssl.SSLContext | None:
        return None if self.is_stub else address_in(Path(self.where)).tls

    @property
    def authority(self) -> bytes | None:
        return None if self.is_stub else self.config.ca
