"""How an operator's objects come up, live: a table in a terminal, a line for each change elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from kubewright.api import Resource, decode
from kubewright.api.callables import is_async
from kubewright.cache import Event, Informer
from kubewright.cli.readiness import summary
from kubewright.controller import Watch, owner
from kubewright.operator import Manager

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

__all__ = ["Progress"]

_Row = tuple[str, str, str]


class Progress:
    """Follows the kinds that a manager's controllers reconcile, own and watch."""

    def __init__(self, manager: Manager, *, gone: Callable[[OSError], None], stream: TextIO | None = None) -> None:
        """``gone`` is called when nobody reads any more what is shown."""
        self._gone = gone
        self._stream = stream or sys.stdout
        self._rows: dict[_Row, str] = {}
        self._live: Live | None = None
        self._order: dict[str, int] = {}
        for controller in manager.controllers:
            spec = controller.spec
            self._follow(manager.cache.informer(spec.kind), lambda _: True)
            for kind in spec.owns:
                informer = manager.cache.informer(kind, projection=spec.projection(kind))
                self._follow(informer, _wakes(Watch(kind, to=owner(spec.kind))))
            for watch in spec.watches:
                # of what is cached by its metadata there is no state, and a mapper that takes its time can't be asked here
                if not (watch.shows_metadata or is_async(watch.to)):
                    self._follow(manager.cache.informer(watch.kind, optional=watch.optional), _wakes(watch))

    def _follow(self, informer: Informer[Any], wanted: Callable[[Any], bool]) -> None:
        """``wanted``: whether an object has to do with what the operator reconciles."""
        kind = informer.info.kind
        if kind in self._order:
            return
        self._order[kind] = len(self._order)

        def changed(event: Event[Any]) -> None:
            namespace, name = event.key
            if wanted(decode(event.entry.raw, Resource if event.projection.metadata_only else event.kind)):
                self._changed((kind, namespace, name), event.new)

        informer.subscribe(changed)

    def say(self, line: str) -> None:
        """Prints a line, above the table where there is one."""
        try:
            if self._live is not None:
                self._live.console.print(line, markup=False, highlight=False, soft_wrap=True)
            else:
                print(line, file=self._stream, flush=True)
        except OSError as error:
            self._gone(error)

    def _changed(self, row: _Row, raw: bytes | None) -> None:
        state = "gone" if raw is None else summary(msgspec.json.decode(raw))
        if self._rows.get(row) == state:
            return
        if raw is None:
            self._rows.pop(row, None)
        else:
            self._rows[row] = state
        if self._live is not None:
            self._live.update(self._table(), refresh=True)
        elif not self._stream.isatty():
            kind, namespace, name = row
            self.say(f"{kind} {f'{namespace}/' if namespace else ''}{name}: {state}")

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Redraws the table while in the block, where the stream is a terminal."""
        if not self._stream.isatty():
            yield
            return
        from rich.console import Console  # noqa: PLC0415 - only where something is shown
        from rich.live import Live  # noqa: PLC0415

        with Live(self._table(), console=Console(file=self._stream), auto_refresh=False, transient=False) as live:
            self._live = live
            try:
                yield
            finally:
                live.update(self._table(), refresh=True)
                self._live = None

    def _table(self) -> Table:
        from rich.table import Table  # noqa: PLC0415 - only where something is shown
        from rich.text import Text  # noqa: PLC0415

        table = Table("Kind", "Namespace", "Name", "State", box=None, pad_edge=False)
        for row in sorted(self._rows, key=lambda row: (self._order[row[0]], row)):
            state = self._rows[row]
            table.add_row(*row, Text(state, style=_colour(state)))
        return table


def _wakes(watch: Watch[Any]) -> Callable[[Any], bool]:
    """Whether an object wakes anything."""

    def wanted(obj: Any) -> bool:
        requests = watch.to(obj)
        return isinstance(requests, Iterable) and any(True for _ in requests)

    return wanted


def _colour(state: str) -> str:
    ready, slash, wanted = state.partition("/")
    if state in {"Running", "Ready", "created"} or (slash and ready == wanted):
        return "green"
    return "red" if state in {"Failed", "Terminating"} else "yellow"
