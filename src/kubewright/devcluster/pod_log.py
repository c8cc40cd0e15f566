"""The log of a simulated container: what its status tells of it, in lines of text.

A container says that it has started, is ready and has ended, each at the time of the status. There is one log for each
time it ran, of which the present one and the one before can be read.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from msgspec import Struct

from kubewright.devcluster.conditions import condition
from kubewright.devcluster.objects import Object, name_of, namespace_of
from kubewright.devcluster.options import flag
from kubewright.devcluster.statuses import StatusError, bad_request
from kubewright.devcluster.store import Compacted
from kubewright.schema.errors import FieldError, forbidden, invalid, invalid_status
from kubewright.schema.go_text import quoted

if TYPE_CHECKING:
    from kubewright.api import Clock
    from kubewright.devcluster.store import GroupResource, Store

__all__ = ["Log", "LogOptions", "log_options"]

Query = Iterable[tuple[str, str]]
_GROUPS = (
    ("initContainers", "initContainerStatuses"),
    ("containers", "containerStatuses"),
    ("ephemeralContainers", "ephemeralContainerStatuses"),
)


class LogOptions(Struct, frozen=True, kw_only=True):
    """PodLogOptions: what to show of a log."""

    container: str = ""
    follow: bool = False
    previous: bool = False
    timestamps: bool = False
    since_seconds: int | None = None
    since_time: datetime | None = None
    tail_lines: int | None = None
    limit_bytes: int | None = None


def log_options(query: Query, *, pod: str) -> LogOptions:
    """Reads the options; raises `StatusError` (400 for what can't be read, 422 for what makes no sense)."""
    given = dict(query)
    numbers = {key: _integer(given[key]) for key in ("sinceSeconds", "tailLines", "limitBytes") if given.get(key)}
    since_time = _time(given["sinceTime"]) if given.get("sinceTime") else None
    errors: list[FieldError] = []
    if (tail := numbers.get("tailLines")) is not None and tail < 0:
        errors.append(invalid("tailLines", tail, "must be greater than or equal to 0"))
    if (limit := numbers.get("limitBytes")) is not None and limit < 1:
        errors.append(invalid("limitBytes", limit, "must be greater than 0"))
    since = numbers.get("sinceSeconds")
    if since is not None and since_time is not None:
        errors.append(forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"))
    elif since is not None and since < 1:
        errors.append(invalid("sinceSeconds", since, "must be greater than 0"))
    if errors:
        raise StatusError.of(invalid_status(errors, kind="PodLogOptions", group="", name=pod))
    return LogOptions(
        container=given.get("container", ""),
        follow=_flag(given, "follow"),
        previous=_flag(given, "previous"),
        timestamps=_flag(given, "timestamps"),
        since_seconds=since,
        since_time=since_time,
        tail_lines=tail,
        limit_bytes=limit,
    )


def _flag(given: dict[str, str], key: str) -> bool:
    return key in given and flag(given[key])


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise bad_request(f"strconv.ParseInt: parsing {quoted(text)}: invalid syntax") from error


def _time(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        layout = "2006-01-02T15:04:05Z07:00"
        message = f'parsing time {quoted(text)} as "{layout}": cannot parse {quoted(text)} as "2006"'
        raise bad_request(message) from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)


class _Line(Struct, frozen=True):
    time: datetime
    text: str


class Log:
    """One container's log, of a Pod as it was when the request came.

    Raises `StatusError` (400) where the Pod has no such container, or the container no such log.
    """

    def __init__(
        self, store: Store, resource: GroupResource, pod: Object, options: LogOptions, *, clock: Clock
    ) -> None:
        self._store = store
        self._resource = resource
        self._pod = pod
        self._options = options
        self._now = clock.now()
        self._revision = store.revision
        self._container = _container_of(pod, options.container)
        self.exists = bool((pod.get("spec") or {}).get("nodeName"))
        """Whether the Pod is on a node; before that there is nowhere to read from."""
        if self.exists:
            self._lines(pod)

    def text(self) -> bytes:
        """What there is now."""
        text = b"".join(self._shown(self._lines(self._pod)))
        return text if self._options.limit_bytes is None else text[: self._options.limit_bytes]

    async def followed(self) -> AsyncIterator[bytes]:
        """What there is now and what comes later, until the container ends or the Pod goes."""
        first = self.text()
        if first:
            yield first
        left = None if self._options.limit_bytes is None else self._options.limit_bytes - len(first)
        async for line in self._later(set(self._lines(self._pod))):
            text = self._text(line) if left is None else self._text(line)[:left]
            left = None if left is None else left - len(text)
            if text:
                yield text

    def _shown(self, lines: list[_Line]) -> Iterator[bytes]:
        options = self._options
        since = options.since_time
        if options.since_seconds is not None:
            since = self._now - timedelta(seconds=options.since_seconds)
        kept = [line for line in lines if since is None or line.time >= since]
        if options.tail_lines is not None:
            kept = kept[len(kept) - min(options.tail_lines, len(kept)) :]
        return (self._text(line) for line in kept)

    def _text(self, line: _Line) -> bytes:
        stamp = f"{line.time.astimezone(UTC).strftime('%Y-%m-%dT%H:%M:%S.%f')}000Z " if self._options.timestamps else ""
        return f"{stamp}{line.text}\n".encode()

    async def _later(self, told: set[_Line]) -> AsyncIterator[_Line]:
        if self._options.previous:
            return
        place = namespace_of(self._pod), name_of(self._pod)
        starts = _restarts(self._pod, self._container)
        cursor, woken = self._revision, asyncio.Event()
        unsubscribe = self._store.subscribe(woken.set, resource=self._resource)
        try:
            while True:
                woken.clear()
                changes = self._store.changes(cursor, resource=self._resource)
                cursor = self._store.revision
                for change in changes:
                    if (change.namespace, change.name) != place:
                        continue
                    if _restarts(change.new, self._container) != starts:
                        return
                    for line in self._lines(change.new):
                        if line not in told:
                            told.add(line)
                            yield line
                    state = _status(change.new, self._container).get("state") or {}
                    if change.type == "DELETED" or "terminated" in state:
                        return
                await woken.wait()
        except Compacted:  # too far behind: what was missed can't be told any more
            return
        finally:
            unsubscribe()

    def _lines(self, pod: Object) -> list[_Line]:
        status = _status(pod, self._container)
        state, last = status.get("state") or {}, (status.get("lastState") or {}).get("terminated")
        if self._options.previous:
            if last is None:
                what = f"{quoted(self._container)} in pod {quoted(name_of(pod))}"
                raise bad_request(f"previous terminated container {what} not found")
            return _run(last, ended=True)
        if "terminated" in state:
            return _run(state["terminated"], ended=True)
        if "running" not in state:
            if last is not None:
                return _run(last, ended=True)
            raise bad_request(self._waiting(pod, (state.get("waiting") or {}).get("reason") or "ContainerCreating"))
        lines = _run(state["running"], ended=False)
        ready = condition(pod, "Ready")
        if status.get("ready") and ready.get("status") == "True" and ready.get("lastTransitionTime"):
            lines.append(_Line(_time(ready["lastTransitionTime"]), "ready"))
        return lines

    def _waiting(self, pod: Object, reason: str) -> str:
        pulling = reason in {"ErrImagePull", "ImagePullBackOff"}
        why = "trying and failing to pull image" if pulling else reason
        return f"container {quoted(self._container)} in pod {quoted(name_of(pod))} is waiting to start: {why}"


def _run(state: Object, *, ended: bool) -> list[_Line]:
    lines = []
    if state.get("startedAt"):
        lines.append(_Line(_time(state["startedAt"]), "started: a simulated container runs nothing"))
    if ended and state.get("finishedAt"):
        lines.append(_Line(_time(state["finishedAt"]), f"exited with code {state.get('exitCode') or 0}"))
    return lines


def _status(pod: Object, container: str) -> Object:
    status = pod.get("status") or {}
    every = (each for _, key in _GROUPS for each in status.get(key) or [])
    return next((each for each in every if each.get("name") == container), {})


def _restarts(pod: Object, container: str) -> int:
    count: int = _status(pod, container).get("restartCount") or 0
    return count


def _container_of(pod: Object, wanted: str) -> str:
    spec, name = pod.get("spec") or {}, name_of(pod)
    groups = [[each["name"] for each in spec.get(key) or []] for key, _ in _GROUPS]
    if wanted:
        if all(wanted not in names for names in groups):
            raise bad_request(f"container {wanted} is not valid for pod {name}")
        return wanted
    inits, containers, ephemeral = groups
    if len(containers) == 1 and not inits and not ephemeral:
        return str(containers[0])
    everyone = " ".join([*inits, *containers, *ephemeral])
    raise bad_request(f"a container name must be specified for pod {name}, choose one of: [{everyone}]")
