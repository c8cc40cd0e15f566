"""What every namespace has: the ServiceAccount ``default`` and the ConfigMap ``kube-root-ca.crt``."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from kubewright.api import AlreadyExists, Forbidden, NotFound, ObjectMeta, Resource
from kubewright.client import MergePatch
from kubewright.controller import Context, ControllerSpec, Mapper, Request, Watch
from kubewright.devcluster.controllers.component import Component
from kubewright.kinds import core_v1

__all__ = ["NamespaceDefaults"]

_ACCOUNT = "default"
_AUTHORITY = "kube-root-ca.crt"
_DESCRIPTION = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)


class NamespaceDefaults:
    """Makes both, and makes them anew when somebody deletes them. ``authority``: the cluster's CA certificate in PEM."""

    def __init__(self, component: Component, *, authority: str) -> None:
        self._authority = authority
        component.add(
            ControllerSpec(
                kind=core_v1.Namespace,
                reconcile=self.reconcile,
                name="namespace-defaults",
                watches=(
                    Watch(core_v1.ServiceAccount, to=_named(_ACCOUNT)),
                    Watch(core_v1.ConfigMap, to=_named(_AUTHORITY), metadata_only=False),
                ),
            )
        )

    async def reconcile(self, namespace: core_v1.Namespace, ctx: Context) -> None:
        with suppress(Forbidden, NotFound):  # the namespace began to end meanwhile
            await self._account(namespace.name, ctx)
            await self._bundle(namespace.name, ctx)

    async def _account(self, namespace: str, ctx: Context) -> None:
        if ctx.get(core_v1.ServiceAccount, _ACCOUNT, namespace=namespace) is None:
            with suppress(AlreadyExists):
                await ctx.client.create(core_v1.ServiceAccount(metadata=ObjectMeta(name=_ACCOUNT, namespace=namespace)))

    async def _bundle(self, namespace: str, ctx: Context) -> None:
        wanted = {"ca.crt": self._authority}
        found = ctx.get(core_v1.ConfigMap, _AUTHORITY, namespace=namespace)
        if found is None:
            bundle = core_v1.ConfigMap(
                metadata=ObjectMeta(
                    name=_AUTHORITY, namespace=namespace, annotations={"kubernetes.io/description": _DESCRIPTION}
                ),
                data=dict(wanted),
            )
            with suppress(AlreadyExists):
                await ctx.client.create(bundle)
        elif found.data != wanted:
            await ctx.client.patch(
                core_v1.ConfigMap,
                _AUTHORITY,
                MergePatch({"data": {**dict.fromkeys(found.data or (), None), **wanted}}),
                namespace=namespace,
            )


def _named(name: str) -> Mapper[Resource]:
    def to(obj: Resource) -> Iterable[Request]:
        return [Request(None, None, obj.namespace)] if obj.name == name and obj.namespace else []

    return to
