"""`Client`: the Kubernetes API with typed objects."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, overload

from kubewright.api import Clock, DecodeError, Forbidden, Model, Resource, SystemClock, Unstructured, resource_info
from kubewright.client.discovery import Discovery
from kubewright.client.fence import Fence, FencedTransport
from kubewright.client.https import HttpsTransport
from kubewright.client.patches import MergePatch
from kubewright.client.pod_exec import PodExec
from kubewright.client.pod_logs import PodLogs
from kubewright.client.port_forward import PodPorts
from kubewright.client.requests import WriteOptions, namespace_of
from kubewright.client.rest import Deleted, RestClient, Written
from kubewright.client.subresource import Subresource
from kubewright.client.transport import CredentialError, Transport, TransportError
from kubewright.client.writer import Writer
from kubewright.telemetry import Log, new_log

if TYPE_CHECKING:
    from kubewright.kinds import autoscaling_v1, core_v1

__all__ = ["Client"]

M = TypeVar("M", bound=Model)


class Client(Writer, PodLogs, PodExec, PodPorts):
    """Reads and writes objects of any kind on one API server.

    Guarantees
        Reads are live. A typed object is never sent back whole except by `create`, so fields that its class does not
        know are never lost. Observers of a client hear of each write before the writer goes on.
    Errors
        `ApiError` by reason, `TransportError` when the server was not reached, `DecodeError` for an answer that does
        not fit its class, ValueError for an address that makes no sense (a namespaced object without a namespace).
    """

    def __init__(
        self,
        transport: Transport,
        *,
        field_manager: str = "kubewright",
        clock: Clock | None = None,
        rng: random.Random | None = None,
        user_agent: str = "kubewright",
        log: Log | None = None,
    ) -> None:
        self.clock = clock or SystemClock()
        self.rng = rng or random.Random()
        self.user_agent = user_agent
        rest = RestClient(transport, user_agent=user_agent, clock=self.clock, rng=self.rng, log=log)
        super().__init__(rest, field_manager=field_manager)
        self.discovery = Discovery(rest, clock=self.clock)
        """Which kinds the server has, and where."""

    @classmethod
    @asynccontextmanager
    async def connect(
        cls,
        *,
        kubeconfig: str | Path | None = None,
        context: str | None = None,
        field_manager: str = "kubewright",
        user_agent: str = "kubewright",
        log: Log | None = None,
    ) -> AsyncIterator[Self]:
        """A client of the cluster that ``kubeconfig`` names: ``async with Client.connect() as client``.

        Without it: of what ``KUBECONFIG`` names, else of the cluster that this pod runs in, else of ``~/.kube/config``.
        What there is to warn of goes to ``log``, else to standard error; `null_log()` silences it.
        Raises `KubeconfigError` and `ConfigError`, which name the file and field, or say that no cluster is configured
        and what to do, `CredentialError` where there is no credential to be had, and `TransportError` where no API server
        answers, or something else does.
        """
        from kubewright.client.kubeconfig import load  # noqa: PLC0415 - loads YAML, which the embedded cluster does without

        clock = SystemClock()
        log = log or new_log("console", level="warning")
        config = load(kubeconfig, context=context)
        transport = HttpsTransport(config, clock=clock, log=log)
        client = cls(transport, field_manager=field_manager, clock=clock, user_agent=user_agent, log=log)
        try:
            try:
                with suppress(Forbidden):  # it is there, and what may be done will show
                    await client.rest.version()
            except CredentialError:
                raise
            except TransportError as error:
                raise TransportError(
                    f"no API server answers at {config.server} (the cluster of {config.source}): {error}. Is the cluster "
                    "running, and is this the context that is meant?",
                    may_be_applied=False,
                ) from error
            except DecodeError as error:
                raise TransportError(
                    f"what answers at {config.server} (the cluster of {config.source}) is no API server: {error}",
                    may_be_applied=False,
                ) from error
            yield client
        finally:
            await client.close()

    async def close(self) -> None:
        await self.rest.transport.close()

    def fenced(self, fence: Fence) -> Client:
        """A client of the same server, through the same connections, that writes only while ``fence`` allows it.

        Writes raise `NotLeading` otherwise. All its requests name the fence's identity in their user agent, which audit
        logs keep; the field manager stays, as fields must not change hands with each leader. Observers are its own;
        closing one of the two closes both.
        """
        agent, identity = self.user_agent, fence.identity
        return Client(
            FencedTransport(self.rest.transport, fence),
            field_manager=self.field_manager,
            clock=self.clock,
            rng=self.rng,
            user_agent=f"{agent} ({identity})" if "/" in agent else f"{agent}/{identity}",
            log=self.rest.log,
        )

    def observe(self, written: Written, deleted: Deleted | None = None) -> Callable[[], None]:
        """Hears of every write's result; returns what ends it. See `RestClient.observe`."""
        return self.rest.observe(written, deleted)

    # kinds without a class

    async def unstructured(self, api_version: str, kind: str) -> type[Unstructured]:
        """A kind that has no class, for all verbs: ``Widget = await client.unstructured("example.com/v1", "Widget")``.

        The server is asked where it is, and whether it has a namespace and a status, once in ten minutes. Raises
        `UnknownKind` where it has no such kind.
        """
        return Unstructured.of((await self.discovery.kind(api_version, kind)).info)

    # subresources

    @overload
    def subresource(
        self, kind: type[Resource], name: str, subresource: str, *, namespace: str | None = None, of: type[M]
    ) -> Subresource[M]: ...

    @overload
    def subresource(
        self, kind: type[Resource], name: str, subresource: str, *, namespace: str | None = None
    ) -> Subresource[dict[str, Any]]: ...

    def subresource(
        self,
        kind: type[Resource],
        name: str,
        subresource: str,
        *,
        namespace: str | None = None,
        of: type[Any] = dict,
    ) -> Subresource[Any]:
        """Any subresource of one object, by its name; ``of`` is the class of what it answers, else decoded JSON.

        The status has verbs of its own: `edit`, `patch` and `apply` with ``subresource="status"``; `get` shows it.
        """
        return Subresource(
            self.rest,
            resource_info(kind),
            name,
            subresource,
            namespace=namespace,
            of=of,
            field_manager=self.field_manager,
        )

    async def get_scale(self, kind: type[Resource], name: str, *, namespace: str | None = None) -> autoscaling_v1.Scale:
        """The wanted and the observed replicas of anything that has a scale subresource."""
        return _counted(await self._scale(kind, name, namespace).get())

    async def scale(
        self,
        kind: type[Resource],
        name: str,
        replicas: int,
        *,
        namespace: str | None = None,
        resource_version: str | None = None,
        **options: Unpack[WriteOptions],
    ) -> autoscaling_v1.Scale:
        """Sets the wanted replicas through the scale subresource, as ``kubectl scale`` does.

        With ``resource_version`` (a Scale has its object's) only if the object is still that one: else `Conflict`. The
        answer is no object of the kind, so informers see the change when the watch brings it.
        """
        patch = MergePatch({"spec": {"replicas": replicas}})
        if resource_version is not None:
            patch = patch.bound_to(resource_version)
        return _counted(await self._scale(kind, name, namespace).patch(patch, **options))

    def _scale(self, kind: type[Resource], name: str, namespace: str | None) -> Subresource[autoscaling_v1.Scale]:
        from kubewright.kinds import autoscaling_v1  # noqa: PLC0415 - only who scales needs it

        return self.subresource(kind, name, "scale", namespace=namespace, of=autoscaling_v1.Scale)

    @overload
    async def evict(self, pod: core_v1.Pod, *, grace_period: int | None = None, dry_run: bool = False) -> None: ...

    @overload
    async def evict(
        self, pod: str, *, namespace: str, grace_period: int | None = None, dry_run: bool = False
    ) -> None: ...

    async def evict(
        self,
        pod: core_v1.Pod | str,
        *,
        namespace: str | None = None,
        grace_period: int | None = None,
        dry_run: bool = False,
    ) -> None:
        """Deletes a pod if the disruption budgets allow it; ``grace_period`` is in seconds.

        A pod that was read is evicted only if it is still that one. Raises `TooManyRequests` where a budget forbids it
        now: try again later. `NotFound` where the pod is gone.
        """
        from kubewright.kinds import core_v1  # noqa: PLC0415 - only who evicts needs it

        name, uid = (pod, None) if isinstance(pod, str) else (pod.name, pod.metadata.uid)
        namespace = namespace if isinstance(pod, str) else namespace_of(pod)
        options: dict[str, Any] = {}
        if grace_period is not None:
            options["gracePeriodSeconds"] = grace_period
        if uid is not None:
            options["preconditions"] = {"uid": uid}
        eviction = {
            "apiVersion": await self._eviction_version(),
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": namespace},
            **({"deleteOptions": options} if options else {}),
        }
        await self.subresource(core_v1.Pod, name, "eviction", namespace=namespace).create(eviction, dry_run=dry_run)

    async def _eviction_version(self) -> str:
        """Servers before 1.22 take no ``policy/v1``."""
        eviction = (await self.discovery.kind("v1", "Pod")).subresource("eviction")
        return "policy/v1" if eviction is None else eviction.gvk.api_version


def _counted(scale: autoscaling_v1.Scale) -> autoscaling_v1.Scale:
    """Servers leave out a zero."""
    scale.spec.replicas = scale.spec.replicas or 0
    return scale
