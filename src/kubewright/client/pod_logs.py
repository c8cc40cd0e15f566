"""`PodLogs`: the log of a container, line by line, as it is written."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime

from kubewright.client.requests import pod_path
from kubewright.client.rest import RestClient

__all__ = ["PodLogs"]


class PodLogs:
    """A part of `Client`."""

    rest: RestClient

    async def logs(
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
        """A container's log, line by line.

        Lines come without their ends; what is not UTF-8 is replaced. With ``follow``, until the container ends.

        ``container`` may be left out where the pod has one. ``previous``: of the container before its last restart. Leave
        early under `contextlib.aclosing`, or the connection stays open until the generator is collected. Raises `NotFound`,
        and `BadRequest` while the container waits to start.
        """
        given: dict[str, str | int | None] = {
            "container": container,
            "follow": "true" if follow else None,
            "previous": "true" if previous else None,
            "timestamps": "true" if timestamps else None,
            "sinceSeconds": since_seconds,
            "sinceTime": _rfc3339(since_time) if since_time else None,
            "tailLines": tail_lines,
            "limitBytes": limit_bytes,
        }
        query = [(name, str(value)) for name, value in given.items() if value is not None]
        async with self.rest.stream(pod_path(namespace, pod, "log"), query, accept="*/*") as chunks:
            rest_of_line: list[bytes] = []
            async for chunk in chunks:
                head, newline, tail = chunk.partition(b"\n")
                rest_of_line.append(head)
                if not newline:
                    continue
                yield _text(b"".join(rest_of_line))
                *lines, last = tail.split(b"\n")
                rest_of_line = [last]
                for line in lines:
                    yield _text(line)
            if unfinished := b"".join(rest_of_line):
                yield _text(unfinished)


def _text(line: bytes) -> str:
    return line.decode(errors="replace")


def _rfc3339(moment: datetime) -> str:
    if moment.tzinfo is None:
        raise ValueError("since_time needs a time zone, such as datetime.now(UTC)")
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
