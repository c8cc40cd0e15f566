"""`install`: the definitions of custom kinds, for tests that use them."""

from __future__ import annotations

from kubewright.api import Resource, resource_info
from kubewright.client import Client
from kubewright.crd import definition
from kubewright.kinds import apiextensions_v1
from kubewright.operator import Operator

__all__ = ["install"]


async def install(client: Client, *what: type[Resource] | Operator) -> None:
    """Installs the CustomResourceDefinitions of kinds, or of all kinds that an operator brings."""
    info = resource_info(apiextensions_v1.CustomResourceDefinition)
    for item in what:
        for kind in item.custom_kinds if isinstance(item, Operator) else [item]:
            await client.apply_raw(info, definition(kind), force=True)
