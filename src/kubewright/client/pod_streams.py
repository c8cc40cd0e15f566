"""What a client can do with a running pod: read its log, run a command in it, connect to its ports."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime

from kubewright.client.pod_exec import Process, exec_in_pod
from kubewright.client.pod_logs import log_lines
from kubewright.client.port_forward import ForwardedPort, PortConnection, forward_port, open_port
from kubewright.client.rest import RestClient

__all__ = ["PodStreams"]


class PodStreams:
    """A part of `Client`."""

    rest: RestClient

    def logs(
        self,
        pod: str,
        *,
        namespace: str,
        container: str | None = None,
        follow: bool = False,
        previous: bool = False,
        timestamps: bool = False,
        since_seconds: int | None = None,
        since_time: datetime | None = None,
        tail_lines: int | None = None,
        limit_bytes: int | None = None,
    ) -> AsyncGenerator[str, None]:
        """A container's log, line by line; with ``follow`` until the container ends. See `log_lines`."""
        return log_lines(
            self.rest,
            pod,
            namespace=namespace,
            container=container,
            follow=follow,
            previous=previous,
            timestamps=timestamps,
            since_seconds=since_seconds,
            since_time=since_time,
            tail_lines=tail_lines,
            limit_bytes=limit_bytes,
        )

    def exec(
        self,
        pod: str,
        command: Sequence[str],
        *,
        namespace: str,
        container: str | None = None,
        stdin: bool = False,
        tty: bool = False,
    ) -> AbstractAsyncContextManager[Process]:
        """Runs a command in a running container, while the block runs. See `exec_in_pod`.

        ``async with client.exec("web", ["ls"], namespace="ns") as process: result = await process.communicate()``
        """
        return exec_in_pod(self.rest, pod, command, namespace=namespace, container=container, stdin=stdin, tty=tty)

    def port_forward(
        self, pod: str, port: int, *, namespace: str, local_port: int = 0, host: str = "127.0.0.1"
    ) -> AbstractAsyncContextManager[ForwardedPort]:
        """A pod's port as a port of this machine, while the block runs. See `forward_port`."""
        return forward_port(self.rest, pod, port, namespace=namespace, local_port=local_port, host=host)

    def open_port(self, pod: str, port: int, *, namespace: str) -> AbstractAsyncContextManager[PortConnection]:
        """One connection to a pod's port, while the block runs. See `port_forward.open_port`."""
        return open_port(self.rest, pod, port, namespace=namespace)
