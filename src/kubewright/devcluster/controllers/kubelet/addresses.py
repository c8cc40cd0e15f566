"""Addresses for pods, from the node's network."""

from __future__ import annotations

from ipaddress import IPv4Network

__all__ = ["Addresses"]


class Addresses:
    """Gives each pod (by UID) an address and keeps it until the pod is gone."""

    def __init__(self, network: str) -> None:
        self._network = IPv4Network(network)
        self._taken: dict[str, str] = {}
        self._used: set[str] = set()
        self._next = 2  # the network's own address and the bridge's come first

    def take(self, uid: str) -> str:
        """The pod's address, a new one the first time. Raises RuntimeError when the network is full."""
        if (found := self._taken.get(uid)) is not None:
            return found
        size = self._network.num_addresses
        for _ in range(size):
            address = str(self._network[self._next])
            self._next = self._next + 1 if self._next < size - 2 else 2
            if address not in self._used:
                self._taken[uid] = address
                self._used.add(address)
                return address
        raise RuntimeError(f"the pod network {self._network} has no free address")

    def release(self, uid: str) -> None:
        address = self._taken.pop(uid, None)
        if address is not None:
            self._used.discard(address)
