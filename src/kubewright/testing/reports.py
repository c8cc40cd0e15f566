"""`Reports`: a log that keeps its lines, to tell why something did not settle."""

from __future__ import annotations

from msgspec import Struct

from kubewright.telemetry import Log

__all__ = ["Reports", "Said"]


class Said(Struct, frozen=True):
    """One line of the operator's log."""

    level: str
    event: str
    values: dict[str, object]

    def __str__(self) -> str:
        return f"{self.level}: {self.event} " + " ".join(f"{key}={value}" for key, value in self.values.items())


class Reports:
    """Satisfies `kubewright.telemetry.Log`; all that are bound share the lines."""

    def __init__(self, lines: list[Said] | None = None, values: dict[str, object] | None = None) -> None:
        self.lines: list[Said] = [] if lines is None else lines
        self._values = values or {}

    def bind(self, **values: object) -> Log:
        return Reports(self.lines, {**self._values, **values})

    def debug(self, event: str, **values: object) -> None:
        self._add("debug", event, values)

    def info(self, event: str, **values: object) -> None:
        self._add("info", event, values)

    def warning(self, event: str, **values: object) -> None:
        self._add("warning", event, values)

    def error(self, event: str, **values: object) -> None:
        self._add("error", event, values)

    def exception(self, event: str, **values: object) -> None:
        self._add("error", event, values)

    def _add(self, level: str, event: str, values: dict[str, object]) -> None:
        self.lines.append(Said(level, event, {**self._values, **values}))

    def of(self, namespace: str | None, name: str) -> Said | None:
        """The last error or warning about an object."""
        for line in reversed(self.lines):
            if line.level != "debug" and (line.values.get("namespace"), line.values.get("name")) == (namespace, name):
                return line
        return None
