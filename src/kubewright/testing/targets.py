"""`Target`: the cluster that a test runs against, embedded or a kubeconfig's."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Protocol

from kubewright.api import Clock, SystemClock
from kubewright.client import HttpsTransport, Transport
from kubewright.client.kubeconfig import load

__all__ = ["KubeconfigCluster", "Target"]


class Target(Protocol):
    """`DevCluster` is one."""

    @property
    def clock(self) -> Clock: ...

    @property
    def rng(self) -> random.Random: ...

    def transport(self) -> Transport: ...


class KubeconfigCluster:
    """The cluster of a kubeconfig's current context. Raises `ConfigError` for a file that can't be used."""

    def __init__(self, kubeconfig: Path) -> None:
        self.kubeconfig = kubeconfig
        self.clock: Clock = SystemClock()
        self.rng = random.Random()
        self._config = load(str(kubeconfig))

    def transport(self) -> Transport:
        return HttpsTransport(self._config, clock=self.clock)
