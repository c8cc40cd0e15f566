"""`install`: the definitions of custom kinds, for tests that use them."""

from __future__ import annotations

import asyncio
from typing import Any

from kubewright.api import NotFound, Resource, resource_info
from kubewright.client import Client
from kubewright.crd import definition
from kubewright.kinds import apiextensions_v1
from kubewright.operator import Operator

__all__ = ["install"]


async def install(client: Client, *what: type[Resource] | Operator[Any], within: float = 30.0) -> None:
    """Installs the CustomResourceDefinitions of kinds, or of all kinds that an operator brings, and waits for them.

    Raises TimeoutError where the server serves one not ``within`` that many seconds.
    """
    info = resource_info(apiextensions_v1.CustomResourceDefinition)
    for item in what:
        for kind in item.custom_kinds if isinstance(item, Operator) else [item]:
            await client.apply_raw(info, definition(kind), force=True)
            await _served(client, kind, within)


async def _served(client: Client, kind: type[Resource], within: float) -> None:
    try:
        async with asyncio.timeout(within):
            while True:
                try:
                    await client.rest.list(resource_info(kind), query=[("limit", "1")])
                except NotFound:
                    await asyncio.sleep(0.05)
                else:
                    return
    except TimeoutError as error:
        raise TimeoutError(
            f"the server does not serve {kind.__name__} {within:g} s after its definition came"
        ) from error
