"""How an operator's objects come up, live: a table in a terminal, a line for each change elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from kubewright.api import resource_info
from kubewright.cache import Event, Informer
from kubewright.cli.readiness import summary
from kubewright.operator import Manager

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

__all__ = ["Progress"]

_Row = tuple[str, str, str]


class Progress:
    """Follows the kinds that a manager's controllers reconcile, own and watch."""

    def __init__(self, manager: Manager, *, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._rows: dict[_Row, str] = {}
        self._live: Live | None = None
        self._order: dict[str, int] = {}
        for controller in manager.controllers:
            spec = controller.spec
            for kind in (spec.kind, *spec.owns, *(watch.kind for watch in spec.watches)):
                self._follow(manager.cache.informer(kind))

    def _follow(self, informer: Informer[Any]) -> None:
        kind = resource_info(informer.kind).kind
        if kind in self._order:
            return
        self._order[kind] = len(self._order)

        def changed(event: Event[Any]) -> None:
            namespace, name = event.key
            self._changed((kind, namespace, name), event.new)

        informer.subscribe(changed)

    def _changed(self, row: _Row, raw: bytes | None) -> None:
        state = "gone" if raw is None else summary(msgspec.json.decode(raw))
        if self._rows.get(row) == state:
            return
        if raw is None:
            self._rows.pop(row, None)
        else:
            self._rows[row] = state
        if self._live is not None:
            self._live.update(self._table())
        elif not self._stream.isatty():
            kind, namespace, name = row
            print(f"{kind} {f'{namespace}/' if namespace else ''}{name}: {state}", file=self._stream, flush=True)

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

        table = Table("Kind", "Namespace", "Name", "State", box=None, pad_edge=False)
        for row in sorted(self._rows, key=lambda row: (self._order[row[0]], row)):
            state = self._rows[row]
            table.add_row(*row, f"[{_colour(state)}]{state}[/]")
        return table


def _colour(state: str) -> str:
    ready, slash, wanted = state.partition("/")
    if state in {"Running", "Ready", "created"} or (slash and ready == wanted):
        return "green"
    return "red" if state in {"Failed", "Terminating"} else "yellow"
